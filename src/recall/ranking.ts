/** From what the arms found to the ranking that every route is made of: fused, with late interaction, judged and calibrated. */
import type { Tx } from '../db/db.ts';
import { withPast } from '../db/past.ts';
import { type Sql, sql } from '../db/sql.ts';
import type { Embedding } from '../embed/embedder.ts';
import { answerability } from './answerable.ts';
import { calibrate } from './calibrate.ts';
import { type Candidate, type Found, HEAD } from './candidates.ts';
import { LATE_DEPTH, type ModelConstants } from './constants.ts';
import { type LateScore, lateQuery, lateScore } from './late.ts';
import type { Past } from './past.ts';
import { type Question, withTimes } from './question.ts';
import { finish, fuse, type Parts, type Ranked, type Scored } from './rank.ts';
import { loadTokenBits } from './token-bits.ts';

/** A question and what it is asked of, before anything is looked up. */
export interface Asked {
  readonly spaces: readonly number[];
  /** Key of the model that made the vector. */
  readonly model: number;
  readonly constants: ModelConstants;
  readonly question: Omit<Question, 'ranges'>;
  /** Undefined: the embedder failed, the lexical arm answers alone. */
  readonly embedded: Embedding | undefined;
  /** What is out of order, in words for the caller. */
  readonly degraded: readonly string[];
}

export interface Ranking {
  readonly ranked: readonly Scored[];
  readonly question: Question;
  /** Rarity of the question's terms: the highest idf of the spaces that were searched. */
  readonly weights: ReadonlyMap<string, number>;
  /** 0..1: can the question be answered from what is visible. */
  readonly answerability: number;
  readonly exactId: boolean;
  readonly degraded: readonly string[];
  readonly spaces: readonly number[];
  /** Of an earlier instant: stands for the table `memories`. */
  readonly past: Sql | undefined;
}

export async function rankFound(
  tx: Tx,
  asked: Asked,
  found: Found,
  { askedAt, preferWorking }: { readonly askedAt: Date | undefined; readonly preferWorking: boolean },
  past: Past | undefined,
): Promise<Ranking> {
  const { constants, degraded, spaces } = asked;
  const question = withTimes(asked.question, askedAt ?? newest(found.candidates));
  const rarity = weightsOf(found);
  const { weights, unseen } = rarity;
  const request = { question, weights, constants, preferWorking };
  const fused = fuse(found.candidates, request);
  const ranked = finish(fused, request, await lateScores(tx, asked, fused, rarity, past));
  const answerable = answerability({ ranked, question, constants, weights, unseen });
  const relevance = calibrate(
    ranked.map(({ score }) => score),
    asked.embedded?.tokens !== undefined,
    answerable,
  );
  return {
    ranked: ranked.map((entry, i) => ({ ...entry, relevance: relevance[i]! })),
    question,
    weights,
    answerability: answerable,
    exactId: false,
    degraded,
    spaces,
    past: past?.memories,
  };
}

/** How near the best passage of a candidate, and what stands beside it, is to the question, token by token; of the first ones, where there are token vectors. */
async function lateScores(
  tx: Tx,
  { model, embedded }: Asked,
  fused: readonly Ranked[],
  { weights, unseen }: Rarity,
  past: Past | undefined,
): Promise<(candidate: Candidate) => LateScore | undefined> {
  if (!embedded?.tokens) return () => undefined;
  const first = fused.slice(0, LATE_DEPTH).map(({ candidate }) => candidate);
  const bits = await loadTokenBits(tx, model, first, past?.index);
  const query = lateQuery(embedded.tokens, weights, unseen);
  return ({ seq }) => {
    const passage = bits.get(seq);
    return passage && lateScore(query, passage);
  };
}

/** An id as the query finds exactly that memory, or nothing. */
export async function exact(
  tx: Tx,
  { spaces, degraded, question }: Asked,
  id: string,
  predicate: Sql,
  past: Past | undefined,
): Promise<Ranking> {
  const rows = await tx.query<Candidate>(
    withPast(
      past?.memories,
      sql`
        select m.space_id, m.seq::text, m.id, 0 as bm25, null as cosine, null as passage, 0 as log_length, m.author, m.path, m.memory_type,
          m.importance, m.confidence, m.version, m.occurred_at, m.created_at, null as session, null as occasion, null as before_seq,
          left(m.content, ${HEAD}) as head, '' as tail, 0 as used, null as hash, null as held
        from memories m where m.space_id = any (${spaces}::int[]) and m.id = ${id} and ${predicate}`,
    ),
  );
  return {
    ranked: rows.map((candidate) => ({ candidate, score: 1, relevance: 1, parts: NO_PARTS })),
    question: withTimes(question, undefined),
    weights: new Map(),
    answerability: rows.length > 0 ? 1 : 0,
    exactId: true,
    degraded,
    spaces,
    past: past?.memories,
  };
}

const NO_PARTS: Parts = {
  lexical: 0,
  dense: 0,
  author: 0,
  date: 0,
  asks: 0,
  sought: 0,
  standing: 0,
  document: 0,
  session: 0,
  late: 0,
  beside: 0,
};

interface Rarity {
  readonly weights: ReadonlyMap<string, number>;
  /** Of a word that no memory holds. */
  readonly unseen: number;
}

/** The same term in several spaces: the highest idf, since it is what sets a memory apart there. */
function weightsOf({ terms }: Found): Rarity {
  const weights = new Map<string, number>();
  let unseen = 0;
  for (const { term, idf, df } of terms) {
    if (df > 0) weights.set(term, Math.max(weights.get(term) ?? 0, idf));
    else unseen = Math.max(unseen, idf);
  }
  return { weights, unseen: unseen || Math.max(1, ...weights.values()) };
}

function newest(candidates: readonly Candidate[]): Date | undefined {
  const times = candidates.map((c) => (c.occurred_at ?? c.created_at).getTime());
  return times.length === 0 ? undefined : new Date(Math.max(...times));
}

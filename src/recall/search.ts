/**
 * The one search behind recall, strict search and recall context: request → question and its vector → both arms in one statement → ranking.
 * The query is embedded before a connection is taken.
 */
import { spacesOf } from '../db/boundary.ts';
import type { Tx } from '../db/db.ts';
import { withPast } from '../db/past.ts';
import { ensureModel, findSpaces } from '../db/spaces.ts';
import { type Sql, sql } from '../db/sql.ts';
import { type Filters, matches, visible } from '../db/visible.ts';
import type { Deps } from '../deps.ts';
import type { Embedding } from '../embed/embedder.ts';
import type { Principal } from '../types.ts';
import { answerability } from './answerable.ts';
import { calibrate } from './calibrate.ts';
import { type Candidate, type Found, findCandidates, loadTokenBits, NOTHING } from './candidates.ts';
import { constantsOf } from './constants.ts';
import { lateQuery, lateScore } from './late.ts';
import { readPast } from './past.ts';
import { type Question, readQuestion, withTimes } from './question.ts';
import { finish, fuse, type Scored } from './rank.ts';
import { lockSent } from './sent.ts';

export interface SearchRequest {
  readonly query: string;
  readonly filters: Filters;
  readonly team: string | undefined;
  readonly preferWorking: boolean;
  /** Spaces of knowledge bases that are searched as well, or alone. Whoever names them has checked that the principal may see them. */
  readonly knowledge?: { readonly spaces: readonly number[]; readonly alone: boolean } | undefined;
  /** What relative times in the query are counted from; default: the newest candidate's time, never the clock. */
  readonly askedAt: Date | undefined;
  /** What was known at this instant; default: what is known now. */
  readonly asOf?: Date | undefined;
  /** The caller's session, whose sent memories are looked up and written down; it is locked until the answer is made. */
  readonly session?: string | undefined;
  /** Nothing is sent, so nothing is written down. */
  readonly unsent?: boolean | undefined;
  /** What must have been read before the state is looked at; runs beside the embedding of the query. */
  readonly after?: Promise<unknown> | undefined;
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

/** Milliseconds of each stage, for Server-Timing. */
export type Stages = Map<string, number>;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Runs `use` in the transaction of the search: what it loads is of the same state. */
export async function search<T>(
  deps: Deps,
  principal: Principal,
  request: SearchRequest,
  stages: Stages,
  use: (tx: Tx, ranking: Ranking) => Promise<T>,
): Promise<T> {
  const clock = stopwatch(stages);
  const degraded: string[] = deps.embedder.degraded ? [deps.embedder.degraded] : [];
  const { knowledge } = request;
  const [own, model, embedded] = await Promise.all([
    knowledge?.alone ? [] : findSpaces(deps.db, spacesOf(principal, request.team)),
    ensureModel(deps.db, deps.embedder),
    embedQuery(deps, request.query, degraded),
    request.after,
  ]);
  const spaces = [...own, ...(knowledge?.spaces ?? [])];
  clock('embed');
  const question = readQuestion(request.query, embedded?.gloss);
  const terms = [...question.terms, ...question.glossTerms];
  const constants = constantsOf(deps.embedder);
  const now = deps.now();
  const at = request.asOf && request.asOf < now ? request.asOf : undefined;
  const predicate = sql`${visible(principal, at ?? now)} and ${matches(request.filters)}`;
  const { session } = request;
  const access = session === undefined ? { spaces, readOnly: true } : { spaces, owner: principal.owner };
  return deps.db.transaction(access, async (tx) => {
    if (session !== undefined) await lockSent(tx, principal.owner, session);
    const past = at && (await readPast(tx, { spaces, at, boundary: principal, now, terms }));
    const id = request.query.trim();
    if (UUID.test(id)) {
      const ranking = await exact(
        tx,
        { spaces, past: past?.memories, degraded },
        id.toLowerCase(),
        predicate,
        question,
      );
      clock('db');
      return use(tx, ranking);
    }
    const found =
      spaces.length === 0
        ? NOTHING
        : await findCandidates(tx, {
            spaces,
            terms,
            model,
            vector: embedded?.vector,
            scale: constants.scale,
            predicate,
            past: past?.index,
          });
    clock('db');
    const asked = withTimes(question, request.askedAt ?? newest(found.candidates));
    const { weights, unseen } = weightsOf(found);
    const rankRequest = {
      question: asked,
      weights,
      constants,
      preferWorking: request.preferWorking,
    };
    const fused = fuse(found.candidates, rankRequest);
    const bits = embedded?.tokens
      ? await loadTokenBits(
          tx,
          model,
          fused.slice(0, LATE_DEPTH).map((r) => r.candidate),
          past?.index,
        )
      : new Map<string, Buffer>();
    const late = embedded?.tokens && lateQuery(embedded.tokens, weights, unseen);
    const ranked = finish(fused, rankRequest, ({ seq }) => {
      const passage = bits.get(seq);
      return late && passage && lateScore(late, passage);
    });
    const answerable = answerability({ ranked, question: asked, constants: rankRequest.constants, weights, unseen });
    const relevance = calibrate(
      ranked.map((entry) => entry.score),
      asked.writing,
      answerable,
    );
    const ranking: Ranking = {
      ranked: ranked.map((entry, i) => ({ ...entry, relevance: relevance[i]! })),
      question: asked,
      weights,
      answerability: answerable,
      exactId: false,
      degraded,
      spaces,
      past: past?.memories,
    };
    clock('rank');
    return use(tx, ranking);
  });
}

/** As many as late interaction re-ranks. */
const LATE_DEPTH = 50;

async function embedQuery(deps: Deps, query: string, degraded: string[]): Promise<Embedding | undefined> {
  try {
    const [embedding] = await deps.embedder.embed([query], 'query');
    return embedding;
  } catch (error) {
    deps.log.warn({ err: error, event: 'embedding_failed' }, 'a query is answered without its vector');
    degraded.push('the embedder failed: found by words alone');
    return undefined;
  }
}

/** An id as the query finds exactly that memory, or nothing. */
async function exact(
  tx: Tx,
  searched: Pick<Ranking, 'spaces' | 'past' | 'degraded'>,
  id: string,
  predicate: Sql,
  question: Omit<Question, 'ranges'>,
): Promise<Ranking> {
  const rows = await tx.query<Candidate>(
    withPast(
      searched.past,
      sql`
        select m.space_id, m.seq::text, m.id, 0 as bm25, null as cosine, null as passage, 0 as log_length, m.author, m.path, m.memory_type,
          m.importance, m.confidence, m.version, m.occurred_at, m.created_at, null as session, null as occasion, null as before_seq, left(m.content, 4000) as head, '' as tail,
          0 as used, null as hash, null as held
        from memories m where m.space_id = any (${searched.spaces}::int[]) and m.id = ${id} and ${predicate}`,
    ),
  );
  const ranked = rows.map((candidate): Scored => {
    const parts = {
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
    };
    return { candidate, score: 1, relevance: 1, parts };
  });
  const found = rows.length > 0 ? 1 : 0;
  return {
    ranked,
    question: withTimes(question, undefined),
    weights: new Map(),
    answerability: found,
    exactId: true,
    ...searched,
  };
}

/** The same term in several spaces: the highest idf, since it is what sets a memory apart there. */
function weightsOf({ terms }: Found): { weights: Map<string, number>; unseen: number } {
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

function stopwatch(stages: Stages): (stage: string) => void {
  let last = performance.now();
  return (stage) => {
    const now = performance.now();
    stages.set(stage, (stages.get(stage) ?? 0) + now - last);
    last = now;
  };
}

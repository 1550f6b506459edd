/**
 * Ranks candidates by fused scores. Pure: the same candidates and question give the same order, today and tomorrow.
 *
 *   score = bm25/(bm25+8), or the cosine in a language that the question's words are not in, + w * (cosine + 0.1 * ln(2+terms)) + boosts
 *   score += 0.3 * best neighbour in its document; score += 0.3 * best of its session
 *   top 50: score += late interaction, with the passage and with what stands beside it; the rest stays below them
 *   then newer versions of a fact above older ones, where the question is about the present
 *
 * Scores are fused, not ranks: reciprocal rank fusion with k = 60 falls below BM25 alone.
 */
import { nearness } from '../text/dates.ts';
import { type Tongue, tongueOf } from '../text/language.ts';
import { holds } from '../text/sought.ts';
import type { Candidate } from './candidates.ts';
import {
  BOOSTS,
  LATE_DEPTH,
  LENGTH_PRIOR,
  LEXICAL_HALF,
  LEXICAL_HALF_SHARE,
  type ModelConstants,
} from './constants.ts';
import type { LateScore } from './late.ts';
import { newerFirst } from './newer.ts';
import type { Question } from './question.ts';

/** Every part of a score by name, for whoever asks why. */
export interface Parts {
  readonly lexical: number;
  readonly dense: number;
  readonly author: number;
  readonly date: number;
  readonly asks: number;
  readonly sought: number;
  readonly standing: number;
  document: number;
  session: number;
  late: number;
  /** What late interaction finds beside it, in its session. */
  beside: number;
}

export interface Ranked {
  readonly candidate: Candidate;
  /** Fused; sums past 1. */
  score: number;
  readonly parts: Parts;
}

/** As the caller gets it. */
export interface Scored extends Ranked {
  /** 0..1, see calibrate.ts. */
  readonly relevance: number;
}

export interface RankRequest {
  readonly question: Question;
  /** Rarity of the question's terms. */
  readonly weights: ReadonlyMap<string, number>;
  readonly constants: ModelConstants;
  readonly preferWorking: boolean;
}

/** First half: everything but late interaction, best first. */
export function fuse(
  candidates: readonly Candidate[],
  { question, weights, constants, preferWorking }: RankRequest,
): Ranked[] {
  const half = lexicalHalf(question, weights);
  const named = authorNamed(question.text, candidates);
  const ranked = candidates.map((candidate): Ranked => {
    const { cosine, log_length } = candidate;
    const parts: Parts = {
      lexical: constants.readsAcross ? lexicalAcross(candidate, half, question.tongues) : lexicalOf(candidate, half),
      dense: cosine === null ? 0 : constants.cosine[question.writing] * (cosine + LENGTH_PRIOR * log_length),
      author: named !== undefined && candidate.author === named ? BOOSTS.author : 0,
      date: question.ranges.length === 0 ? 0 : BOOSTS.date * nearness(question.ranges, happened(candidate)),
      asks: candidate.occasion !== null && /[?？؟]\P{L}*$/u.test(candidate.tail) ? BOOSTS.asks : 0,
      sought: question.sought !== undefined && holds(candidate.head, question.sought) ? BOOSTS.sought : 0,
      standing: standing(candidate, preferWorking),
      document: 0,
      session: 0,
      late: 0,
      beside: 0,
    };
    return {
      candidate,
      parts,
      score: parts.lexical + parts.dense + parts.author + parts.date + parts.asks + parts.sought + parts.standing,
    };
  });
  liftDocuments(ranked);
  liftSessions(ranked);
  return ranked.sort(bestFirst);
}

/** Second half: late interaction on the best of the first, then versions of a fact. `late` is undefined for what has no token vectors. */
export function finish(
  ranked: Ranked[],
  { question, constants }: RankRequest,
  late: (candidate: Candidate) => LateScore | undefined,
): Ranked[] {
  const weight = constants.late[question.writing];
  const top = ranked.slice(0, LATE_DEPTH);
  if (weight > 0) {
    const similar = new Map(top.map((entry) => [entry, late(entry.candidate) ?? { own: 0, beside: 0 }]));
    const best = bestOfSession(top, (entry) => similar.get(entry)!.own);
    for (const entry of top) {
      const { own, beside } = similar.get(entry)!;
      entry.parts.late = weight * (own + BOOSTS.sessionLate * best(entry));
      entry.parts.beside = weight * beside;
      entry.score += entry.parts.late + entry.parts.beside;
    }
    top.sort(bestFirst);
  }
  return [...(question.aboutPresent ? newerFirst(top, question) : top), ...ranked.slice(LATE_DEPTH)];
}

const happened = ({ occurred_at, created_at }: Candidate): number => (occurred_at ?? created_at).getTime();

/** Ties: the newer one, then the one that arrived later; never by chance. */
function bestFirst(a: Ranked, b: Ranked): number {
  return (
    b.score - a.score ||
    happened(b.candidate) - happened(a.candidate) ||
    (BigInt(b.candidate.seq) > BigInt(a.candidate.seq) ? 1 : -1)
  );
}

function standing({ memory_type, importance, confidence, used }: Candidate, preferWorking: boolean): number {
  const centred = (value: number | null): number => (value === null ? 0 : value - 0.5);
  return (
    (preferWorking && memory_type === 'working' ? BOOSTS.working : 0) +
    BOOSTS.importance * centred(importance) +
    BOOSTS.confidence * centred(confidence) +
    BOOSTS.used * used
  );
}

/** The author whom the question names in whole words, when it is exactly one of several. */
export function authorNamed(question: string, candidates: readonly Pick<Candidate, 'author'>[]): string | undefined {
  const authors = [...new Set(candidates.map((c) => c.author).filter((a) => a !== null))];
  if (authors.length < 2) return undefined;
  const named = authors.filter((author) =>
    new RegExp(`(?<![\\p{L}\\p{N}])${author.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?![\\p{L}\\p{N}])`, 'iu').test(
      question,
    ),
  );
  return named.length === 1 ? named[0] : undefined;
}

/** Parts of one document speak for each other: the section beside a good one is likely meant. */
function liftDocuments(ranked: readonly Ranked[]): void {
  const bySeq = new Map(ranked.map((entry) => [entry.candidate.seq, entry]));
  const before = new Map(ranked.map((entry) => [entry, entry.score]));
  const lift = new Map<Ranked, number>();
  for (const entry of ranked) {
    const previous = entry.candidate.before_seq === null ? undefined : bySeq.get(entry.candidate.before_seq);
    if (!previous) continue;
    lift.set(entry, Math.max(lift.get(entry) ?? 0, before.get(previous)!));
    lift.set(previous, Math.max(lift.get(previous) ?? 0, before.get(entry)!));
  }
  for (const [entry, best] of lift) {
    entry.parts.document = BOOSTS.documentLift * best;
    entry.score += entry.parts.document;
  }
}

function liftSessions(ranked: readonly Ranked[]): void {
  const before = new Map(ranked.map((entry) => [entry, entry.score]));
  const best = bestOfSession(ranked, (entry) => before.get(entry)!);
  for (const entry of ranked) {
    entry.parts.session = BOOSTS.session * best(entry);
    entry.score += entry.parts.session;
  }
}

/** The highest value in the session of a memory, or of its day where none is named (LoCoMo without sessions: R@10 +4); its own without either. */
function bestOfSession(ranked: readonly Ranked[], scored: (entry: Ranked) => number): (entry: Ranked) => number {
  const best = new Map<string, number>();
  for (const entry of ranked) {
    const { occasion } = entry.candidate;
    if (occasion !== null) best.set(occasion, Math.max(best.get(occasion) ?? -Infinity, scored(entry)));
  }
  return (entry) => (entry.candidate.occasion === null ? scored(entry) : best.get(entry.candidate.occasion)!);
}

const lexicalOf = ({ bm25 }: Candidate, half: number): number => bm25 / (bm25 + half);

/**
 * In a language that the question's words are not in, they cannot be found: there the cosine stands in for them. Else whatever is in the
 * question's own language stands above (paragraphs across languages: MRR 65 to 80, and in the question's own language as before).
 */
function lexicalAcross(candidate: Candidate, half: number, tongues: readonly Tongue[]): number {
  const { cosine, head } = candidate;
  const lexical = lexicalOf(candidate, half);
  return cosine === null || cosine <= lexical || tongues.includes(tongueOf(head)) ? lexical : cosine;
}

/** Chinese, Japanese and Korean by the question's own weight, words by a constant. */
function lexicalHalf(question: Question, weights: ReadonlyMap<string, number>): number {
  const share = LEXICAL_HALF_SHARE[question.writing];
  if (share === undefined) return LEXICAL_HALF;
  const sum = question.terms.reduce((total, term) => total + (weights.get(term) ?? 0), 0);
  return Math.max(LEXICAL_HALF, share * sum);
}

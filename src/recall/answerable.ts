/**
 * Can the question be answered from what is visible at all? A value in 0..1 for the whole answer, since the score of the best result cannot
 * tell. Looked at: the best cosine and lexical score, the best late interaction among the first five, and coverage, the share by rarity of the
 * question's words that stand in one of them. When the question names one author, only that author's memories count, and how many of the first
 * five are by that author: "what did Ann paint" is not answered by what Ben painted.
 */
import { analyse } from '../text/analyse.ts';
import { ANSWERABLE, ANSWERABLE_WITHOUT_LATE, BOOSTS, LEXICAL_HALF, type ModelConstants } from './constants.ts';
import type { Question } from './question.ts';
import { authorNamed, type Ranked } from './rank.ts';

const DEPTH = 5;

/** Late interaction tells little of these: their glosses are too often another word. The fit was made on English and holds for the others. */
const WITHOUT_LATE: ReadonlySet<Question['writing']> = new Set(['hangul', 'kana']);

export interface Evidence {
  readonly ranked: readonly Ranked[];
  readonly question: Question;
  readonly constants: ModelConstants;
  readonly weights: ReadonlyMap<string, number>;
  /** Rarity of a word that no memory holds. */
  readonly unseen: number;
}

export function answerability(evidence: Evidence): number {
  const { ranked, question, constants } = evidence;
  if (ranked.length === 0) return 0;
  const named = authorNamed(
    question.text,
    ranked.map((entry) => entry.candidate),
  );
  const counts = (entry: Ranked): boolean => named === undefined || entry.candidate.author === named;
  const considered = ranked.filter(counts);
  const first = ranked.toSorted((a, b) => ownScore(b) - ownScore(a)).slice(0, DEPTH);
  const cosine = best(considered, ({ candidate }) => candidate.cosine ?? 0);
  // Of the question as it is asked, or in English: what is held in one language is not held in the other.
  const coverage = Math.max(
    best(first.filter(counts), coverageOf(evidence, question.terms)),
    best(first.filter(counts), coverageOf(evidence, question.glossTerms)),
  );
  const lateWeight = constants.late[question.writing] * (1 + BOOSTS.sessionLate);
  if (WITHOUT_LATE.has(question.writing) || lateWeight === 0) {
    const lexical = best(considered, ({ parts }) => parts.lexical);
    const { cosine: c, coverage: v, lexical: l, slope, middle } = ANSWERABLE_WITHOUT_LATE;
    return sigmoid(slope * (c * cosine + v * coverage + l * lexical - middle));
  }
  const lexical = best(considered, ({ candidate }) => candidate.bm25 / (candidate.bm25 + LEXICAL_HALF));
  const late = best(first.filter(counts), ({ parts }) => parts.late / lateWeight);
  const share = named === undefined ? 1 : first.filter(counts).length / first.length;
  const { cosine: c, coverage: v, lexical: l, late: t, share: s, constant } = ANSWERABLE;
  return sigmoid(c * cosine + v * coverage + l * lexical + t * late + s * share + constant);
}

/** Without what stands beside: a turn that its neighbour lifted holds little of the question itself. */
const ownScore = ({ score, parts }: Ranked): number => score - parts.beside;

const best = (entries: readonly Ranked[], value: (entry: Ranked) => number): number =>
  Math.max(0, ...entries.map(value));

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

/** The share, by rarity, of these words (names of authors left out) that a memory holds. */
function coverageOf({ ranked, weights, unseen }: Evidence, terms: readonly string[]): (entry: Ranked) => number {
  const names = new Set(
    ranked.flatMap(({ candidate }) => (candidate.author === null ? [] : analyse(candidate.author))),
  );
  const asked = terms.filter((term) => !names.has(term)).map((term) => ({ term, weight: weights.get(term) ?? unseen }));
  const total = asked.reduce((sum, { weight }) => sum + weight, 0);
  return ({ candidate }) => {
    const held = new Set(candidate.held ?? analyse(candidate.head));
    return total === 0 ? 0 : asked.reduce((sum, { term, weight }) => sum + (held.has(term) ? weight : 0), 0) / total;
  };
}

/**
 * Newest fact first, behind gates. Recency for all questions costs recall (LoCoMo recall@10 -0.8 to -2); here it acts only where the question
 * is in the first person and about the present, and only between two memories that say something about the same rare words.
 */
import { analyse } from '../text/analyse.ts';
import type { Candidate } from './candidates.ts';
import type { Question } from './question.ts';
import type { Ranked } from './rank.ts';

/** Among this many of the best. */
const DEPTH = 10;
/** Weighted overlap (Jaccard) of the question's terms that both hold. */
const SAME_SUBJECT = 0.6;
/** A newer memory whose score is further below is another matter. */
const MAX_GAP = 0.4;

export function newerFirst(ranked: readonly Ranked[], question: Question): Ranked[] {
  const out = [...ranked];
  const head = out.slice(0, DEPTH);
  const weight = rarity(head, question);
  for (let i = 1; i < head.length; i++) {
    const newer = head[i]!;
    const at = head.findIndex((older, j) => j < i && supersedes(newer, older, weight));
    if (at >= 0) head.splice(at, 0, ...head.splice(i, 1));
  }
  // The scores stay where they are, so that they descend: a position's score is what the ranking is sure of.
  const scores = out.slice(0, DEPTH).map((entry) => entry.score);
  return [...head.map((entry, i) => ({ ...entry, score: scores[i]! })), ...out.slice(DEPTH)];
}

function supersedes(newer: Ranked, older: Ranked, weight: ReadonlyMap<string, number>): boolean {
  const a = newer.candidate;
  const b = older.candidate;
  return (
    time(a) > time(b) &&
    a.author === b.author &&
    (a.session === null || a.session !== b.session) &&
    older.score - newer.score <= MAX_GAP &&
    overlap(a.head, b.head, weight) >= SAME_SUBJECT
  );
}

const time = ({ occurred_at, created_at }: Candidate): number => (occurred_at ?? created_at).getTime();

/** How rare each term of the question is among the best: a word that all of them hold says nothing about their subject. */
function rarity(head: readonly Ranked[], question: Question): ReadonlyMap<string, number> {
  const held = head.map(({ candidate }) => new Set(analyse(candidate.head)));
  return new Map(
    question.terms.map((term) => {
      const df = held.filter((terms) => terms.has(term)).length;
      return [term, Math.log(1 + (held.length - df + 0.5) / (df + 0.5))];
    }),
  );
}

function overlap(a: string, b: string, weight: ReadonlyMap<string, number>): number {
  const inA = new Set(analyse(a));
  const inB = new Set(analyse(b));
  let both = 0;
  let either = 0;
  for (const [term, w] of weight) {
    if (inA.has(term) && inB.has(term)) both += w;
    if (inA.has(term) || inB.has(term)) either += w;
  }
  return either === 0 ? 0 : both / either;
}

/**
 * Can the question be answered from what is visible at all? A value in 0..1 for the whole answer, since the top score alone cannot tell
 * (docs/retrieval.md): 0.4 * best cosine + 0.4 * coverage + 0.2 * best lexical score. Coverage is the share, by rarity, of the question's words
 * that stand in the best single memory of the first five; when the question names one author, only that author's memories count.
 */
import { analyse } from '../text/analyse.ts';
import { LEXICAL_HALF } from './constants.ts';
import type { Question } from './question.ts';
import { authorNamed, type Ranked } from './rank.ts';

const COVERAGE_DEPTH = 5;

export function answerability(
  ranked: readonly Ranked[],
  question: Question,
  idf: ReadonlyMap<string, number>,
  unseen: number,
): number {
  const candidates = ranked.map((entry) => entry.candidate);
  const cosine = Math.max(0, ...candidates.map((c) => c.cosine ?? 0));
  const bm25 = Math.max(0, ...candidates.map((c) => c.bm25));
  return 0.4 * cosine + 0.4 * coverage(ranked, question, idf, unseen) + (0.2 * bm25) / (bm25 + LEXICAL_HALF);
}

function coverage(
  ranked: readonly Ranked[],
  question: Question,
  idf: ReadonlyMap<string, number>,
  unseen: number,
): number {
  const candidates = ranked.map((entry) => entry.candidate);
  const named = authorNamed(question.text, candidates);
  const names = new Set(candidates.flatMap((c) => (c.author === null ? [] : analyse(c.author))));
  const asked = question.terms.filter((term) => !names.has(term));
  const total = asked.reduce((sum, term) => sum + (idf.get(term) ?? unseen), 0);
  if (total === 0) return 0;
  const shares = ranked
    .slice(0, COVERAGE_DEPTH)
    .filter((entry) => named === undefined || entry.candidate.author === named)
    .map((entry) => {
      const held = new Set(entry.candidate.held ?? analyse(entry.candidate.head));
      return asked.reduce((sum, term) => sum + (held.has(term) ? (idf.get(term) ?? unseen) : 0), 0) / total;
    });
  return Math.max(0, ...shares);
}

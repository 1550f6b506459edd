/**
 * The words under which a memory is found: its own, and with a lower weight those of the memories beside it in its session or document
 * (the largest single gain in retrieval: LoCoMo recall@10 +7). Weights are those of the measured recipe in docs/retrieval.md.
 */
import { countTerms } from './analyse.ts';
import { type Indexable, lentTerms, ownTerms } from './indexed.ts';

export interface Neighbour extends Indexable {
  readonly created_at: Date;
}

/** Weight of a neighbour's words: it mostly matters what was said just before, most of all when it was a question. */
const BEFORE = 0.4;
const BEFORE_ASKING = 0.3;
const AFTER = 0.3;
const SAME_AUTHOR = 0.1;
const SAME_DOCUMENT = 0.3;

export interface Words {
  /** Distinct, sorted: postings are written in key order (1.4 times faster). */
  readonly terms: readonly string[];
  /** Weighted frequency of each term. */
  readonly frequencies: readonly number[];
  /** Sum of the frequencies: the document length of BM25. */
  readonly length: number;
}

export function wordsOf(memory: Neighbour, before: Neighbour | undefined, after: Neighbour | undefined): Words {
  const weights = countTerms(ownTerms(memory));
  if (before) lend(weights, before, weightOf(memory, before, 'before'));
  if (after) lend(weights, after, weightOf(memory, after, 'after'));
  const entries = [...weights].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    terms: entries.map(([term]) => term),
    frequencies: entries.map(([, frequency]) => frequency),
    // rounded as the column stores it, so that the totals of a space never drift
    length: Math.fround(entries.reduce((sum, [, frequency]) => sum + frequency, 0)),
  };
}

function lend(weights: Map<string, number>, neighbour: Neighbour, weight: number): void {
  for (const term of lentTerms(neighbour)) weights.set(term, (weights.get(term) ?? 0) + weight);
}

function weightOf(memory: Neighbour, neighbour: Neighbour, side: 'before' | 'after'): number {
  if (sameDocument(memory, neighbour)) return SAME_DOCUMENT;
  if (memory.author === neighbour.author) return SAME_AUTHOR;
  if (side === 'after') return AFTER;
  return BEFORE + (/[?？؟]/.test(neighbour.content) ? BEFORE_ASKING : 0);
}

/** Pieces of one session that one author dated to the same instant are parts of one document, not turns of a talk. */
function sameDocument(
  a: Pick<Neighbour, 'author' | 'occurred_at'>,
  b: Pick<Neighbour, 'author' | 'occurred_at'>,
): boolean {
  return a.author === b.author && a.occurred_at !== null && a.occurred_at.getTime() === b.occurred_at?.getTime();
}

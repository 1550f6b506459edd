/**
 * What is indexed of a memory is not its bare content: who said it and when belong into the text that words and vectors are made of
 * (recall@10 of turns on LoCoMo: 57.8 to 62.9 for BM25, 29.9 to 49.3 for the dense model). The path gives words, but no prefix of the
 * vector: a constant path in front of every passage would only make them alike. The type stays out of both: it is a filter.
 */
import { analyse } from './analyse.ts';

export interface Indexable {
  readonly content: string;
  readonly author: string | null;
  readonly path: string | null;
  readonly occurred_at: Date | null;
}

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });

/** `[8 May 2023] Caroline: `, put before each passage when it is embedded; what is unknown is left out. */
export function densePrefix({ author, occurred_at }: Pick<Indexable, 'author' | 'occurred_at'>): string {
  const date = occurred_at ? `[${DAY.format(occurred_at)}] ` : '';
  return author ? `${date}${author}: ` : date;
}

/** Terms of the memory itself, in order, with repeats. */
export function ownTerms({ content, author, path, occurred_at }: Indexable): string[] {
  return analyse(`${densePrefix({ author, occurred_at })}${path ? `${path.replaceAll('/', ' ')} ` : ''}${content}`);
}

/** A neighbour lends words of this many characters at most: a book beside a note must not drown it. */
export const LENT_CHARACTERS = 4_000;

/** Terms that a memory lends to the memories beside it: who and what, no date and no path. */
export function lentTerms({ content, author }: Pick<Indexable, 'content' | 'author'>): string[] {
  return analyse(`${author ? `${author}: ` : ''}${content.slice(0, LENT_CHARACTERS)}`);
}

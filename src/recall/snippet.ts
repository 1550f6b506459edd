/** One line that shows why a memory is here: its passage with the question's rare words. */
import { analyse } from '../text/analyse.ts';
import { makeExcerpter } from './excerpt.ts';
import { inline } from './sanitize.ts';

/** Characters of a snippet; its allowance counts characters, no tokenizer is needed. */
const SNIPPET = 160;
/** As much of a long content as is searched for it. */
const SEARCHED = 20_000;

export function snippetOf(content: string, weights: ReadonlyMap<string, number>): string {
  const head = content.slice(0, SEARCHED);
  if (head.length <= SNIPPET) return inline(head, SNIPPET);
  const { text } = makeExcerpter({ content: head, weights, terms: analyse, count: (part) => part.length }).excerpt(
    SNIPPET,
  );
  return inline(text, SNIPPET + 2);
}

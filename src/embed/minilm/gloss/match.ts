/** Longest match from the left, for writings that put no space between words. */

/** Word to English: a whole dictionary. */
export type Glosses = ReadonlyMap<string, string>;

export interface Matched {
  /** As written, one sign where nothing longer is known. */
  readonly word: string;
  readonly gloss: string | undefined;
}

/** By code points, words of at most `longest` signs. */
export function matchWords(run: string, known: Glosses, longest: number): Matched[] {
  const signs = [...run];
  const matched: Matched[] = [];
  for (let at = 0; at < signs.length; ) {
    let length = Math.min(longest, signs.length - at);
    let word = signs.slice(at, at + length).join('');
    while (length > 1 && !known.has(word)) word = signs.slice(at, at + --length).join('');
    matched.push({ word, gloss: known.get(word) });
    at += length;
  }
  return matched;
}

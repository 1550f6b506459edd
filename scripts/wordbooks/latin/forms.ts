/** Regular forms that a dictionary has for a rare meaning of their own: "servicios" for a toilet, "dejado" for sloppy. */
import type { Meanings } from './pivot.ts';

/** Ending → what the form it is taken from ends in. */
const ENDINGS: Readonly<Record<'de' | 'es', readonly (readonly [RegExp, readonly string[]])[]>> = {
  de: [[/((?<!ier)en|em|es)$/, ['']]],
  es: [
    [/s$/, ['']],
    [/es$/, ['']],
    [/(?<=ic|iv|os)as?$/, ['o']],
    [/ad[ao]s?$/, ['ar']],
    [/id[ao]s?$/, ['er', 'ir']],
  ],
};
/** Votes of the word for each of its form. */
const FAR_MORE = 3;

/** Whether the word is far likelier a form of another, which then gives its gloss. */
export function isFormOfAnother(word: string, words: ReadonlyMap<string, Meanings>, code: 'de' | 'es'): boolean {
  const votes = total(words.get(word));
  return ENDINGS[code].some(
    ([ending, originals]) =>
      votes > 0 &&
      ending.test(word) &&
      originals.some((original) => total(words.get(word.replace(ending, original))) >= FAR_MORE * votes),
  );
}

function total(meanings: Meanings | undefined): number {
  return [...(meanings?.values() ?? [])].reduce((sum, votes) => sum + votes, 0);
}

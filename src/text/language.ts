/** Which language a text is in, as far as retrieval tells them apart. */
import { type Script, scriptOf } from './analyse.ts';
import { STOP_WORDS } from './stopwords.ts';

/** Those with a list of stop words. */
export type Language = keyof typeof STOP_WORDS;

/** `words` in lower case. By the small ones, which no text of a few words goes without; English when they do not decide. */
export function languageOf(words: readonly string[]): Language {
  let [en, de, es] = [0, 0, 0];
  for (const word of words) {
    if (STOP_WORDS.en.has(word)) en++;
    if (STOP_WORDS.de.has(word)) de++;
    if (STOP_WORDS.es.has(word)) es++;
  }
  if (Math.max(de, es) <= en) return 'en';
  return de > es ? 'de' : 'es';
}

/** Two texts in different ones have hardly a word in common. `other`: in letters that are not Latin, of none of the scripts. */
export type Tongue = Exclude<Script, 'latin_or_other'> | Language | 'other';

/** Characters: enough for some small words, and told in some microseconds. */
const BEGINNING = 160;
const ASCII = /^[\u0000-\u007f]*$/;

/** Of the beginning of a text. */
export function tongueOf(text: string): Tongue {
  const beginning = text.slice(0, BEGINNING);
  const lower = beginning.toLowerCase();
  // A ranking asks this of a hundred texts, most of them plain.
  if (ASCII.test(beginning)) return languageOf(lower.match(/[a-z]+/g) ?? []);
  const script = scriptOf(beginning);
  if (script !== 'latin_or_other') return script;
  if (/\p{L}/u.test(beginning) && !/\p{Script=Latin}/u.test(beginning)) return 'other';
  return languageOf(lower.match(/[\p{L}\p{M}]+/gu) ?? []);
}

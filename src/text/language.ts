/** Which of the languages with a list of stop words a text is in. */
import { STOP_WORDS } from './stopwords.ts';

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

/** Which of the languages with a list of stop words a text is in. */
import { STOP_WORDS } from './stopwords.ts';

export type Language = keyof typeof STOP_WORDS;

/** `words` in lower case. By the small ones, which no text of a few words goes without; English when they do not decide. */
export function languageOf(words: readonly string[]): Language {
  const votes = (language: Language) => words.filter((word) => STOP_WORDS[language].has(word)).length;
  const [en, de, es] = [votes('en'), votes('de'), votes('es')];
  if (Math.max(de, es) <= en) return 'en';
  return de > es ? 'de' : 'es';
}

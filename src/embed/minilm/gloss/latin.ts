/** German and Spanish words become the gloss of the wordbook, whatever their ending. */
import { languageOf } from '../../../text/language.ts';
import { STOP_WORDS } from '../../../text/stopwords.ts';
import { germanGloss } from './german.ts';
import type { Glosses } from './match.ts';
import { spanishGloss } from './spanish.ts';
import { wordbook } from './wordbook.ts';

const WORDS = /[\p{L}\p{M}]+/gu;

/** Letters; what is longer is no word. It bounds the search for parts of compounds. */
const LONGEST_WORD = 48;

/** Below this share of content words the text is in another language that has the same small words, and stays as it is. */
const KNOWN_SHARE = 0.4;

const READERS = { de: germanGloss, es: spanishGloss } as const;

/** Words that are not in the book stay: names, and terms that are English already. Undefined where the text is in neither language. */
export function glossLatin(text: string): string | undefined {
  const words = text.toLowerCase().match(WORDS) ?? [];
  const language = languageOf(words);
  if (language === 'en') return undefined;
  const known = wordbook(language);
  const glosses = new Map<string, string>();
  let content = 0;
  let found = 0;
  for (const word of new Set(words)) {
    const gloss = glossOf(word, language, known);
    if (gloss !== undefined) glosses.set(word, gloss);
    if (STOP_WORDS[language].has(word)) continue;
    content++;
    if (gloss !== undefined) found++;
  }
  if (found < content * KNOWN_SHARE) return undefined;
  return text.replace(WORDS, (word) => glosses.get(word.toLowerCase()) ?? word);
}

/** Nothing for a word of grammar, but for those that the book tells: "nicht", "wann", "sin". */
function glossOf(word: string, language: keyof typeof READERS, known: Glosses): string | undefined {
  if (STOP_WORDS[language].has(word)) return known.get(word) ?? '';
  return word.length > LONGEST_WORD ? undefined : READERS[language](word, known);
}

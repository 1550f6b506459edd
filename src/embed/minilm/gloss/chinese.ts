/** Chinese words become the gloss of the wordbook, which is empty for words of grammar. */
import { type Glosses, matchWords } from './match.ts';

/** Signs; longer entries of dictionaries are sayings. */
const LONGEST_WORD = 8;

const HAN_RUNS = /\p{Script=Han}+/gu;

/** Each run of Chinese signs in English, what no entry has as it is. */
export function glossChinese(text: string, known: Glosses): string {
  return text.replace(HAN_RUNS, (run) => {
    const glosses = matchWords(run, known, LONGEST_WORD).map(({ word, gloss }) => gloss ?? word);
    return ` ${glosses.join(' ')} `;
  });
}

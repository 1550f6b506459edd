/** Japanese words become the gloss of the wordbook; hiragana that is in no word is grammar and goes. */
import { type Glosses, matchWords } from './match.ts';

/** Signs. */
const LONGEST_WORD = 10;

const KATAKANA_RUNS = /[\p{Script=Katakana}ー]+/gu;
const OTHER_RUNS = /[\p{Script=Han}\p{Script=Hiragana}々]+/gu;
const HIRAGANA = /^\p{Script=Hiragana}$/u;

export function glossJapanese(text: string, known: Glosses): string {
  return text
    .replace(KATAKANA_RUNS, (run) => ` ${glossBorrowed(run, known)} `)
    .replace(OTHER_RUNS, (run) => ` ${glossRun(run, known)} `);
}

/** All of it or nothing: a foreign name that begins like a word is none. */
function glossBorrowed(run: string, known: Glosses): string {
  const glosses = matchWords(run, known, LONGEST_WORD).map(({ gloss }) => gloss);
  return glosses.includes(undefined) ? run : glosses.join(' ');
}

/** The signs of an unknown name stay together. */
function glossRun(run: string, known: Glosses): string {
  return matchWords(run, known, LONGEST_WORD)
    .map(({ word, gloss }) => {
      if (gloss !== undefined) return ` ${gloss} `;
      return HIRAGANA.test(word) ? ' ' : word;
    })
    .join('');
}

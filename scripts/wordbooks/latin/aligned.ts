/** Which English word stands for which word in the strings of VS Code. */
import { type Aligned, align, type Pair } from '../common/align.ts';

const ROUNDS = 6;
/** Strings a word has to stand in. */
const FEWEST_STRINGS = 3;

/** Word → its English partner, both in lower case. */
export function alignedWords(pairs: readonly Pair[]): Map<string, Aligned> {
  const aligned = align(
    pairs.map(([foreign, english]) => [words(foreign), words(english)]),
    ROUNDS,
  );
  return new Map([...aligned].filter(([, { count }]) => count >= FEWEST_STRINGS));
}

/** Each word once. Placeholders, code and links are no words. */
function words(text: string): string[] {
  const plain = text
    .normalize('NFC')
    .replace(/&&/g, '')
    .replace(/\{[^}]*\}|`[^`]*`|\([^)]*:[^)]*\)|https?:\S+/g, ' ')
    .toLowerCase();
  return [...new Set(plain.match(/\p{L}{2,}/gu) ?? [])];
}

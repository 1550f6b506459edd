/** What the builders of all languages share: the form of a gloss, and the file of a table. */
import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

/** English words of a gloss; a longer translation explains. */
const LONGEST_GLOSS = 3;

/**
 * An English translation as a gloss: no remark in brackets, no "to" of a verb, no article. Undefined where it is longer than three words or
 * has anything but Latin letters, digits, spaces and `'.+#/-`.
 */
export function cleanGloss(translation: string): string | undefined {
  const gloss = translation
    .normalize('NFC')
    .replace(/\([^)]*\)|\[[^\]]*\]|\{[^}]*\}/g, ' ')
    .replaceAll('’', "'")
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/^(to|an?|the) (?=\S)/i, '')
    .replace(/ (somebody|someone|something|sb|sth|oneself)$/, '')
    .replace(/[.!?]+$/, '');
  if (!/^[\p{Script=Latin}\d][\p{Script=Latin}\d '.+#/-]*$/u.test(gloss)) return undefined;
  return gloss.split(' ').length <= LONGEST_GLOSS ? gloss : undefined;
}

/** Writes `word<TAB>gloss` lines in the order of their code units, gzipped; the same entries give the same bytes. Gives back their size. */
export function writeTable(path: string, glosses: ReadonlyMap<string, string>): number {
  const words = [...glosses.keys()].sort();
  const bytes = gzipSync(words.map((word) => `${word}\t${glosses.get(word)}\n`).join(''), { level: 9 });
  writeFileSync(path, bytes);
  return bytes.length;
}

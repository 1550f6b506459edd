/** Shared by the scripts that make the Japanese and the Korean word table: reading dictionaries and writing the table. */
import { readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

/** English words of a gloss; a longer sense explains and does not translate. */
const LONGEST_GLOSS = 3;

/** Senses that tell about the word and not its meaning. */
const ABOUT_THE_WORD =
  /^(surname|variant|old variant|archaic|japanese variant|erhua|see |cl:|abbr\.|also |used |kangxi|taiwan pr|classifier|counter|suffix|prefix|particle|phonetic|same as|onomat|emphatic|equivalent|indicates?|expresses|nominal|written form|place name|given name|radical)/i;

const ARTICLE = /^(a|an|the) (?=\S)/i;

/**
 * One sense as a gloss of 1 to 3 English words: no notes in brackets, no article, no "to", no "be". Undefined where it explains.
 * A sense with a comma ("Tokyo, capital of Japan") tells enough up to it.
 */
export function cleanGloss(sense: string): string | undefined {
  let gloss = sense
    .replace(/\([^()]*\)/g, ' ') // twice, for brackets in brackets: "dog (Canis (lupus) familiaris)"
    .replace(/\([^()]*\)|\[[^\]]*\]|\{[^}]*\}/g, ' ')
    .split(/,(?!\d)|[;:]/)[0]!
    .replace(/[“”"]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/[.!?…]+$/, '');
  if (ABOUT_THE_WORD.test(gloss)) return undefined;
  gloss = gloss
    .replace(/^to be (?=\S)/i, '')
    .replace(/^to (?!the |a )(?=\S)/i, '')
    .replace(ARTICLE, '')
    .replace(/^be (?=\S)/, '')
    .replace(/ (one's|oneself|something|someone|sb|sth|somebody|one)$/, '')
    .replace(/^(one's|oneself|someone's) (?=\S)/, '')
    .trim();
  const plain = /^[\p{Script=Latin}\d][\p{Script=Latin}\d '’&/+.-]*$/u.test(gloss);
  return plain && gloss.split(' ').length <= LONGEST_GLOSS ? gloss : undefined;
}

/** The lines of a text file. `encoding`: as TextDecoder names it. */
export function linesOf(file: string, encoding = 'utf-8'): string[] {
  return new TextDecoder(encoding).decode(readFileSync(file)).split(/\r?\n/);
}

/** Lines "word<TAB>gloss" of a list kept by hand; "#" begins a comment. A word with no gloss is one to leave out. */
export function handList(file: string | URL): Map<string, string> {
  const words = new Map<string, string>();
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const [word, gloss = ''] = line.split('\t');
    words.set(word!.normalize('NFC'), gloss.trim());
  }
  return words;
}

/** Writes "word<TAB>gloss" lines in code point order, compressed; the same words give the same bytes. */
export function writeTable(file: string | URL, words: ReadonlyMap<string, string>): void {
  const lines = [...words].map(([word, gloss]) => `${word.normalize('NFC')}\t${gloss}\n`).sort();
  const bytes = gzipSync(lines.join(''), { level: 9 });
  bytes[9] = 3; // the system byte of the header, so that any machine writes the same file
  writeFileSync(file, bytes);
  console.log(`${lines.length} words, ${bytes.length} bytes`);
}

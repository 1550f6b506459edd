/** The file of a table, and the list by hand that goes before all dictionaries. */
import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { isGloss } from './gloss.ts';
import { rowsOf } from './sources.ts';

/** Word → gloss of a list kept by hand; a word with an empty gloss is one to leave out. */
export function handList(file: URL): Map<string, string> {
  return new Map(rowsOf(file).map(([word, gloss = '']) => [word!, gloss]));
}

/**
 * Writes wordbooks/LANGUAGE.tsv.gz: `word<TAB>gloss` lines in the order of their code units; the same entries give the same bytes. The gloss of
 * a word of `grammar` is empty. Throws where a line is not a word and a gloss.
 */
export function writeTable(
  language: string,
  glosses: ReadonlyMap<string, string>,
  grammar: ReadonlySet<string> = new Set(),
): void {
  const wrong = [...glosses].filter(
    ([word, gloss]) =>
      !/^\S+$/.test(word) ||
      word !== word.normalize('NFC').toLowerCase() ||
      !(grammar.has(word) ? gloss === '' : isGloss(gloss)),
  );
  if (wrong.length > 0)
    throw new Error(`${language}: ${wrong.length} wrong lines, as ${JSON.stringify(wrong.slice(0, 10))}`);
  const lines = [...glosses].map(([word, gloss]) => `${word}\t${gloss}\n`).sort();
  const bytes = gzipSync(lines.join(''), { level: 9 });
  bytes[9] = 3; // the system byte of the header, so that any machine writes the same file
  writeFileSync(new URL(`../../../wordbooks/${language}.tsv.gz`, import.meta.url), bytes);
  console.log(`${language}: ${lines.length} words, ${bytes.length} bytes`);
}

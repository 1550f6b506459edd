/**
 * Makes wordbooks/zh.tsv.gz, Chinese words in both spellings with one English gloss each.
 *
 *     npx tsx scripts/wordbooks/chinese/build.ts SOURCES
 */
import { matchWords } from '../../../src/embed/minilm/gloss/match.ts';
import { glossesOf, readCedict } from '../common/cedict.ts';
import { sources } from '../common/sources.ts';
import { handList, writeTable } from '../common/table.ts';
import { translatedStrings } from '../common/vscode.ts';
import { alignedStems, chooseSense, LONGEST_WORD } from './senses.ts';

const HAN = /^\p{Script=Han}+$/u;
/** Explains a saying sign by sign, or is a pattern: "make sb angry". */
const EXPLAINS = /^(lit|fig)\. |\b(sb|sth)\b/;

const { npm } = sources();
const entries = readCedict().filter(({ simplified }) => HAN.test(simplified) && [...simplified].length <= LONGEST_WORD);
const senses = glossesOf(entries, 'simplified', 'traditional');
const simplifiedOf = new Map(entries.map(({ traditional, simplified }) => [traditional, simplified]));
const byHand = handList(new URL('hand.tsv', import.meta.url));
const table = new Map<string, string>();

const words = new Map([...senses.keys(), ...byHand.keys()].map((word) => [word, '']));
const aligned = alignedStems(translatedStrings(npm, 'zh-hans'), words);
for (const [word, all] of senses) {
  const glosses = all.filter((gloss) => !EXPLAINS.test(gloss));
  if (glosses.length > 0) table.set(word, chooseSense(glosses, aligned.get(simplifiedOf.get(word) ?? word)));
}
for (const { simplified, traditional } of entries) {
  const gloss = byHand.get(simplified);
  if (gloss !== undefined) table.set(traditional, gloss);
}
for (const [word, gloss] of byHand) table.set(word, gloss);
const grammar = new Set([...table].filter(([, gloss]) => gloss === '').map(([word]) => word));

/** Longest match gives the same gloss from its parts, but for capitals, which the model does not see. */
function isComposed(word: string, gloss: string): boolean {
  const parts = matchWords(word, table, [...word].length - 1).map((part) => part.gloss ?? part.word);
  return (
    parts
      .filter((part) => part !== '')
      .join(' ')
      .toLowerCase() === gloss.toLowerCase()
  );
}

// The longest first: their parts may be composed as well.
for (const word of [...table.keys()].sort((a, b) => b.length - a.length)) {
  if (!byHand.has(word) && [...word].length > 1 && isComposed(word, table.get(word)!)) table.delete(word);
}
writeTable('zh', table, grammar);

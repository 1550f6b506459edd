/**
 * Makes wordbooks/ko.tsv.gz, Korean words with one English gloss each, in a directory with deb/ and npm/:
 *   apt-get download edict kanjidic libhangul-data libreoffice-l10n-ko libreoffice-help-ko libreoffice-help-en-us \
 *     firefox-esr-l10n-ko firefox-esr-l10n-en-gb thunderbird-l10n-ko thunderbird-l10n-en-gb
 *   for d in *.deb; do dpkg -x "$d" deb; done
 *   for p in cmu-pronouncing-dictionary cldr-annotations-full cldr-localenames-full @codingame/monaco-vscode-language-pack-ko @codingame/monaco-vscode-api; do
 *     mkdir -p "npm/${p#@*\/}" && tar xzf "$(npm pack "$p")" --strip-components=1 -C "npm/${p#@*\/}"; done
 *   tsx scripts/wordbooks/ko.ts DIRECTORY
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { align, TAILS } from './align.ts';
import { countryNames } from './cldr.ts';
import { sinoKorean } from './hanja.ts';
import { formsOf, type Irregular } from './inflect-ko.ts';
import { loanWords } from './loans.ts';
import { pairsOf } from './pairs-ko.ts';
import { handList, linesOf, writeTable } from './senses.ts';

/** Aligned words are taken from this belief on, and before a dictionary from the second. Read off samples of each. */
const BELIEVED = 0.1;
const CERTAIN = 0.5;
/** A word seen less often needs more belief. */
const SEEN_OFTEN = 3;
const BELIEVED_IF_RARE = 0.25;
/** Sino-Korean words with less trust are odd. Longer ones are seldom taken for another word. */
const trusted = (word: string) => (word.length > 2 ? 1 : 2);
/** Marked as common in Japanese, and in the Chinese dictionary or a part of other words. */
const COMMON = 4;

const directory = process.argv[2];
if (directory === undefined) throw new Error('usage: tsx scripts/wordbooks/ko.ts DIRECTORY');
const byHand = handList(new URL('ko.hand.tsv', import.meta.url));
const table = new Map<string, string>();

function add(word: string, gloss: string): void {
  if (!table.has(word) && !byHand.has(word) && /^\p{Script=Hangul}{2,}$/u.test(word)) table.set(word, gloss);
}

const aligned = align(pairsOf(directory));
const hanja = sinoKorean(join(directory, 'deb/usr/share'), (word) => new Set([aligned.get(word)?.english ?? '']));

/**
 * Conjugated forms; of 하다 words also what stands before it (깨끗하다: 깨끗), where that is no form of another. A common Sino-Korean
 * word goes before a short form that is written alike: 세기 "century", not "count".
 */
function addVerbs(): void {
  const verbs = linesOf(fileURLToPath(new URL('ko.verbs.tsv', import.meta.url)))
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split('\t') as [string, string, Irregular?]);
  for (const [word, gloss, irregular = ''] of verbs) {
    for (const form of formsOf(word, irregular)) {
      // Past forms such as 갔 are verbs and nothing else, though of one syllable.
      if (form.length === 1 && !table.has(form) && !byHand.has(form)) table.set(form, gloss);
      if (form.length > 1 && !(word.length === 2 && (hanja.get(form)?.trust ?? 0) >= COMMON)) add(form, gloss);
    }
  }
  for (const [word, gloss] of verbs) if (word.length >= 4 && word.endsWith('하다')) add(word.slice(0, -2), gloss);
}

/** A known word with its particle, which the alignment took for one word. */
const hasTail = (word: string) => TAILS.some((tail) => word.endsWith(tail) && table.has(word.slice(0, -tail.length)));

for (const [word, gloss] of byHand) if (gloss !== '') table.set(word, gloss);
addVerbs();
for (const [name, english] of countryNames(join(directory, 'npm/cldr-localenames-full'), 'ko')) add(name, english);
for (const [word, { english, belief }] of aligned) if (belief >= CERTAIN && !hasTail(word)) add(word, english);
for (const [word, { gloss, trust }] of hanja) if (trust >= trusted(word)) add(word, gloss);
for (const [word, { english, belief, count }] of aligned) {
  const enough = belief >= (count >= SEEN_OFTEN ? BELIEVED : BELIEVED_IF_RARE);
  if (enough && english.length > 2 && !hasTail(word)) add(word, english);
}
for (const [word, english] of loanWords(directory)) add(word, english);
writeTable(new URL('../../wordbooks/ko.tsv.gz', import.meta.url), table);

/**
 * Makes wordbooks/ko.tsv.gz, Korean words with one English gloss each.
 *
 *     npx tsx scripts/wordbooks/korean/build.ts SOURCES
 */
import { countryNames } from '../common/cldr.ts';
import { rowsOf, sources } from '../common/sources.ts';
import { handList, writeTable } from '../common/table.ts';
import { alignedWords, TAILS } from './aligned.ts';
import { sinoKorean } from './hanja.ts';
import { formsOf, type Irregular } from './inflect.ts';
import { loanWords } from './loans.ts';
import { pairsOf } from './pairs.ts';

/** Aligned words are taken from this strength on, and before a dictionary from the second. Read off samples of each. */
const BELIEVED = 0.1;
const CERTAIN = 0.5;
/** A word seen less often needs more strength. */
const SEEN_OFTEN = 3;
const BELIEVED_IF_RARE = 0.25;
/** Sino-Korean words with less trust are odd. Longer ones are seldom taken for another word. */
const trusted = (word: string) => (word.length > 2 ? 1 : 2);
/** Marked as common in Japanese, and in the Chinese dictionary or a part of other words. */
const COMMON = 4;

const byHand = handList(new URL('hand.tsv', import.meta.url));
const table = new Map<string, string>();

function add(word: string, gloss: string): void {
  if (!table.has(word) && !byHand.has(word) && /^\p{Script=Hangul}{2,}$/u.test(word)) table.set(word, gloss);
}

const found = sources();
const aligned = alignedWords(pairsOf(found));
const hanja = sinoKorean(found.deb, (word) => new Set([aligned.get(word)?.english ?? '']));

/**
 * Conjugated forms; of 하다 words also what stands before it (깨끗하다: 깨끗), where that is no form of another. A common Sino-Korean
 * word goes before a short form that is written alike: 세기 "century", not "count".
 */
function addVerbs(): void {
  const verbs = rowsOf(new URL('verbs.tsv', import.meta.url)) as [word: string, gloss: string, irregular?: Irregular][];
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
for (const [name, english] of countryNames(found.npm, 'ko')) add(name, english);
for (const [word, { english, strength }] of aligned) if (strength >= CERTAIN && !hasTail(word)) add(word, english);
for (const [word, { gloss, trust }] of hanja) if (trust >= trusted(word)) add(word, gloss);
for (const [word, { english, strength, count }] of aligned) {
  const enough = strength >= (count >= SEEN_OFTEN ? BELIEVED : BELIEVED_IF_RARE);
  if (enough && english.length > 2 && !hasTail(word)) add(word, english);
}
for (const [word, english] of loanWords(found)) add(word, english);
writeTable('ko', table);

/**
 * Makes wordbooks/ja.tsv.gz, Japanese words with one English gloss each.
 *
 *     npx tsx scripts/wordbooks/japanese/build.ts SOURCES
 */
import { join } from 'node:path';
import { countryNames } from '../common/cldr.ts';
import { readDictionary } from '../common/dictd.ts';
import { type Entry, meaningsOfKanji, readEdict } from '../common/edict.ts';
import { sources } from '../common/sources.ts';
import { handList, writeTable } from '../common/table.ts';
import { formsOf } from './inflect.ts';

const KANJI = /^[\p{Script=Han}々ヶ]+$/u;
const HAS_KANJI = /\p{Script=Han}/u;
const KANA = /^[\p{Script=Hiragana}\p{Script=Katakana}ー]+$/u;
const KATAKANA = /^[\p{Script=Katakana}ー]+$/u;
const WRITTEN = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}々ヶー]+$/u;
/** Words of grammar: endings, particles, set phrases. */
const GRAMMAR = /^(prt|conj|cop|aux|aux-v|aux-adj|int|exp|suf|ctr|pref|adj-pn|vs-c|vs-i)$/;

const { deb, npm } = sources();
const second = secondDictionary();
const byHand = handList(new URL('hand.tsv', import.meta.url));
const table = new Map<string, string>();

function add(word: string, gloss: string): void {
  if (!table.has(word) && !byHand.has(word) && WRITTEN.test(word)) table.set(word, gloss);
}

/** Japanese word → the English headwords, in lower case, that it translates. */
function secondDictionary(): Map<string, Set<string>> {
  const opinions = new Map<string, Set<string>>();
  for (const { word, kind, senses } of readDictionary(deb, 'eng', 'jpn')) {
    if (/fix$/.test(kind)) continue;
    for (const japanese of senses.flat()) {
      opinions.set(japanese, (opinions.get(japanese) ?? new Set()).add(word.toLowerCase()));
    }
  }
  return opinions;
}

/** The first gloss that the second dictionary has as well, else EDICT's first. */
function glossOf({ word, first, next }: Entry): { gloss: string; agreed: boolean } {
  const opinions = second.get(word);
  const agreed = opinions && [...first, ...next].find((each) => opinions.has(each.toLowerCase()));
  return { gloss: agreed ?? first[0]!, agreed: agreed !== undefined };
}

/** Common words first, then those whose sense is agreed on, then whole words before affixes. */
function rank(entry: Entry): number {
  const affix = entry.pos.some((each) => GRAMMAR.test(each));
  return (entry.common ? 4 : 0) + (glossOf(entry).agreed ? 2 : 0) + (affix ? 0 : 1) - (entry.odd ? 8 : 0);
}

/** Kana alone is safe where it is katakana or long and no word of grammar. */
function safeKana(word: string, { pos }: Entry): boolean {
  if (KATAKANA.test(word)) return word.length >= 2;
  return word.length >= 3 && !pos.some((each) => GRAMMAR.test(each));
}

function addEntry(entry: Entry): void {
  const { gloss } = glossOf(entry);
  const spellings = entry.kana && entry.reading !== undefined ? [entry.word, entry.reading] : [entry.word];
  for (const word of spellings) {
    if (!KANA.test(word) || safeKana(word, entry)) add(word, gloss);
  }
}

/** Of a known word of at least two signs and another one: they say as much, and the table stays small. */
function isCompound(word: string): boolean {
  for (let cut = 2; cut < word.length; cut++) {
    if (known.has(word.slice(0, cut)) && known.has(word.slice(cut))) return true;
  }
  return false;
}

/** Stems come after all whole words; a shorter stem of kana would match endings (たため, しまっ). */
function addForms(entry: Entry): void {
  const { gloss } = glossOf(entry);
  const spellings = entry.kana && entry.reading !== undefined ? [entry.word, entry.reading] : [entry.word];
  for (const word of spellings) {
    const inflected = formsOf(word, entry.pos);
    if (inflected === undefined || (KANA.test(word) && (inflected.stem.length < 3 || !safeKana(word, entry)))) continue;
    const { stem } = inflected;
    const adjective = entry.pos.includes('adj-i');
    // 高 alone is a rare noun, but in 高く and 高かった it is the adjective.
    const stemIsFree = !byHand.has(stem) && (adjective || !table.has(stem));
    // What follows the stem is left over in any form, so the form of the dictionary need not be there too.
    if (stemIsFree) {
      table.set(stem, gloss);
      if (table.get(word) === gloss) table.delete(word);
    } else for (const form of inflected.forms) add(form, gloss);
  }
}

const entries = readEdict(join(deb, 'share/edict/edict'))
  .filter(({ word }) => WRITTEN.test(word))
  .sort((a, b) => rank(b) - rank(a));
const common = entries.filter((entry) => entry.common);
for (const entry of common) addEntry(entry);
for (const entry of common) addForms(entry);
for (const [name, english] of countryNames(npm, 'ja')) add(name, english);
const known: ReadonlySet<string> = new Set(table.keys());
for (const entry of entries.filter(({ common, odd }) => !common && !odd)) {
  const { word, pos } = entry;
  const inBoth = second.has(word);
  if (word.length > (KANJI.test(word) ? 4 : 7)) continue;
  if ((KANJI.test(word) || KATAKANA.test(word)) && word.length >= (inBoth ? 2 : 3 - Number(KANJI.test(word)))) {
    const { gloss } = glossOf(entry);
    if (inBoth || (!isCompound(word) && (word.length < 3 || gloss.split(' ').length < 3))) add(word, gloss);
  } else if (HAS_KANJI.test(word) && formsOf(word, pos) !== undefined && inBoth) {
    add(word, glossOf(entry).gloss);
    addForms(entry);
  }
}
for (const [sign, meaning] of meaningsOfKanji(join(deb, 'share/edict/kanjidic'))) add(sign, meaning);
for (const [word, gloss] of byHand) if (gloss !== '') table.set(word, gloss);
writeTable('ja', table);

/**
 * Makes wordbooks/de.tsv.gz and wordbooks/es.tsv.gz, German and Spanish words with one English gloss each.
 *
 *     npx tsx scripts/wordbooks/latin/build.ts SOURCES
 */
import type { Aligned } from '../common/align.ts';
import { type Entry, readDictionary } from '../common/dictd.ts';
import { cleanGloss } from '../common/gloss.ts';
import { sources } from '../common/sources.ts';
import { handList, writeTable } from '../common/table.ts';
import { translatedStrings } from '../common/vscode.ts';
import { alignedWords } from './aligned.ts';
import { chooseGloss, mostVotes, withTechnicalSense } from './choose.ts';
import { isFormOfAnother } from './forms.ts';
import { addIrregularForms } from './irregular.ts';
import { type Dictionary, type Meanings, meaningsByPivots } from './pivot.ts';

/** ISO 639-3: English, the languages of the tables, those between. */
const LANGUAGES = 'eng deu spa bul ell fin fra ind ita jpn nld nor pol por rus swe'.split(' ');
const TABLES = [
  { language: 'deu', code: 'de' },
  { language: 'spa', code: 'es' },
] as const;
const STRESS = /\u0301/g;

const { deb, npm } = sources();
const meanings = meaningsByPivots(dictionaries(deb), ['deu', 'spa']);
for (const { language, code } of TABLES) {
  const aligned = alignedWords(translatedStrings(npm, code));
  writeTable(code, tableOf(byLowerCase(meanings.get(language)!), aligned, code));
}

function* dictionaries(deb: string): Generator<Dictionary> {
  for (const from of LANGUAGES)
    for (const to of LANGUAGES) {
      const entries = readDictionary(deb, from, to).flatMap((entry) => cleaned(entry, from, to));
      if (entries.length > 0) yield { from, to, entries };
    }
}

function cleaned(entry: Entry, from: string, to: string): Entry[] {
  const word = plain(entry.word, from);
  if (word === undefined) return [];
  return [{ ...entry, word, senses: entry.senses.map((sense) => sense.flatMap((text) => plain(text, to) ?? [])) }];
}

/** One way to write a word, so that dictionaries meet: no stress marks of Bulgarian and Russian, no particles of verbs. */
function plain(text: string, language: string): string | undefined {
  switch (language) {
    case 'eng':
      return cleanGloss(text);
    case 'bul':
    case 'rus':
      return text.normalize('NFD').replace(STRESS, '').normalize('NFC');
    case 'deu':
      return text.replace(/^sich /, '');
    default:
      return text;
  }
}

function byLowerCase(words: ReadonlyMap<string, Meanings>): Map<string, Map<string, number>> {
  const merged = new Map<string, Map<string, number>>();
  for (const [word, votes] of words) {
    const key = word.toLowerCase();
    if (!/^\p{Script=Latin}[\p{Script=Latin}'-]*\p{Script=Latin}$/u.test(key)) continue;
    const row = merged.get(key) ?? new Map<string, number>();
    for (const [english, vote] of votes) row.set(english, (row.get(english) ?? 0) + vote);
    merged.set(key, row);
  }
  return merged;
}

function tableOf(
  words: ReadonlyMap<string, Meanings>,
  aligned: ReadonlyMap<string, Aligned>,
  code: 'de' | 'es',
): Map<string, string> {
  const most = mostVotes(words.values());
  const table = new Map<string, string>();
  for (const word of new Set([...words.keys(), ...aligned.keys()])) {
    if (isFormOfAnother(word, words, code)) continue;
    const gloss = chooseGloss(word, withTechnicalSense(word, words.get(word) ?? new Map(), aligned.get(word)), most);
    if (gloss !== undefined) table.set(word, gloss);
  }
  if (code === 'es') addPlainVerbs(table);
  addIrregularForms(table, code);
  for (const [word, gloss] of handList(new URL(`${code}.hand.tsv`, import.meta.url))) {
    if (gloss === '') table.delete(word);
    else table.set(word, gloss);
  }
  return table;
}

/** "arrepentirse" for "arrepentir" too, the stem of its forms. */
function addPlainVerbs(table: Map<string, string>): void {
  for (const [word, gloss] of [...table]) {
    const verb = /^(\p{L}{2,}[aei]r)se$/u.exec(word)?.[1];
    if (verb !== undefined && !table.has(verb)) table.set(verb, gloss);
  }
}

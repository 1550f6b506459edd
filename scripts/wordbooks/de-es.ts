/**
 * Builds wordbooks/de.tsv.gz and wordbooks/es.tsv.gz (README.md says how to fetch what it reads).
 *
 *     npx tsx scripts/wordbooks/de-es.ts DEBIAN NPM
 */
import { existsSync } from 'node:fs';
import { type Aligned, alignedWords } from './aligned.ts';
import { chooseGloss, mostVotes, withTechnicalSense } from './choose.ts';
import { CLOSED_WORDS } from './closed.ts';
import { type Entry, readDictionary } from './dictd.ts';
import { isFormOfAnother } from './forms.ts';
import { addIrregularForms } from './irregular.ts';
import { type Dictionary, type Meanings, meaningsByPivots } from './pivot.ts';
import { translatedStrings } from './strings.ts';
import { cleanGloss, writeTable } from './table.ts';

/** ISO 639-3: English, the languages of the tables, those between. */
const LANGUAGES = 'eng deu spa bul ell fin fra ind ita jpn nld nor pol por rus swe'.split(' ');
const TABLES = [
  { language: 'deu', code: 'de' },
  { language: 'spa', code: 'es' },
] as const;
const STRESS = /\u0301/g;

const [debian, npm] = process.argv.slice(2);
if (debian === undefined || npm === undefined || !existsSync(debian) || !existsSync(npm))
  throw new Error('usage: de-es.ts DEBIAN NPM (folders, see README.md)');

const meanings = meaningsByPivots(dictionaries(debian), ['deu', 'spa']);
for (const { language, code } of TABLES) {
  const aligned = alignedWords(translatedStrings(npm, code));
  const table = tableOf(byLowerCase(meanings.get(language)!), aligned, code);
  const size = writeTable(`wordbooks/${code}.tsv.gz`, table);
  console.log(`${code}: ${table.size} words, ${size} bytes`);
}

function* dictionaries(folder: string): Generator<Dictionary> {
  for (const from of LANGUAGES)
    for (const to of LANGUAGES) {
      const entries = readDictionary(folder, from, to).flatMap((entry) => cleaned(entry, from, to));
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
  const { glosses, grammar } = CLOSED_WORDS[code];
  const most = mostVotes(words.values());
  const table = new Map<string, string>();
  for (const word of new Set([...words.keys(), ...aligned.keys()])) {
    if (isFormOfAnother(word, words, code)) continue;
    const gloss = chooseGloss(word, withTechnicalSense(word, words.get(word) ?? new Map(), aligned.get(word)), most);
    if (gloss !== undefined) table.set(word, gloss);
  }
  if (code === 'es') addPlainVerbs(table);
  addIrregularForms(table, code);
  for (const word of grammar) table.delete(word);
  for (const [word, gloss] of glosses) table.set(word, gloss);
  return table;
}

/** "arrepentirse" for "arrepentir" too, the stem of its forms. */
function addPlainVerbs(table: Map<string, string>): void {
  for (const [word, gloss] of [...table]) {
    const verb = /^(\p{L}{2,}[aei]r)se$/u.exec(word)?.[1];
    if (verb !== undefined && !table.has(verb)) table.set(verb, gloss);
  }
}

/** The word tables of wordbooks/, made by scripts/wordbooks from open dictionaries: a word in lower case, a tab, its gloss in English. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { Glosses } from './match.ts';

export type Wordbook = 'de' | 'es' | 'ja' | 'ko' | 'zh';

const FOLDER = new URL('../../../../wordbooks/', import.meta.url);
const read = new Map<Wordbook, Glosses>();

/** Read at the first use (50 to 200 ms, 10 to 20 MB) and kept. */
export function wordbook(language: Wordbook): Glosses {
  const known = read.get(language) ?? load(language);
  read.set(language, known);
  return known;
}

function load(language: Wordbook): Glosses {
  const lines = gunzipSync(readFileSync(new URL(`${language}.tsv.gz`, FOLDER)))
    .toString('utf8')
    .split('\n');
  return new Map(lines.filter((line) => line !== '').map((line) => line.split('\t') as [string, string]));
}

/** English words that Korean has most likely borrowed: those that Japanese has (EDICT's words in katakana), and names. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCedict } from '../common/cedict.ts';
import { readEdict } from '../common/edict.ts';
import type { Sources } from '../common/sources.ts';
import { transliterate } from './transliterate.ts';

const KATAKANA = /^[\p{Script=Katakana}ー]+$/u;
/** Shorter spellings of names and of less common words would be found in the middle of other words. */
const SHORTEST = 3;

/** Pairs of a spelling in Hangul and the English word, common words first. */
export function loanWords({ deb, npm }: Sources): [string, string][] {
  const sounds = readSounds(join(npm, 'cmu-pronouncing-dictionary/index.js'));
  const katakana = readEdict(join(deb, 'share/edict/edict')).filter(({ word, odd }) => KATAKANA.test(word) && !odd);
  const common = katakana.filter((entry) => entry.common).flatMap(({ first, next }) => [...first, ...next]);
  const rest = katakana.filter((entry) => !entry.common).flatMap(({ first }) => first);
  const names = readCedict()
    .flatMap(({ glosses }) => glosses)
    .filter((gloss) => /^\p{Lu}\p{Ll}+$/u.test(gloss));
  const spelt = (words: readonly string[], shortest: number) =>
    [...new Set(words)].flatMap((word) => {
      const lower = word.toLowerCase();
      const known = sounds.get(lower);
      const spellings = known === undefined ? [] : transliterate(lower, known);
      return spellings.filter((each) => each.length >= shortest).map((each): [string, string] => [each, word]);
    });
  return [...spelt(common, 2), ...spelt(rest, SHORTEST), ...spelt(names, SHORTEST)];
}

/** The module is one object of "word": "sounds" lines; it is read as text, for it is no dependency. */
function readSounds(file: string): Map<string, string> {
  const lines = readFileSync(file, 'utf8').matchAll(/^ {2}"?([a-z']+)"?: "([^"]+)"/gm);
  return new Map([...lines].map(([, word, sounds]) => [word!, sounds!]));
}

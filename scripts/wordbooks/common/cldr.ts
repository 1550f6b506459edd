/** Names of countries and languages from CLDR. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cleanGloss } from './gloss.ts';

/** Pairs "name in the language", "name in English", for codes that name a country or a region or a language. */
export function countryNames(npm: string, language: string): [string, string][] {
  return [...paired(npm, language, 'territories'), ...paired(npm, language, 'languages')];
}

function paired(npm: string, language: string, kind: 'territories' | 'languages'): [string, string][] {
  const read = (locale: string): Record<string, string> => {
    const file = join(npm, 'cldr-localenames-full/main', locale, `${kind}.json`);
    return JSON.parse(readFileSync(file, 'utf8')).main[locale].localeDisplayNames[kind];
  };
  const english = read('en');
  return Object.entries(read(language)).flatMap(([code, name]): [string, string][] => {
    const gloss = cleanGloss(english[code] ?? '');
    return gloss === undefined || /[\s(（・]|^\p{ASCII}+$/u.test(name) ? [] : [[name.normalize('NFC'), gloss]];
  });
}

/** Names of countries and languages from CLDR (npm cldr-localenames-full). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Pairs "name in the language", "name in English", for codes that name a country or a region or a language. */
export function countryNames(directory: string, language: string): [string, string][] {
  return [...aligned(directory, language, 'territories'), ...aligned(directory, language, 'languages')];
}

function aligned(directory: string, language: string, kind: 'territories' | 'languages'): [string, string][] {
  const read = (locale: string): Record<string, string> => {
    const file = join(directory, 'main', locale, `${kind}.json`);
    return JSON.parse(readFileSync(file, 'utf8')).main[locale].localeDisplayNames[kind];
  };
  const english = read('en');
  return Object.entries(read(language)).flatMap(([code, name]): [string, string][] => {
    const plain = english[code];
    const fits = plain !== undefined && !/[\s(（・]/.test(name) && plain.split(' ').length <= 3 && !plain.includes('(');
    return fits && !/^\p{ASCII}+$/u.test(name) ? [[name.normalize('NFC'), plain]] : [];
  });
}

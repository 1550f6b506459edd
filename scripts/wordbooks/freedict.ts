/** Reads a FreeDict dictionary from English (dictd format), reversed. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const JAPANESE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

/** Japanese word → the English headwords, in lower case, that it translates. `base`: path without .index and .dict.dz. */
export function readTranslations(base: string): Map<string, Set<string>> {
  const text = gunzipSync(readFileSync(`${base}.dict.dz`));
  const number = (digits: string) => [...digits].reduce((sum, digit) => sum * 64 + DIGITS.indexOf(digit), 0);
  const reversed = new Map<string, Set<string>>();
  for (const line of readFileSync(`${base}.index`, 'utf8').split('\n')) {
    const [headword, offset, length] = line.split('\t');
    if (headword === undefined || offset === undefined || length === undefined || headword.startsWith('00')) continue;
    const entry = text.subarray(number(offset), number(offset) + number(length)).toString('utf8');
    for (const word of translationsOf(entry)) {
      const opinions = reversed.get(word) ?? new Set();
      reversed.set(word, opinions.add(headword.toLowerCase()));
    }
  }
  return reversed;
}

/** Lines such as "2. 設定, 環境"; the others explain in English. */
function translationsOf(entry: string): string[] {
  return entry
    .split('\n')
    .slice(1)
    .filter((line) => JAPANESE.test(line))
    .flatMap((line) => line.replace(/^\s*\d+\.\s*/, '').split(/[,、;]\s*/))
    .map((word) =>
      word
        .replace(/\([^)]*\)/g, '')
        .trim()
        .normalize('NFC'),
    );
}

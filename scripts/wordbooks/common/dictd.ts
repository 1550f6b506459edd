/** Reads the dictionaries that FreeDict makes of WikDict in the format of dictd: a gzipped text and an index of where each entry begins. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

/** A headword with its translations, sense by sense, the first sense first. */
export interface Entry {
  readonly word: string;
  /** "n", "v", "adj", "pn" (a name), "suffix"…; '' where none is given. */
  readonly kind: string;
  readonly senses: readonly (readonly string[])[];
}

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Entries of the dictionary from one language to another (ISO 639-3), none where it is not among the packages. `deb`: their /usr. */
export function readDictionary(deb: string, from: string, to: string): Entry[] {
  const path = join(deb, 'share/dictd', `freedict-${from}-${to}`);
  if (!existsSync(`${path}.index`)) return [];
  const text = gunzipSync(readFileSync(`${path}.dict.dz`));
  if (!/WikDict/.test(text.subarray(0, 4_096).toString())) throw new Error(`${path} is not made of WikDict`);
  const places = new Map<number, number>();
  for (const line of readFileSync(`${path}.index`, 'utf8').split('\n')) {
    const [headword, start, length] = line.split('\t');
    if (start === undefined || length === undefined || headword!.startsWith('00database')) continue;
    places.set(number(start), number(length));
  }
  return [...places].map(([start, length]) => parse(text.subarray(start, start + length).toString()));
}

function number(digits: string): number {
  return [...digits].reduce((value, digit) => value * 64 + BASE64.indexOf(digit), 0);
}

/**
 * An entry is a line "word /sound/ <kind, gender>", then lines of translations, parted by commas, each followed by its definitions. With more than
 * one sense the lines of translations are numbered from 1. Definitions have numbers too, but not the next one of that count.
 */
function parse(entry: string): Entry {
  const [head = '', ...lines] = entry.normalize('NFC').trimEnd().split('\n');
  const word = head.replace(/ <[^<>]*>$/, '').replace(/ \/.*$/, '');
  const kind = / <([a-z]+)[^<>]*>$/.exec(head)?.[1] ?? '';
  const numbered: string[] = [];
  for (const line of lines) if (line.startsWith(`${numbered.length + 1}. `)) numbered.push(line.replace(/^\d+\. /, ''));
  const translations = lines[0]?.startsWith('1. ') ? numbered : lines.slice(0, 1);
  return { word: word.trim(), kind, senses: translations.map(parted) };
}

/** A number at the end belongs to the first definition. */
function parted(line: string): string[] {
  return line
    .replace(/ \d+\.$/, '')
    .split(', ')
    .map((translation) => translation.trim())
    .filter((translation) => translation !== '');
}

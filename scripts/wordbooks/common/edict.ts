/** Reads the files of EDRDG. EDICT has lines such as "設定 [せってい] /(n,vs) (1) establishment/creation/(n,vs) (2) (comp) configuration/setup/(P)/". */
import { cleanSense } from './gloss.ts';
import { linesOf } from './sources.ts';

export interface Entry {
  readonly word: string;
  /** In kana; undefined where the word is. */
  readonly reading: string | undefined;
  /** Marked "(P)". */
  readonly common: boolean;
  /** Parts of speech of the first sense, as EDICT writes them: "v5k", "adj-i" … */
  readonly pos: readonly string[];
  /** Usually written in kana. */
  readonly kana: boolean;
  /** Archaic, rare, vulgar or misspelt. */
  readonly odd: boolean;
  /** Glosses of the first sense that has any, in EDICT's order. */
  readonly first: readonly string[];
  /** Glosses of the next two senses. */
  readonly next: readonly string[];
}

const LINE = /^(\S+) (?:\[([^\]]+)\] )?\/(.*)\/$/;
const ODD = /\((arch|obs|obsc|rare|X|vulg|derog|io|ok|ik|iK|mahj|hanaf|dated|sl|joc|chn)\)/;
const POS = /^(?:\((?:oK|iK|ok|ik|io|ateji|gikun)\) )*\(([a-z0-9,-]+)\)/;

export function readEdict(file: string): Entry[] {
  return linesOf(file, 'euc-jp').flatMap((line) => {
    const entry = entryOf(line);
    return entry === undefined ? [] : [entry];
  });
}

function entryOf(line: string): Entry | undefined {
  const [, word, reading, body] = LINE.exec(line) ?? [];
  if (word === undefined || body === undefined) return undefined;
  const parts = body.split('/');
  const senses: string[][] = [];
  for (const part of parts.filter((each) => each !== '(P)')) {
    if (senses.length === 0 || /\([2-9]\)/.test(part)) senses.push([]);
    const gloss = cleanSense(part);
    if (gloss !== undefined) senses.at(-1)!.push(gloss);
  }
  const told = senses.filter((sense) => sense.length > 0);
  if (told.length === 0) return undefined;
  return {
    word: word.normalize('NFC'),
    reading: reading?.normalize('NFC'),
    common: parts.includes('(P)'),
    pos: (POS.exec(body)?.[1] ?? '').split(','),
    kana: parts[0]!.includes('(uk)'),
    odd: ODD.test(parts[0]!),
    first: told[0]!,
    next: told.slice(1, 3).flat(),
  };
}

/** KANJIDIC's first meaning of each kanji taught at school (grades 1 to 8): "亜 3021 U4e9c … G8 … {Asia} {rank next}". */
export function meaningsOfKanji(file: string): [string, string][] {
  return linesOf(file, 'euc-jp').flatMap((line): [string, string][] => {
    const gloss = / G[1-8] /.test(line) ? cleanSense(/\{([^}]+)\}/.exec(line)?.[1] ?? '') : undefined;
    return gloss === undefined ? [] : [[line[0]!, gloss]];
  });
}

/** Sino-Korean words: libhangul's list of words with their hanja, joined with a Japanese and a Chinese dictionary by these. */
import { join } from 'node:path';
import { glossesOf, readCedict } from '../common/cedict.ts';
import { type Entry, readEdict } from '../common/edict.ts';
import { linesOf } from '../common/sources.ts';

/** `trust`: how sure and how common; below 2 it is an odd word. */
export interface Candidate {
  readonly hangul: string;
  readonly gloss: string;
  readonly glosses: readonly string[];
  readonly trust: number;
}

/** North Korea's spelling, which keeps a ㄹ or ㄴ that the South drops: 로인 for 노인. */
const NORTHERN = /^([라-맇]|[냐-냫녀-녛뇨-뇽뉴-늏니-닣])/u;
const HANGUL = /^\p{Script=Hangul}{2,6}$/u;
const HAN = /^\p{Script=Han}+$/u;

/** The best candidate of each hangul word. `favoured`: the glosses that another source has for it, in lower case. */
export function sinoKorean(deb: string, favoured: (hangul: string) => ReadonlySet<string>): Map<string, Candidate> {
  const modern = modernForms(join(deb, 'share/edict/kanjidic'));
  const japanese = new Map<string, Entry>();
  for (const entry of readEdict(join(deb, 'share/edict/edict'))) {
    const key = modern(entry.word);
    if (HAN.test(key) && rank(entry) > rank(japanese.get(key))) japanese.set(key, entry);
  }
  const chinese = new Map(
    [...glossesOf(readCedict(), 'traditional')].map(([word, glosses]) => [modern(word), glosses]),
  );
  const parts = partCounts([...japanese.keys(), ...chinese.keys()]);
  const best = new Map<string, Candidate>();
  for (const line of linesOf(join(deb, 'share/libhangul/hanja/hanja.txt'))) {
    const [hangul, hanja] = line.normalize('NFC').split(':');
    if (
      hangul === undefined ||
      hanja === undefined ||
      !HANGUL.test(hangul) ||
      !HAN.test(hanja) ||
      NORTHERN.test(hangul)
    )
      continue;
    const key = modern(hanja);
    const candidate = judged(hangul, japanese.get(key), chinese.get(key) ?? [], parts.get(key) ?? 0, favoured(hangul));
    if (candidate !== undefined && candidate.trust > (best.get(hangul)?.trust ?? -1)) best.set(hangul, candidate);
  }
  return best;
}

function rank(entry: Entry | undefined): number {
  return entry === undefined ? 0 : 1 + (entry.common ? 2 : 0) - (entry.odd ? 0.5 : 0);
}

function judged(
  hangul: string,
  japanese: Entry | undefined,
  chinese: readonly string[],
  parts: number,
  favoured: ReadonlySet<string>,
): Candidate | undefined {
  const ofJapanese = japanese === undefined ? [] : [...japanese.first, ...japanese.next];
  const glosses = ofJapanese.length > 0 ? ofJapanese : chinese;
  if (glosses.length === 0) return undefined;
  const same = (gloss: string) => chinese.includes(gloss);
  const known = glosses.find((gloss) => favoured.has(gloss.toLowerCase()));
  const inBoth = ofJapanese.length > 0 && chinese.length > 0;
  const trust =
    Math.max(rank(japanese), chinese.length > 0 ? 1 : 0) +
    (inBoth ? 1 : 0) +
    (ofJapanese.some(same) ? 0.5 : 0) +
    (known ? 4 : 0) +
    Math.log2(1 + parts) / 2;
  return { hangul, gloss: known ?? ofJapanese.find(same) ?? glosses[0]!, glosses, trust };
}

/** In how many longer words each word is a part: 政府 in many, 情婦 in few, so the first is the more common. */
function partCounts(words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) {
    for (let from = 0; from < word.length; from++) {
      for (let to = from + 2; to <= word.length; to++) {
        const part = word.slice(from, to);
        if (part !== word) counts.set(part, (counts.get(part) ?? 0) + 1);
      }
    }
  }
  return counts;
}

/**
 * Maps each sign to the form that Japan teaches today (學 → 学, 辯 → 弁), by KANJIDIC's references to variants: "XJ0" and the JIS
 * code. All three lists are compared in these forms.
 */
function modernForms(file: string): (word: string) => string {
  const signs = linesOf(file, 'euc-jp').filter((line) => / U[0-9a-f]/.test(line));
  const byCode = new Map(signs.map((line) => [line.slice(2, 6).toUpperCase(), line[0]!]));
  const taught = new Set(signs.filter((line) => / G[1-9]0? /.test(line)).map((line) => line[0]!));
  const modern = new Map<string, string>();
  for (const line of signs) {
    const variants = [...line.matchAll(/ XJ0([0-9A-Fa-f]{4})/g)].flatMap(
      ([, code]) => byCode.get(code!.toUpperCase()) ?? [],
    );
    // Some entries name only the old form, some only the new one.
    for (const [old, form] of variants.flatMap((each) => [[line[0]!, each] as const, [each, line[0]!] as const])) {
      if (taught.has(form) && !taught.has(old)) modern.set(old, form);
    }
  }
  return (word) => [...word].map((sign) => modern.get(sign) ?? sign).join('');
}

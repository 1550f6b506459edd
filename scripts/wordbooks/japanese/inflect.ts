/** What a Japanese verb or adjective has in common in all its forms, as it can be matched without an analyser. */

/** The last sign of a stem before its endings, by the class of the verb in EDICT (書く: か き く け こ い). */
const ENDINGS: Readonly<Record<string, string>> = {
  v5k: 'かきくけこい',
  'v5k-s': 'かきくけこっ',
  v5g: 'がぎぐげごい',
  v5s: 'さしすせそ',
  v5t: 'たちつてとっ',
  v5n: 'なにぬねのん',
  v5b: 'ばびぶべぼん',
  v5m: 'まみむめもん',
  v5r: 'らりるれろっ',
  'v5r-i': 'らりるれろっ',
  v5aru: 'らりるれろっい',
  v5u: 'わいうえおっ',
  'v5u-s': 'わいうえお',
  'adj-i': 'いくかけさ',
  'vs-s': 'さしすせ',
  vz: 'ずじ',
};

/**
 * The stem and the stem with its first sign of each ending: 走る → 走, 走ら, 走り …; 食べる → 食べ. The stem alone can be another word
 * (話す "speak", 話 "story"); then the longer ones still match the verb. Empty for a word that has no forms.
 */
export function formsOf(word: string, pos: readonly string[]): { stem: string; forms: string[] } | undefined {
  if (pos.includes('v1') || pos.includes('v1-s')) return { stem: word.slice(0, -1), forms: [] };
  const ends = pos.map((each) => ENDINGS[each]).find((each) => each !== undefined);
  if (ends === undefined) return undefined;
  const stem = word.slice(0, /[すず]る$/.test(word) && (pos.includes('vs-s') || pos.includes('vz')) ? -2 : -1);
  return { stem, forms: [...ends].map((end) => stem + end) };
}

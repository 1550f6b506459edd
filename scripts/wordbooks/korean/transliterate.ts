/**
 * English words in Hangul, from their sounds (ARPAbet, as in the CMU Pronouncing Dictionary) by the rules for foreign words
 * (National Institute of Korean Language, 외래어 표기법, chapter 3.1). Vowels that the rules or the custom write in two ways, and a
 * last p, t or k, give several spellings.
 */

const INITIALS = [...'ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ'];
const VOWELS = [...'ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ'];
const FINALS = ['', ...'ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ'];

const CONSONANTS: Readonly<Record<string, string>> = Object.fromEntries(
  'P:ㅍ B:ㅂ T:ㅌ D:ㄷ K:ㅋ G:ㄱ F:ㅍ V:ㅂ TH:ㅅ DH:ㄷ S:ㅅ Z:ㅈ SH:ㅅ ZH:ㅈ CH:ㅊ JH:ㅈ HH:ㅎ M:ㅁ N:ㄴ NG:ㅇ L:ㄹ R:ㄹ'
    .split(' ')
    .map((pair) => pair.split(':') as [string, string]),
);
/** One vowel, or two of which the second stands in a syllable of its own. */
const SOUNDS: Readonly<Record<string, readonly string[]>> = {
  AA: ['ㅏ', 'ㅗ'],
  AE: ['ㅐ', 'ㅏ'],
  AO: ['ㅗ'],
  AW: ['ㅏㅜ'],
  AY: ['ㅏㅣ'],
  EH: ['ㅔ'],
  ER: ['ㅓ'],
  EY: ['ㅔㅣ'],
  IH: ['ㅣ'],
  IY: ['ㅣ'],
  OW: ['ㅗ'],
  OY: ['ㅗㅣ'],
  UH: ['ㅜ'],
  UW: ['ㅜ'],
};
/** AH without stress is written as the letter it stands for, or as ㅓ. */
const REDUCED = ['ㅓ', 'ㅏ', 'ㅣ', 'ㅗ', 'ㅔ'];
const AFTER_Y: Readonly<Record<string, string>> = {
  ㅏ: 'ㅑ',
  ㅐ: 'ㅒ',
  ㅓ: 'ㅕ',
  ㅔ: 'ㅖ',
  ㅗ: 'ㅛ',
  ㅜ: 'ㅠ',
  ㅣ: 'ㅣ',
};
const AFTER_W: Readonly<Record<string, string>> = {
  ㅏ: 'ㅘ',
  ㅐ: 'ㅙ',
  ㅓ: 'ㅝ',
  ㅔ: 'ㅞ',
  ㅗ: 'ㅝ',
  ㅜ: 'ㅜ',
  ㅣ: 'ㅟ',
};
const SHORT = /^(AA|AE|AH|EH|IH|UH)/;
const STOPS: Readonly<Record<string, string>> = { P: 'ㅂ', T: 'ㅅ', K: 'ㄱ' };
const SONORANTS: Readonly<Record<string, string>> = { M: 'ㅁ', N: 'ㄴ', NG: 'ㅇ', L: 'ㄹ' };
/** More spellings of one word are guesses. */
const MOST = 8;

const isVowel = (sound: string | undefined) => sound !== undefined && /\d$/.test(sound);
const syllable = (initial: string, vowel: string, final = '') =>
  String.fromCharCode(0xac00 + (INITIALS.indexOf(initial) * 21 + VOWELS.indexOf(vowel)) * 28 + FINALS.indexOf(final));
const closed = (text: string, final: string) =>
  text === '' || (text.charCodeAt(text.length - 1) - 0xac00) % 28 !== 0
    ? undefined
    : text.slice(0, -1) + String.fromCharCode(text.charCodeAt(text.length - 1) + FINALS.indexOf(final));

/** `sounds`: "K AH0 M P Y UW1 T ER0"; `word` is looked at for its letters. Gives 컴퓨터 and, as AH is reduced, 콤퓨터 … */
export function transliterate(word: string, sounds: string): string[] {
  const list = sounds.split(' ');
  const letters = REDUCED.filter(
    (vowel) => word.includes({ ㅓ: 'u', ㅏ: 'a', ㅣ: 'i', ㅗ: 'o', ㅔ: 'e' }[vowel]!) || vowel === 'ㅓ',
  );
  let spellings = [''];
  for (let at = 0; at < list.length; ) {
    const [step, taken] = stepAt(list, at, letters);
    spellings = [...new Set(spellings.flatMap((text) => step(text)))].slice(0, MOST);
    at += taken;
  }
  return spellings;
}

/** How the sounds from `at` on continue a spelling, and how many of them that takes. */
function stepAt(list: readonly string[], at: number, letters: readonly string[]): [(text: string) => string[], number] {
  const sound = list[at]!;
  if (isVowel(sound)) return [(text) => opened(text, 'ㅇ', '', sound, letters), 1];
  const next = list[at + 1];
  const glide = (sound === 'Y' || sound === 'W') && isVowel(next);
  if (glide) return [(text) => opened(text, 'ㅇ', sound, next!, letters), 2];
  const initial = CONSONANTS[sound];
  if (initial === undefined) return [(text) => [text], 1];
  if (sound === 'NG') return [(text) => [closed(text, 'ㅇ') ?? text], 1];
  const doubled = (text: string) => (sound === 'L' && text !== '' ? (closed(text, 'ㄹ') ?? text) : text);
  if (isVowel(next)) return [(text) => opened(doubled(text), initial, sound === 'SH' ? 'Y' : '', next!, letters), 2];
  const glided = (next === 'Y' || next === 'W') && isVowel(list[at + 2]);
  if (glided && (next === 'Y' || sound === 'K' || sound === 'G' || sound === 'HH')) {
    return [(text) => opened(doubled(text), initial, next!, list[at + 2]!, letters), 3];
  }
  return [(text) => ended(text, sound, list[at - 1], next), 1];
}

/** A consonant (ㅇ for none) and a vowel, with a glide between. */
function opened(text: string, initial: string, glide: string, sound: string, letters: readonly string[]): string[] {
  const name = sound.slice(0, -1);
  const reduced = name === 'AH' && sound.endsWith('0');
  const options =
    name === 'AH'
      ? reduced
        ? letters
        : ['ㅓ']
      : name === 'IH' && sound.endsWith('0')
        ? ['ㅣ', ...letters.filter((each) => each === 'ㅔ')]
        : SOUNDS[name]!;
  return options.map((option) => {
    const [vowel, second] = [...option];
    const glided = glide === 'Y' ? AFTER_Y[vowel!] : glide === 'W' ? AFTER_W[vowel!] : vowel;
    return text + syllable(initial, glided!) + (second === undefined ? '' : syllable('ㅇ', second));
  });
}

/** A consonant that no vowel follows: it closes the syllable, or takes ㅡ or ㅣ. An r is not written. */
function ended(text: string, sound: string, before: string | undefined, next: string | undefined): string[] {
  if (sound === 'R') return [text];
  const sonorant = SONORANTS[sound];
  if (sound === 'M' && before === 'L') return [`${text}름`];
  if (sonorant !== undefined) return [closed(text, sonorant) ?? text + syllable(CONSONANTS[sound]!, 'ㅡ')];
  const own = text + syllable(CONSONANTS[sound]!, /^(SH|CH|JH|ZH)$/.test(sound) ? 'ㅣ' : 'ㅡ');
  const stop = STOPS[sound];
  const short = before !== undefined && SHORT.test(before) && next !== 'L' && next !== 'R';
  const close = stop !== undefined && short ? closed(text, stop) : undefined;
  return close === undefined ? [own] : [close, own];
}

/**
 * Turns a text into the terms that the lexical arm stores and asks for. The same function serves memories and
 * questions; it takes no language, since most memories do not say theirs.
 *
 * Words that are not plain a to z stay as they are, and plain ones get the English stem in any language: the same word
 * still gives the same term. German or Spanish stemming gains little and harms statements, n-grams inside words harm.
 * A term never holds anything but letters, digits and marks, save for the
 * sign that sets Korean word stems apart.
 */
import porter2 from 'wink-porter2-stemmer';
import { STOP_WORDS } from './stopwords.ts';
import { compatibilityForm } from './unicode.ts';

/** Stored beside terms. Raise it whenever the same text would give other terms, so that old rows can be analysed anew. */
export const ANALYSER = 'en-porter2-cjk2@1';

export type Script = 'hangul' | 'kana' | 'han' | 'latin_or_other';

/** Code points; longer runs are keys, hashes or noise, and an index row is bounded. */
const MAX_TERM_LENGTH = 64;

/** About 2 MB when full; then it starts afresh. */
const MAX_REMEMBERED_STEMS = 20_000;

/** From 13 characters on V8 keeps a substring as a view of its whole text, which a remembered word would hold in memory. */
const MAX_REMEMBERED_LENGTH = 12;

/** No letter, so a stem of a word cannot be taken for a bigram. */
const WORD_MARK = '§';

const HANGUL = '\\p{Script=Hangul}';
/** ー belongs to no script, though it only stands between kana. */
const HAN_KANA = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}ー';
/** Scripts that put no space between words either. */
const UNSPACED = '\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}';

/**
 * A run never mixes CJK with other letters or digits: 2015年 is two runs. Gluing them costs 6 to 8 points of recall@5 in
 * Chinese and Japanese. Marks alone (the second half of some emoji) are no run.
 */
const RUNS = new RegExp(
  [
    `(?<hangul>[${HANGUL}]+)`,
    `(?<bigrams>[${HAN_KANA}]+|[${UNSPACED}]+)`,
    `(?<word>[[\\p{L}\\p{N}]--[${HANGUL}${HAN_KANA}${UNSPACED}]][[\\p{L}\\p{N}\\p{M}]--[${HANGUL}${HAN_KANA}${UNSPACED}]]*)`,
  ].join('|'),
  'gv',
);

const ENGLISH_LETTERS = /^[a-z]+$/;

/** The longest that fits is taken, hence the order by length. */
export const KOREAN_PARTICLES: readonly string[] = (
  '에서는 으로는 에서 에게 으로 이라는 라는 까지 부터 처럼 보다 하는 했던 했다 한다 하고 이다 ' +
  '은 는 이 가 을 를 의 에 와 과 도 로 만'
)
  .split(' ')
  .sort((a, b) => b.length - a.length);

/** The terms of a text in order, with repeats. Linear in the length of the text. */
export function analyse(text: string): string[] {
  const terms: string[] = [];
  for (const { groups } of compatibilityForm(text).toLowerCase().matchAll(RUNS)) {
    if (groups?.word !== undefined) pushWord(groups.word, terms);
    else if (groups?.bigrams !== undefined) pushBigrams(groups.bigrams, terms);
    else if (groups?.hangul !== undefined) pushKorean(groups.hangul, terms);
  }
  return terms;
}

/** How often each term occurs, in order of first occurrence. */
export function countTerms(terms: Iterable<string>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  return counts;
}

/**
 * Which writing decides how much the arms weigh. A single letter is enough, of Hangul, else of kana, else of Han: product names and
 * numbers in Latin letters are common in Korean, Japanese and Chinese, the reverse is not.
 */
export function scriptOf(text: string): Script {
  const normal = compatibilityForm(text);
  if (HAS_HANGUL.test(normal)) return 'hangul';
  if (HAS_KANA.test(normal)) return 'kana';
  return HAS_HAN.test(normal) ? 'han' : 'latin_or_other';
}

const HAS_HANGUL = new RegExp(`[${HANGUL}]`, 'u');
/** ー belongs to no script of its own. */
const HAS_KANA = /[\p{Script=Hiragana}\p{Script=Katakana}ー]/u;
const HAS_HAN = /\p{Script=Han}/u;

function pushWord(run: string, terms: string[]): void {
  const word = cut(run);
  if (STOP_WORDS.en.has(word)) return;
  terms.push(ENGLISH_LETTERS.test(word) ? stem(word) : word);
}

function pushBigrams(run: string, terms: string[]): void {
  let before: string | undefined;
  let pairs = 0;
  for (const character of run) {
    if (before !== undefined) {
      terms.push(before + character);
      pairs += 1;
    }
    before = character;
  }
  if (pairs === 0) terms.push(run);
}

/** Bigrams, and the word without its particle: recall@5 of BM25 +1.7. */
function pushKorean(run: string, terms: string[]): void {
  pushBigrams(run, terms);
  if (run.length === 1) return;
  const particle = KOREAN_PARTICLES.find((ending) => ending.length < run.length && run.endsWith(ending));
  terms.push(WORD_MARK + cut(particle === undefined ? run : run.slice(0, -particle.length)));
}

function cut(run: string): string {
  if (run.length <= MAX_TERM_LENGTH) return run;
  // a character has at most two units, so only this much needs to be taken apart
  return [...run.slice(0, 2 * MAX_TERM_LENGTH)].slice(0, MAX_TERM_LENGTH).join('');
}

const stems = new Map<string, string>();

function stem(word: string): string {
  if (word.length > MAX_REMEMBERED_LENGTH) return porter2(word);
  const known = stems.get(word);
  if (known !== undefined) return known;
  if (stems.size >= MAX_REMEMBERED_STEMS) stems.clear();
  const result = porter2(word);
  stems.set(word, result);
  return result;
}

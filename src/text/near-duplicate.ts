/**
 * Which memories say the same again, by words and not by vectors: to a vector "due on the 5th" and "due on the 6th" are
 * one. To lose a different fact is worse than to show one twice, so in doubt two texts are different.
 */
import porter2 from 'wink-porter2-stemmer';
import { type Language, languageOf } from './language.ts';
import { compatibilityForm } from './unicode.ts';
import { wordsOf } from './words.ts';

/** UTF-16 units; longer texts are duplicates only when they are equal, since taking them apart costs more than it saves. */
export const LONGEST_COMPARED = 4000;

const words = (list: string): ReadonlySet<string> => new Set(list.split(' '));

/**
 * Words that say nothing of a fact: articles, and the present of "to be". Nothing else: with and without "already", "this" or "small"
 * may be two facts, and so may "in" and "at".
 */
const IDLE_WORDS: Readonly<Record<Language, ReadonlySet<string>>> = {
  en: words('a an the is are there'),
  de: words('der die das dem den des ein eine einen einem einer eines ist sind'),
  es: words('el la los las un una unos unas es son está están'),
};

/** At the beginning these ask. */
const ASKING = words('is are ist sind es son está están');

/** Chinese for "a" (but not in 第一个 "the first" or 十一个 "eleven"), and for "just now", as in "is running". */
const IDLE_SIGNS = /一(?<![\p{N}十百千万亿零〇第]一)[个個只隻条條位名辆匹]|正在/gu;

/** Signs that carry meaning: C# and C, "is up?" and "is up", -5 and 5. */
const TELLING_SIGNS = /\p{S}|[#%&@*\\/?]|!(?==)|-(?=\p{N})/gu;

/** A text taken apart once, to be compared with many. */
export interface Profile {
  readonly text: string;
  /** In lower case, in order, without idle words. */
  readonly words: readonly string[];
  readonly signs: string;
}

/**
 * Whether two texts say the same: apart from idle words, case and punctuation, the same words in the same order. So a word that is
 * replaced or added is never a duplicate: it is how a fact changes. Only the English "is running" is "runs".
 */
export function nearDuplicate(a: string, b: string): boolean {
  return a === b || sameProfile(toProfile(a), toProfile(b));
}

export function toProfile(text: string): Profile {
  if (text.length > LONGEST_COMPARED) return { text, words: [], signs: '' };
  const form = compatibilityForm(text);
  const written = wordsOf(form.replace(IDLE_SIGNS, ''));
  const lower = written.map((word) => word.toLowerCase());
  const idle = IDLE_WORDS[languageOf(lower)];
  // Los Angeles, El Paso, vitamin A: a capital inside a text is a name's, unless all are capitals
  const names = form !== form.toUpperCase();
  const says = (word: string, at: number) =>
    !idle.has(word) || (at === 0 ? ASKING.has(word) : names && word !== written[at]);
  return { text, words: lower.filter(says), signs: (form.match(TELLING_SIGNS) ?? []).join('') };
}

/** `nearDuplicate` of two texts that were taken apart. */
export function sameProfile(a: Profile, b: Profile): boolean {
  if (a.text === b.text) return true;
  if (a.words.length === 0 || a.words.length !== b.words.length || a.signs !== b.signs) return false;
  return a.words.every((word, at) => sameWord(word, b.words[at]!));
}

/** Equal, or one is the "-ing" of the other. Others with one stem are two words: "cat" and "cats", "crashes" and "crashed". */
function sameWord(word: string, other: string): boolean {
  if (word === other) return true;
  if (!(ING.test(word) || ING.test(other)) || PAST.test(word) || PAST.test(other)) return false;
  return word[0] === other[0] && porter2(word) === porter2(other);
}

/** "sing" and "king" have none. */
const ING = /^[a-z]*[aeiouy][a-z]*ing$/;
const PAST = /ed$/;

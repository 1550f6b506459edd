/**
 * Which memories say the same again, by words and not by vectors: to a vector "due on the 5th" and "due on the 6th" are
 * one. To lose a different fact is worse than to show one twice, so in doubt two texts are different.
 */
import { compatibilityForm } from './unicode.ts';

/** Share of words in common (Jaccard, counted with repeats). */
const SAME_WORDS = 0.9;

/** Words; shorter texts hold too little to differ in, and are duplicates only when their words are equal. */
const SHORT_TEXT = 3;

/** UTF-16 units; longer texts are duplicates only when they are equal, since taking them apart costs more than it saves. */
const LONGEST_COMPARED = 4000;

/** Words that turn a fact around, narrow it or set it in another time. A text that has one more is another fact. */
const TURNING_WORDS = new Set(
  `not no never none nor neither nothing nobody without cannot only except unless until if but before after since almost
  hardly rarely seldom maybe perhaps probably possibly should would could may might must former formerly previously
  once again more less most least all every both some any few too on off in out up down over under yes true false
  nicht kein keine keinen keinem keiner keines nie niemals nichts niemand ohne weder noch nur außer wenn bis vor nach
  vielleicht kaum fast mehr weniger alle immer wieder nunca jamás sin ni tampoco nada nadie ningún ninguna ninguno solo
  sólo salvo si hasta antes después quizás casi más menos siempre ne pas jamais sans aucun aucune rien personne non
  mai senza não nem sem нет не ни без никогда только لا لم لن ليس غير بدون ما`.split(/\s+/u),
);

/** Negations inside words or texts without spaces, and signs that carry meaning (C# and C, "is up?" and "is up"). */
const TURNING_SIGNS =
  /[不没沒無无非未別别勿莫안않못없]|아니|말고|ない|なか|なく|ません|ず|ぬ|ไม่|\p{S}|[#%&@*\\/?]|!(?==)|-(?=\p{N})/gu;

const SCRIPTS = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}ー';
/** Han and kana count sign by sign. */
const WORDS = new RegExp(
  `[${SCRIPTS}]|[[\\p{L}\\p{N}\\p{M}]--[${SCRIPTS}]]+(?:['’][[\\p{L}\\p{M}]--[${SCRIPTS}]]+)*`,
  'gv',
);

/** A text taken apart once, to be compared with many. */
export interface Profile {
  readonly text: string;
  /** In lower case, in order. */
  readonly words: readonly string[];
  /** The same words as they are written. */
  readonly written: readonly string[];
  readonly signs: string;
}

/**
 * Whether two texts say the same: one holds all words of the other in the same order, at most a tenth more, and none of
 * those is a fact of its own: a number, a name or German noun (written with a capital), a Han sign, a negation or
 * another word that turns a statement. So a replaced word is never a duplicate: it is how a fact changes.
 */
export function nearDuplicate(a: string, b: string): boolean {
  return a === b || sameProfile(toProfile(a), toProfile(b));
}

export function toProfile(text: string): Profile {
  if (text.length > LONGEST_COMPARED) return { text, words: [], written: [], signs: '' };
  const form = compatibilityForm(text);
  const written = form.match(WORDS) ?? [];
  return {
    text,
    written,
    words: written.map((word) => word.toLowerCase()),
    signs: (form.match(TURNING_SIGNS) ?? []).join(''),
  };
}

/** `nearDuplicate` of two texts that were taken apart. */
export function sameProfile(a: Profile, b: Profile): boolean {
  if (a.text === b.text) return true;
  const [short, long] = a.words.length <= b.words.length ? [a, b] : [b, a];
  if (short.words.length === 0 || short.words.length < SAME_WORDS * long.words.length || a.signs !== b.signs)
    return false;
  if (short.words.length <= SHORT_TEXT && short.words.length < long.words.length) return false;
  return holdsInOrder(short, long);
}

/** Ends at the first word of `long` that is neither the next of `short` nor one that may be added: at once for most pairs. */
function holdsInOrder(short: Profile, long: Profile): boolean {
  let next = 0;
  for (const [at, word] of long.words.entries()) {
    if (word === short.words[next]) next++;
    else if (isFact(word, long.written[at] ?? word)) return false;
  }
  return next === short.words.length;
}

function isFact(word: string, written: string): boolean {
  return written !== word || TURNING_WORDS.has(word) || /\p{N}|\p{Script=Han}|n['’]t$/u.test(word);
}

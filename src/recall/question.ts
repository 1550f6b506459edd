/** What a question says about itself, before anything is looked up: its words, writing, times, and whether it asks about the present. */
import { analyse, scriptOf } from '../text/analyse.ts';
import { type TimeRange, timeRanges } from '../text/dates.ts';
import { type Language, languageOf, type Tongue, tongueOf } from '../text/language.ts';
import { type Sought, soughtBy } from '../text/sought.ts';
import { STOP_WORDS } from '../text/stopwords.ts';

/**
 * What the weights of the arms depend on: an English model knows little of other languages, and next to nothing of other writings. `glossed`:
 * in Latin letters, and read in English.
 */
export type Writing = 'english' | 'glossed' | 'other' | 'hangul' | 'kana' | 'han';

export interface Question {
  readonly text: string;
  /** Distinct terms, in order of first occurrence. */
  readonly terms: readonly string[];
  /** Further terms, of the question in English: they find what is written in English. */
  readonly glossTerms: readonly string[];
  readonly writing: Writing;
  /** What its terms are in. */
  readonly tongues: readonly Tongue[];
  readonly ranges: readonly TimeRange[];
  /** The kind of thing that it asks for. */
  readonly sought: Sought | undefined;
  /** In the first person and about now: the newest of two versions of a fact is meant. */
  readonly aboutPresent: boolean;
}

/** What can be told without the memories. `gloss` is the question in English, if it is not. */
export function readQuestion(text: string, gloss?: string): Omit<Question, 'ranges'> {
  const language = languageOf(text.toLowerCase().match(/[\p{L}\p{M}]+/gu) ?? []);
  // Statements are another matter: there small words help to find the same statement again (Spanish recall@10 97 against 94).
  const asks = language !== 'en' && /[?¿]/.test(text);
  const words = asks ? withoutStopWords(text, STOP_WORDS[language]) : text;
  const terms = new Set(analyse(words));
  return {
    text,
    terms: [...terms],
    glossTerms: [...new Set(analyse(gloss ?? ''))].filter((term) => !terms.has(term)),
    writing: writingOf(text, language, gloss !== undefined),
    tongues: gloss === undefined ? [tongueOf(text)] : [tongueOf(text), 'en'],
    sought: soughtBy(gloss ?? text),
    aboutPresent: PRESENT.test(text) && FIRST_PERSON.test(text) && !PAST.test(text),
  };
}

function writingOf(text: string, language: Language, glossed: boolean): Writing {
  const script = scriptOf(text);
  if (script !== 'latin_or_other') return script;
  if (glossed) return 'glossed';
  return language === 'en' && /\p{Script=Latin}|^\P{L}*$/u.test(text) ? 'english' : 'other';
}

/** The analyser drops English ones; memories keep theirs, so that a question in another language asks for what carries meaning. */
function withoutStopWords(text: string, stopWords: ReadonlySet<string>): string {
  return text.replace(/[\p{L}\p{M}]+/gu, (word) => (stopWords.has(word.toLowerCase()) ? ' ' : word));
}

/** `askedAt` is what relative times ("last week") are counted from. */
export function withTimes(question: Omit<Question, 'ranges'>, askedAt: Date | undefined): Question {
  return { ...question, ranges: timeRanges(question.text, askedAt?.getTime()) };
}

const PRESENT =
  /\b(is|are|am|do|does|have|has|current|currently|still|now|nowadays|latest|recent|recently|these days)\b/i;
const PAST =
  /\b(did|was|were|had|when|first|previous|previously|before|ago|earlier|used to|originally|initially|last time)\b/i;
const FIRST_PERSON = /\b(i|i'm|i've|me|my|mine|we|our|ours|us)\b/i;

/** What a question says about itself, before anything is looked up: its words, writing, times, and whether it asks about the present. */
import { analyse, type Script, scriptOf } from '../text/analyse.ts';
import { type TimeRange, timeRanges } from '../text/dates.ts';

export interface Question {
  readonly text: string;
  /** Distinct terms, in order of first occurrence. */
  readonly terms: readonly string[];
  readonly script: Script;
  readonly ranges: readonly TimeRange[];
  /** In the first person and about now: the newest of two versions of a fact is meant. */
  readonly aboutPresent: boolean;
}

export function readQuestion(text: string): Omit<Question, 'ranges'> {
  return {
    text,
    terms: [...new Set(analyse(text))],
    script: scriptOf(text),
    aboutPresent: PRESENT.test(text) && FIRST_PERSON.test(text) && !PAST.test(text),
  };
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

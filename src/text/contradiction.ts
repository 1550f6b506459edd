/**
 * Whether two statements about one subject cannot both hold. Rules on words, and modest: both must be the same sentence but for one place,
 * and that place must be a negation, a date or number, or the end of the sentence. Two statements in quite other words are not compared.
 */
import { toProfile } from './near-duplicate.ts';

export const CONTRADICTIONS = ['negation', 'date', 'number', 'value'] as const;
export type Contradiction = (typeof CONTRADICTIONS)[number];

/** Words that stand before the place that differs: what is said of something else is no contradiction. */
const SUBJECT_WORDS = 3;
/** Share of the longer text that both hold. */
const SAME_FRAME = 0.6;
/** Words of the place that differs. */
const MOST_DIFFERENT = 3;

const NEGATIONS = new Set(
  "not no never none without cannot don't doesn't didn't isn't aren't wasn't weren't won't can't nicht kein keine keinen nie niemals nunca jamás sin não nem ne pas jamais sans non mai senza нет не никогда 不 没 沒 無 无 未 非 안 못".split(
    ' ',
  ),
);

const MONTH_OR_DAY =
  /^(jan|feb|mar|apr|may|jun|jul|aug|sep|sept|oct|nov|dec|january|february|march|april|june|july|august|september|october|november|december|mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?|januar|februar|märz|mai|juni|juli|oktober|dezember|montags?|dienstags?|mittwochs?|donnerstags?|freitags?|samstags?|sonntags?|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|lunes|martes|miércoles|jueves|viernes|sábados?|domingos?|today|tomorrow|yesterday|月|日)$/;

export function contradiction(a: string, b: string): Contradiction | undefined {
  if (asks(a) || asks(b)) return undefined;
  const [x, y] = [toProfile(a).words, toProfile(b).words];
  const shorter = Math.min(x.length, y.length);
  let before = 0;
  while (before < shorter && x[before] === y[before]) before++;
  let after = 0;
  while (after < shorter - before && x.at(-1 - after) === y.at(-1 - after)) after++;
  if (before + after < Math.max(SUBJECT_WORDS, SAME_FRAME * Math.max(x.length, y.length))) return undefined;
  const negated = [...x, ...y].some((word) => NEGATIONS.has(word) || /n['’]t$/.test(word));
  return judge(x.slice(before, x.length - after), y.slice(before, y.length - after), before, after, negated);
}

/** `one` and `other` stand in the same place, behind `before` common words and ahead of `after`. */
function judge(
  one: readonly string[],
  other: readonly string[],
  before: number,
  after: number,
  negated: boolean,
): Contradiction | undefined {
  if (Math.max(one.length, other.length) > MOST_DIFFERENT || one.length + other.length === 0) return undefined;
  if (negates(one, other) || negates(other, one)) return 'negation';
  // Not in Lisbon, in Porto, not in Porto: only two that affirm exclude each other.
  if (one.length === 0 || other.length === 0 || before < SUBJECT_WORDS) return undefined;
  if (negated) return undefined;
  if ([one, other].every((words) => words.some((word) => MONTH_OR_DAY.test(word)))) return 'date';
  if ([one, other].every((words) => words.every((word) => /\p{N}/u.test(word)))) return 'number';
  return after === 0 ? 'value' : undefined;
}

/** `one` is `other` and a negation more: "runs not" and "runs", "isn't" and "is". */
function negates(one: readonly string[], other: readonly string[]): boolean {
  const rest = one.filter((word) => !NEGATIONS.has(word));
  if (rest.length === one.length) return false;
  const stems = one.flatMap((word) => /^(.+)n['’]t$/.exec(word)?.[1] ?? []);
  return rest.join(' ') === other.join(' ') || [...stems, ...rest].join(' ') === other.join(' ');
}

const asks = (text: string): boolean => /[?？؟]\s*$/.test(text);

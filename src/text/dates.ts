/**
 * The time ranges that a question names, and how near a memory's time is to them.
 *
 * Absolute dates by own rules (English, German, Spanish months; ISO; Chinese, Japanese and Korean numbers), since they
 * need no clock and give the same answer every day. Relative ones ("two weeks ago") by chrono-node, in English, and only
 * when the caller says when the question was asked. All times are milliseconds of UTC; no local time zone plays a part.
 *
 * Not a filter: a range lifts memories, it hides none. So a rule may take too much, and none tries to be clever.
 */
import { type ParsedResult, parse } from 'chrono-node/en';
import { compatibilityForm } from './unicode.ts';

/** From (inclusive) to (exclusive), or a month (1 to 12) or a day of it in any year. */
export type TimeRange =
  | { readonly from: number; readonly to: number }
  | { readonly month: number; readonly day?: number };

const DAY_MS = 86_400_000;

/** Times stand in the question itself; chrono-node is slow on whole documents. */
const MAX_QUESTION_LENGTH = 500;

/** Events are told afterwards far more often than before, so the time before a range counts less. */
const DECAY_DAYS_AFTER = 10;
const DECAY_DAYS_BEFORE = 5;

/** How many days a relative time may be off, by the coarsest unit that it names. */
const SLACK_DAYS: readonly (readonly [unit: RegExp, days: number])[] = [
  [/year/i, 30],
  [/month/i, 12],
  [/week/i, 4],
];
const SLACK_DAYS_OTHERWISE = 1.5;

const ENGLISH_MONTHS = [
  'january jan',
  'february feb',
  'march mar',
  'april apr',
  'may',
  'june jun',
  'july jul',
  'august aug',
  'september sept sep',
  'october oct',
  'november nov',
  'december dec',
];
const GERMAN_MONTHS = [
  'januar jänner',
  'februar',
  'märz',
  'april',
  'mai',
  'juni',
  'juli',
  'august',
  'september',
  'oktober okt',
  'november',
  'dezember dez',
];
const SPANISH_MONTHS = [
  'enero',
  'febrero',
  'marzo',
  'abril',
  'mayo',
  'junio',
  'julio',
  'agosto',
  'septiembre setiembre',
  'octubre',
  'noviembre',
  'diciembre',
];

const MONTH_NUMBERS: ReadonlyMap<string, number> = new Map(
  [ENGLISH_MONTHS, GERMAN_MONTHS, SPANISH_MONTHS].flatMap((months) =>
    months.flatMap((names, index) => names.split(' ').map((name): [string, number] => [name, index + 1])),
  ),
);

/** One of the names as a whole word, captured. */
const oneOf = (names: Iterable<string>) => `(${[...names].sort((a, b) => b.length - a.length).join('|')})(?!\\p{L})`;
const namesOf = (months: readonly string[]) => oneOf(months.flatMap((names) => names.split(' ')));
const START = '(?<![\\p{L}\\p{N}])';
const MONTH = oneOf(MONTH_NUMBERS.keys());
const YEAR = '(\\d{4})(?![\\p{L}\\d])';

type Rule = readonly [pattern: RegExp, toRange: (parts: readonly string[]) => TimeRange | null];

const rule = (pattern: string, toRange: Rule[1]): Rule => [new RegExp(pattern, 'giu'), toRange];

/** The most exact come first: what a rule has taken, no later one sees. */
const RULES: readonly Rule[] = [
  // 2023-05-08, 2023/5/8
  rule(`${START}(\\d{4})([-/])(\\d{1,2})\\2(\\d{1,2})(?!\\d)`, ([y, , m, d]) => dated(Number(y), Number(m), Number(d))),
  // 2023-05
  rule(`${START}(\\d{4})-(\\d{2})(?![\\d-])`, ([y, m]) => dated(Number(y), Number(m))),
  // 8.5.2023
  rule(`${START}(\\d{1,2})\\.\\s?(\\d{1,2})\\.\\s?${YEAR}`, ([d, m, y]) => dated(Number(y), Number(m), Number(d))),
  // 2023年5月8日, 2023년 5월, 2023年
  rule('(?<!\\d)(\\d{4})\\s?[年년](?:\\s?(\\d{1,2})\\s?[月월](?:\\s?(\\d{1,2})\\s?[日号號일])?)?', ([y, m, d]) =>
    dated(Number(y), optional(m), optional(d)),
  ),
  // 5月8日, 5월
  rule('(?<!\\d)(\\d{1,2})\\s?[月월](?:\\s?(\\d{1,2})\\s?[日号號일])?', ([m, d]) => yearless(Number(m), optional(d))),
  // 8 May 2023, 8th of May, 8. Mai 2023, 8 de mayo de 2023
  rule(
    `${START}(\\d{1,2})(?:\\.\\s*|(?:st|nd|rd|th)?,?\\s+(?:(?:of|de)\\s+)?)${MONTH}(?:\\.?,?\\s+(?:del?\\s+)?${YEAR})?`,
    ([d, month, y]) => dayOf(month, d, y),
  ),
  // May 8th, 2023
  rule(`${START}${MONTH}\\.?\\s+(\\d{1,2})(?:st|nd|rd|th)?(?![\\p{L}\\d])(?:,?\\s+${YEAR})?`, ([month, d, y]) =>
    dayOf(month, d, y),
  ),
  // May 2023, mayo de 2023
  rule(`${START}${MONTH}\\.?,?\\s+(?:(?:of|del?)\\s+)?${YEAR}`, ([month, y]) => dated(Number(y), monthNumber(month))),
  // "this may" is hardly ever the month, "march" and "may" alone never safely
  rule(
    `${START}(?:in|during|since|until|of|last|early|late|mid|this(?!\\s+may))\\s+${namesOf(ENGLISH_MONTHS)}`,
    ([month]) => yearless(monthNumber(month)),
  ),
  rule(`${START}(?:im|seit|bis|ab|anfang|mitte|ende|letzten|diesen)\\s+${namesOf(GERMAN_MONTHS)}`, ([month]) =>
    yearless(monthNumber(month)),
  ),
  rule(`${START}(?:en|de|desde|hasta|durante)\\s+${namesOf(SPANISH_MONTHS)}`, ([month]) =>
    yearless(monthNumber(month)),
  ),
  // in 2022, im Jahr 2022, en 2022
  rule(`${START}(?:in|during|of|since|jahre?s?|seit|en|desde|durante|año)\\s+((?:19|20)\\d\\d)(?![\\p{L}\\d])`, ([y]) =>
    dated(Number(y)),
  ),
];

/**
 * The ranges in the first 500 characters of a question. `askedAt` (ms) is what relative times count from; without it
 * only absolute ones are found.
 */
export function timeRanges(question: string, askedAt?: number): TimeRange[] {
  const ranges: TimeRange[] = [];
  let rest = compatibilityForm(question.slice(0, MAX_QUESTION_LENGTH)).slice(0, MAX_QUESTION_LENGTH);
  for (const [pattern, toRange] of RULES) {
    rest = rest.replace(pattern, (found: string, ...parts: string[]) => {
      const range = toRange(parts);
      if (range === null) return found;
      ranges.push(range);
      return ' ';
    });
  }
  if (askedAt !== undefined) ranges.push(...relativeRanges(rest, askedAt));
  return ranges;
}

/** How near a time is to the nearest range: 1 inside, e^(-days/10) after it, e^(-days/5) before it; 0 without ranges. */
export function nearness(ranges: readonly TimeRange[], time: number): number {
  return ranges.reduce((nearest, range) => Math.max(nearest, nearnessTo(range, time)), 0);
}

function nearnessTo(range: TimeRange, time: number): number {
  if ('month' in range) {
    const date = new Date(time);
    const sameMonth = date.getUTCMonth() + 1 === range.month;
    return sameMonth && (range.day === undefined || date.getUTCDate() === range.day) ? 1 : 0;
  }
  if (time < range.from) return Math.exp(-(range.from - time) / DAY_MS / DECAY_DAYS_BEFORE);
  if (time >= range.to) return Math.exp(-(time - range.to) / DAY_MS / DECAY_DAYS_AFTER);
  return 1;
}

function relativeRanges(text: string, askedAt: number): TimeRange[] {
  return parse(text, { instant: new Date(askedAt), timezone: 0 })
    .filter((found) => !isPresentOrClockTime(found))
    .map((found) => relativeRange(found, askedAt));
}

/** "now" and "at 5" say nothing about when something was. */
function isPresentOrClockTime({ text, start }: ParsedResult): boolean {
  const dateNamed = (['weekday', 'day', 'month', 'year'] as const).some((part) => start.isCertain(part));
  return /^(now|today|currently)$/i.test(text) || (start.isCertain('hour') && !dateNamed);
}

function relativeRange({ text, start, end }: ParsedResult, askedAt: number): TimeRange {
  const from = start.date().getTime();
  if (end) return { from, to: end.date().getTime() + DAY_MS };
  const slack = (SLACK_DAYS.find(([unit]) => unit.test(text))?.[1] ?? SLACK_DAYS_OTHERWISE) * DAY_MS;
  const untilNow = /^(last|past)/i.test(text) && !/ago/i.test(text);
  return { from: from - slack, to: untilNow ? askedAt : from + slack };
}

function monthNumber(name: string | undefined): number {
  return MONTH_NUMBERS.get((name ?? '').toLowerCase()) ?? Number.NaN;
}

function optional(digits: string | undefined): number | undefined {
  return digits === undefined ? undefined : Number(digits);
}

function dayOf(month: string | undefined, day: string | undefined, year: string | undefined): TimeRange | null {
  return year === undefined
    ? yearless(monthNumber(month), Number(day))
    : dated(Number(year), monthNumber(month), Number(day));
}

/** A year, a month of it, or a day; null when there is no such date. */
function dated(year: number, month?: number, day?: number): TimeRange | null {
  if (year < 1000) return null;
  if (month === undefined) return { from: Date.UTC(year, 0, 1), to: Date.UTC(year + 1, 0, 1) };
  if (!exists(year, month, day ?? 1)) return null;
  const from = Date.UTC(year, month - 1, day ?? 1);
  return { from, to: day === undefined ? Date.UTC(year, month, 1) : from + DAY_MS };
}

function yearless(month: number, day?: number): TimeRange | null {
  const leapYear = 2024;
  if (!exists(leapYear, month, day ?? 1)) return null;
  return day === undefined ? { month } : { month, day };
}

function exists(year: number, month: number, day: number): boolean {
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() + 1 === month && date.getUTCDate() === day;
}

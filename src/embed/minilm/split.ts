/**
 * Cuts a text into spans that fit a model's window. Pure, and linear in the length of the text as long as `count` is.
 *
 * The text becomes atoms (sentences, or small runs of words where a sentence is too long; words and grapheme clusters
 * are cut only where one alone is too long). Spans are filled with atoms from left to right, and each ends at the
 * strongest border of its second half: between paragraphs rather than sentences, between sentences rather than words.
 */
import type { Span } from '../embedder.ts';
import {
  blankBorders,
  clusterBorders,
  codePointBorders,
  type FindBorders,
  isClusterBorder,
  lineBorders,
  sentenceBorders,
  wordBorders,
} from './borders.ts';

type Count = (text: string) => number;

/** How well a span may end behind an atom. */
const Strength = { word: 1, sentence: 2, paragraph: 3 } as const;
type Strength = (typeof Strength)[keyof typeof Strength];

interface Atom extends Span {
  readonly cost: number;
  strength: Strength;
}

interface Limits {
  readonly tokens: number;
  /** Bounds spans that cost next to nothing: a model counts one unknown token for a word of any length. */
  readonly characters: number;
  /** Runs of words inside a sentence that is too long: small, so that a span can be filled well. */
  readonly run: number;
}

const CHARACTERS_PER_TOKEN = 16;
const RUNS_PER_SPAN = 8;
/** More parts than the average asks for, because most of those at the average would have to be cut again. */
const SPARE_PARTS = 1.25;
const NOT_BLANK = /\S/;
const BELOW_SENTENCE: readonly FindBorders[] = [blankBorders, wordBorders, clusterBorders, codePointBorders];

/** What a range costs and how many runs it seems to hold; a range that is too long anyway is not counted. */
function measure(text: string, start: number, end: number, limits: Limits, count: Count) {
  const length = end - start;
  const cost = length > limits.characters ? Number.POSITIVE_INFINITY : count(text.slice(start, end));
  return { cost, parts: cost === Number.POSITIVE_INFINITY ? length / limits.characters : cost / limits.run };
}

/** Cuts a sentence that is too long into runs, each on the coarsest level that does. */
function cutSentence(text: string, sentence: Span, limits: Limits, count: Count): Atom[] {
  const runs: Atom[] = [];

  function cutUnit(start: number, end: number, level: number): void {
    const borders = BELOW_SENTENCE[level]!(text, start, end);
    cutRange([start, ...borders], 0, borders.length, level);
  }

  /** The range from one border to another, whole if it fits, else in as many parts as it seems to need. */
  function cutRange(borders: readonly number[], first: number, last: number, level: number): void {
    const [start, end] = [borders[first]!, borders[last]!];
    const units = last - first;
    const { cost, parts } = measure(text, start, end, limits, count);
    if (cost <= limits.run || (units === 1 && (cost <= limits.tokens || level === BELOW_SENTENCE.length - 1))) {
      runs.push({ start, end, cost, strength: Strength.word });
    } else if (units === 1) {
      cutUnit(start, end, level + 1);
    } else {
      const step = Math.max(1, Math.floor(units / Math.ceil(parts * SPARE_PARTS)));
      for (let from = first; from < last; from += step) cutRange(borders, from, Math.min(last, from + step), level);
    }
  }

  cutUnit(sentence.start, sentence.end, 0);
  return runs;
}

function toSpans(start: number, borders: readonly number[]): Span[] {
  return borders.map((end, i) => ({ start: i === 0 ? start : borders[i - 1]!, end }));
}

function toAtoms(text: string, limits: Limits, count: Count): Atom[] {
  const atoms: Atom[] = [];
  for (const line of toSpans(0, lineBorders(text, 0, text.length))) {
    if (!NOT_BLANK.test(text.slice(line.start, line.end))) {
      const last = atoms.at(-1);
      if (last) last.strength = Strength.paragraph;
      continue;
    }
    for (const sentence of toSpans(line.start, sentenceBorders(text, line.start, line.end))) {
      const { cost } = measure(text, sentence.start, sentence.end, limits, count);
      if (cost <= limits.tokens) atoms.push({ ...sentence, cost, strength: Strength.sentence });
      else {
        for (const run of cutSentence(text, sentence, limits, count)) atoms.push(run);
        atoms.at(-1)!.strength = Strength.sentence;
      }
    }
  }
  return atoms;
}

/** Index behind the last atom that still fits into a span that begins with `first`; one atom always does. */
function fill(atoms: readonly Atom[], first: number, limits: Limits): number {
  let cost = atoms[first]!.cost;
  let next = first + 1;
  for (; next < atoms.length; next++) {
    cost += atoms[next]!.cost;
    if (cost > limits.tokens || atoms[next]!.end - atoms[first]!.start > limits.characters) break;
  }
  return next;
}

/** Steps back to the strongest border, as long as the span stays half full. */
function atStrongestBorder(atoms: readonly Atom[], first: number, next: number): number {
  const total = atoms.slice(first, next).reduce((sum, atom) => sum + atom.cost, 0);
  let best = next;
  let cost = total;
  for (let candidate = next; candidate > first + 1; candidate--) {
    cost -= atoms[candidate - 1]!.cost;
    if (cost < total / 2) break;
    if (atoms[candidate - 2]!.strength > atoms[best - 1]!.strength) best = candidate - 1;
  }
  return best;
}

/** Without blanks at both ends; null if nothing is left. A blank that carries a combining mark stays. */
function trim(text: string, { start, end }: Span): Span | null {
  const content = text.slice(start, end);
  if (!NOT_BLANK.test(content)) return null;
  const left = end - content.trimStart().length;
  const right = start + content.trimEnd().length;
  return { start: isClusterBorder(text, left) ? left : start, end: isClusterBorder(text, right) ? right : end };
}

/**
 * Spans in order, without overlap, that together cover every non-blank character. Each costs at most `limit` by
 * `count` and is at most sixteen characters a token long; a grapheme cluster is cut only if it alone is more than that.
 */
export function splitSpans(text: string, limit: number, count: Count): Span[] {
  const tokens = Math.max(1, Math.floor(limit));
  const limits: Limits = {
    tokens,
    characters: tokens * CHARACTERS_PER_TOKEN,
    run: Math.max(1, Math.floor(tokens / RUNS_PER_SPAN)),
  };
  const atoms = toAtoms(text, limits, count);
  const spans: Span[] = [];
  for (let first = 0; first < atoms.length; ) {
    let next = fill(atoms, first, limits);
    if (next < atoms.length) next = atStrongestBorder(atoms, first, next);
    const spanTo = (behind: number): Span => ({ start: atoms[first]!.start, end: atoms[behind - 1]!.end });
    // The parts of a cut word may cost less than the word: the whole has the last say.
    while (next > first + 1 && count(text.slice(spanTo(next).start, spanTo(next).end)) > tokens) next--;
    const span = trim(text, spanTo(next));
    if (span) spans.push(span);
    first = next;
  }
  return spans;
}

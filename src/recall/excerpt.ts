/**
 * The part of a long memory that is shown. Sentences that hold the question's rare words come first, and what is shown
 * stands in the content's own order with `…` for what is left out. More room never shows less. Sentences are compared by
 * words only: their vectors would cost a model call each and changed the evidence by 0.1 points at most.
 */
import { graphemeCut } from './sanitize.ts';
import { bestFirst, type Sentence, splitSentences, type Weighing } from './sentences.ts';

const GAP = '…';

export interface ExcerptInput extends Weighing {
  readonly content: string;
  readonly count: (text: string) => number;
  /** Tokens that the beginning of a line costs beyond its own, when the caller prints it with more. */
  readonly surcharge?: (line: string) => number;
}

export interface Excerpt {
  readonly text: string;
  /** The sum of the parts: at least what the text costs, save for rare joints, so a hard budget counts the text itself. */
  readonly tokens: number;
  readonly complete: boolean;
}

export interface Excerpter {
  /** The most units that fit into an allowance of tokens; never fewer for a larger allowance. */
  units(allowance: number): number;
  /** The first units in best-first order. A larger number shows everything that a smaller one shows. */
  show(units: number): Excerpt;
  excerpt(allowance: number): Excerpt;
}

/** Sentences are split and weighed at once, in time linear in the content; tokens are counted only as far as they are asked for. */
export function makeExcerpter(input: ExcerptInput): Excerpter {
  const order = bestFirst(splitSentences(input.content), input);
  const ledger = makeLedger(order, input);
  const show = (units: number): Excerpt => {
    const at = ledger.find(units);
    const text = print(order, at);
    // by the text: of a content that itself ends in the mark all may be shown before its last sentence is
    return { text, tokens: ledger.tokens(at), complete: text === input.content };
  };
  return { units: ledger.units, show, excerpt: (allowance) => show(ledger.units(allowance)) };
}

/** How much is shown: so many whole sentences of the order, and so many units of the next. */
interface Place {
  readonly whole: number;
  readonly part: number;
}

/** What the first sentences of the order come to: alone, and with a mark for every gap that they can leave. */
interface Sum {
  readonly units: number;
  readonly tokens: number;
  readonly marked: number;
}

/** What a cut through a long run may hide, and the joints that the counter charges for such a run (see tokens.ts). */
const GLUED_TOKENS = 3;

interface Ledger {
  units(allowance: number): number;
  find(units: number): Place;
  tokens(place: Place): number;
}

/**
 * Keeps the costs. A whole sentence costs what it counts as a whole, a part the sum of its units. Stretches without a
 * gap are never fewer than gaps less one, so one mark is charged at first and one for each sentence beside no other; a
 * mark is not given back when its gap is filled, save when all is shown. Nothing is counted twice, nor beyond an allowance.
 */
function makeLedger(order: readonly Sentence[], { count, surcharge = () => 0 }: ExcerptInput): Ledger {
  const gap = count(GAP);
  const rank = new Map(order.map(({ index }, at) => [index, at]));
  const isShown = (index: number, whole: number): boolean => (rank.get(index) ?? Number.POSITIVE_INFINITY) < whole;
  const extra = ({ startsLine, glued, text }: Sentence): number =>
    (startsLine ? surcharge(text.replace(/^\n/, '')) : 0) + (glued ? GLUED_TOKENS : 0);
  const sums: Sum[] = [{ units: 0, tokens: 0, marked: gap }];

  const reach = (whole: number): Sum => {
    for (let at = sums.length - 1; at < whole; at++) {
      const sentence = order[at]!;
      const tokens = count(sentence.text) + extra(sentence);
      const alone = !isShown(sentence.index - 1, at) && !isShown(sentence.index + 1, at);
      const before = sums[at]!;
      sums.push({
        units: before.units + unitsOf(sentence.text).length,
        tokens: before.tokens + tokens,
        marked: before.marked + tokens + (alone ? gap : 0),
      });
    }
    return sums[whole]!;
  };
  const markedPart = (whole: number): number => {
    const sentence = order[whole]!;
    return reach(whole).marked + extra(sentence) + (isShown(sentence.index - 1, whole) ? 0 : gap);
  };
  const partWithin = (whole: number, allowance: number): number => {
    const units = unitsOf(order[whole]!.text);
    let left = allowance - markedPart(whole);
    for (const [at, unit] of units.entries()) {
      left -= count(unit);
      if (left < 0) return at;
    }
    return units.length - 1;
  };

  return {
    units(allowance) {
      let fitting = 0;
      while (fitting < order.length && reach(fitting + 1).marked <= allowance) fitting++;
      // without marks all of it may still fit
      let all = fitting;
      while (all < order.length && reach(all + 1).tokens <= allowance) all++;
      if (all === order.length) return reach(all).units;
      return reach(fitting).units + partWithin(fitting, allowance);
    },
    find(units) {
      let whole = sums.findLastIndex((sum) => sum.units <= units);
      while (whole < order.length && reach(whole + 1).units <= units) whole++;
      return { whole, part: whole < order.length ? units - reach(whole).units : 0 };
    },
    tokens({ whole, part }) {
      if (whole === order.length) return reach(whole).tokens;
      if (part === 0) return whole === 0 ? 0 : reach(whole).marked;
      const units = unitsOf(order[whole]!.text).slice(0, part);
      return units.reduce((sum, unit) => sum + count(unit), markedPart(whole));
    },
  };
}

const UNSPACED = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}ー、。';
/** Words with the blanks before them; scripts without spaces in fours. What follows a sign inside a grapheme stays with it. */
const UNITS = new RegExp(
  `\\s{0,8}(?:(?:[${UNSPACED}][\\p{M}\\p{Grapheme_Extend}\\u200d]*){1,4}|[^\\s${UNSPACED}]+)|\\s+`,
  'gu',
);

/** UTF-16 units; longer words are keys, chains of signs or text without spaces, and are cut. */
const LONGEST_UNIT = 32;
const CUT_UNIT = 24;

function unitsOf(sentence: string): string[] {
  const units: string[] = [];
  for (const [unit] of sentence.matchAll(UNITS)) {
    let rest = unit;
    while (rest.length > LONGEST_UNIT) {
      const cut = graphemeCut(rest, CUT_UNIT);
      units.push(rest.slice(0, cut));
      rest = rest.slice(cut);
    }
    units.push(rest);
  }
  return units;
}

function print(order: readonly Sentence[], { whole, part }: Place): string {
  const shown = order.slice(0, whole).map(({ index, text }) => ({ index, text, open: false }));
  const next = order[whole];
  if (next !== undefined && part > 0) {
    shown.push({ index: next.index, text: unitsOf(next.text).slice(0, part).join(''), open: true });
  }
  if (shown.length === 0) return '';
  let text = '';
  let expected = 0;
  for (const piece of shown.toSorted((a, b) => a.index - b.index)) {
    text += piece.index === expected ? piece.text : GAP + piece.text;
    // after a part comes a gap, whatever stands next
    expected = piece.open ? -1 : piece.index + 1;
  }
  return expected === order.length ? text : text + GAP;
}

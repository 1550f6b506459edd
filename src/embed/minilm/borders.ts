/**
 * Where a text may be cut: lines, sentences, words, grapheme clusters, as offsets. Pure.
 *
 * Intl.Segmenter takes time in proportion to its whole input for every segment it gives, so 512 KiB at once would take
 * minutes. Everything here therefore segments small windows and drops the last border of each, which the end of the
 * window may have made up.
 */

/** Ends of the units of text[start, end) in order; the last one is always `end`. */
export type FindBorders = (text: string, start: number, end: number) => number[];

const sentenceSegmenter = new Intl.Segmenter('en', { granularity: 'sentence' });
const wordSegmenter = new Intl.Segmenter('en', { granularity: 'word' });
const graphemeSegmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

const SENTENCE_WINDOW = 1024;
const CLUSTER_WINDOW = 256;
/** A paragraph separator of Unicode ends a line, a sentence and a grapheme cluster alike. */
const LINE_END = /\r\n|[\n\r\u0085\u2028\u2029]/g;
const BLANKS = /\s+/g;
const ENDS_SENTENCE = /\p{Sentence_Terminal}/u;
const ONLY_ASCII = /^[\t\n -~]*$/;
const REGIONAL_PAIR = /^\p{Regional_Indicator}{2}$/u;
const JOINING = /[\p{Mark}\p{Grapheme_Extend}\u200d]$/u;

const isLowSurrogate = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff;
const isHighSurrogate = (unit: number) => unit >= 0xd800 && unit <= 0xdbff;
const insidePair = (text: string, offset: number) =>
  isLowSurrogate(text.charCodeAt(offset)) && isHighSurrogate(text.charCodeAt(offset - 1));

/**
 * True only if a grapheme cluster ends at `offset`. Looks at the two characters beside it alone, so it refuses where
 * more would have to be known (flags, joined emoji, Indic conjuncts).
 */
export function isClusterBorder(text: string, offset: number): boolean {
  if (offset <= 0 || offset >= text.length) return true;
  const [left, right] = [text.charCodeAt(offset - 1), text.charCodeAt(offset)];
  if (left < 0x80 && right < 0x80) return left !== 0x0d || right !== 0x0a;
  if (insidePair(text, offset)) return false;
  const before = String.fromCodePoint(text.codePointAt(offset - (insidePair(text, offset - 1) ? 2 : 1))!);
  const pair = before + String.fromCodePoint(text.codePointAt(offset)!);
  if (JOINING.test(before) || REGIONAL_PAIR.test(pair)) return false;
  return isTwoClusters(pair);
}

/** The segmenter takes microseconds for each, and most texts are made of few pairs. About 1 MB when full; then it starts afresh. */
const MAX_REMEMBERED = 10_000;
const remembered = new Map<string, boolean>();

function isTwoClusters(pair: string): boolean {
  const known = remembered.get(pair);
  if (known !== undefined) return known;
  if (remembered.size >= MAX_REMEMBERED) remembered.clear();
  const two = [...graphemeSegmenter.segment(pair)].length === 2;
  remembered.set(pair, two);
  return two;
}

/** The borders a segmenter finds inside a window, at most `most`, without the one at the window's end. */
function bordersInWindow(segmenter: Intl.Segmenter, text: string, start: number, end: number, most: number): number[] {
  const borders: number[] = [];
  for (const { index } of segmenter.segment(text.slice(start, end))) {
    if (index > 0) borders.push(start + index);
    if (borders.length === most) break;
  }
  return borders;
}

/** A window without any border is doubled; of such a long one only the first border is taken, since each costs so much. */
function bordersByWindow(
  segmenter: Intl.Segmenter,
  window: number,
  text: string,
  start: number,
  end: number,
): number[] {
  const borders: number[] = [];
  let size = window;
  for (let from = start; from < end; ) {
    let to = Math.min(end, from + size);
    if (to < end && insidePair(text, to)) to--;
    const most = size === window ? window : 1;
    const found = bordersInWindow(segmenter, text, from, to, most);
    borders.push(...found);
    if (to === end && found.length < most) break;
    size = found.length > 0 ? window : size * 2;
    from = found.at(-1) ?? from;
  }
  if (start < end) borders.push(end);
  return borders;
}

const onlyAt = (text: string, borders: number[], end: number) =>
  borders.filter((border) => border === end || isClusterBorder(text, border));

/** A line ends behind its separator. */
export const lineBorders: FindBorders = (text, start, end) => {
  const borders: number[] = [];
  LINE_END.lastIndex = start;
  for (let match = LINE_END.exec(text); match && LINE_END.lastIndex < end; match = LINE_END.exec(text)) {
    borders.push(LINE_END.lastIndex);
  }
  if (start < end) borders.push(end);
  return borders;
};

/** For one line. Most lines without a full stop are short, and a segmenter takes longer than a look. */
export const sentenceBorders: FindBorders = (text, start, end) => {
  if (!ENDS_SENTENCE.test(text.slice(start, end))) return start < end ? [end] : [];
  return onlyAt(text, bordersByWindow(sentenceSegmenter, SENTENCE_WINDOW, text, start, end), end);
};

/** Words between blanks; the blanks belong to the word before them. */
export const blankBorders: FindBorders = (text, start, end) => {
  const borders: number[] = [];
  BLANKS.lastIndex = start;
  for (let match = BLANKS.exec(text); match && BLANKS.lastIndex < end; match = BLANKS.exec(text)) {
    borders.push(BLANKS.lastIndex);
  }
  if (start < end) borders.push(end);
  return onlyAt(text, borders, end);
};

/** Words of scripts without blanks, and the parts of an address or a path. */
export const wordBorders: FindBorders = (text, start, end) =>
  onlyAt(text, bordersByWindow(wordSegmenter, CLUSTER_WINDOW, text, start, end), end);

export const clusterBorders: FindBorders = (text, start, end) => {
  if (ONLY_ASCII.test(text.slice(start, end))) return Array.from({ length: end - start }, (_, i) => start + i + 1);
  return bordersByWindow(graphemeSegmenter, CLUSTER_WINDOW, text, start, end);
};

/** The last resort, for a cluster that alone is too long. */
export const codePointBorders: FindBorders = (text, start, end) => {
  const borders: number[] = [];
  for (let offset = start; offset < end; ) {
    offset += text.codePointAt(offset)! > 0xffff ? 2 : 1;
    borders.push(Math.min(offset, end));
  }
  return borders;
};

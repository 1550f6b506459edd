/** The sentences of a content, in order and without a gap, and their order by the rare words of the question that they hold. */
import { graphemeCut } from './sanitize.ts';

export interface Weighing {
  /** How rare each term of the question is (its idf). */
  readonly weights: ReadonlyMap<string, number>;
  readonly terms: (text: string) => readonly string[];
}

/** A stretch of the content; stretches follow each other without a gap. */
export interface Sentence {
  readonly index: number;
  readonly text: string;
  readonly startsLine: boolean;
  /** Begins in the midst of a run without a break, so that its tokens need not add up with those before it. */
  readonly glued: boolean;
}

/** UTF-16 units; shorter ones are abbreviations and list numbers more often than sentences. */
const SHORTEST_SENTENCE = 16;
/** UTF-16 units; what is longer (transcripts, logs, keys) is cut into stretches so that the excerpt begins near a hit. */
const LONGEST_SENTENCE = 240;
const STRETCH = 160;

/** Behind a sign of the writings without blanks the next sentence begins at once, but never inside a grapheme. */
const SENTENCE_ENDS = /\n|[.!?…]+["'»”’)\]]*|[。！？]+[」』”’）]*[\p{M}\p{Grapheme_Extend}\u200d]*/gu;

export function splitSentences(content: string): Sentence[] {
  const sentences: Sentence[] = [];
  let start = 0;
  const push = (end: number): void => {
    const first = start;
    while (end > start) {
      const next = end - start > LONGEST_SENTENCE ? start + stretchOf(content.slice(start, start + STRETCH + 2)) : end;
      const startsLine = start === 0 || content[start] === '\n';
      const glued = start > first && isBlankAt(content, start) === isBlankAt(content, start - 1);
      sentences.push({ index: sentences.length, text: content.slice(start, next), startsLine, glued });
      start = next;
    }
  };
  for (const { index, 0: mark } of content.matchAll(SENTENCE_ENDS)) {
    const end = index + mark.length;
    if (mark === '\n') push(index);
    else if (/^[。！？]/u.test(mark)) push(end);
    else if (end - start >= SHORTEST_SENTENCE && /\s/u.test(content[end] ?? ' ')) push(end);
  }
  push(content.length);
  return sentences;
}

function isBlankAt(text: string, at: number): boolean {
  return /\s/u.test(text.charAt(at));
}

function stretchOf(text: string): number {
  const blank = text.lastIndexOf(' ', STRETCH);
  return blank > STRETCH / 2 ? blank : graphemeCut(text, STRETCH);
}

/**
 * Score of a sentence: sum of the idf of the question's terms it holds, each once, divided by √(1 + length / STRETCH), so
 * that a long one must hold more. Without a hit, what stands nearest to the best sentence follows, or the beginning.
 */
export function bestFirst(sentences: readonly Sentence[], { weights, terms }: Weighing): Sentence[] {
  if (weights.size === 0) return [...sentences];
  const asked = makeMemo((run) => terms(run).filter((term) => weights.has(term)));
  const scores = sentences.map(({ text }) => {
    const found = new Set(text.split(/\s+/u).flatMap((run) => asked(run)));
    let sum = 0;
    for (const term of found) sum += weights.get(term) ?? 0;
    return sum / Math.sqrt(1 + text.length / STRETCH);
  });
  const score = ({ index }: Sentence): number => scores[index] ?? 0;
  const best = scores.reduce((top, value, index) => (value > (scores[top] ?? 0) ? index : top), 0);
  const far = ({ index }: Sentence): number => (index >= best ? 2 * (index - best) : 2 * (best - index) + 1);
  return sentences.toSorted((a, b) => score(b) - score(a) || (score(a) > 0 ? a.index - b.index : far(a) - far(b)));
}

/** A large content has few different words: analysing each once is what keeps 512 KiB below 0.1 s. */
function makeMemo<T>(compute: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    let value = known.get(text);
    if (value === undefined) {
      value = compute(text);
      known.set(text, value);
    }
    return value;
  };
}

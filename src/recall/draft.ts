/**
 * One item of a pack whose length is not decided yet: what it costs whole, capped, or cut to what is left. Everything is made when it is
 * asked for, since most candidates never are. Costs add up exactly: a block begins with `[` after a line feed, where both encodings begin a
 * new token.
 */
import { makeExcerpter } from './excerpt.ts';
import type { PackCandidate, PackInput } from './pack.ts';
import { BLOCK_GAP, renderBlock, renderLabel, renderReference } from './render.ts';
import { foldContent, looksLikeOurs } from './sanitize.ts';
import { isTokenBorder } from './tokens.ts';

/**
 * Tokens of its content that an item gets before others are served. Best on the evaluation from 1,000 tokens on; 60
 * finds more items and cuts answers away (docs/retrieval.md, the budget).
 */
const DEFAULT_MAX_ITEM_TOKENS = 100;

/** Tokens of content below which the last item is left out: a label and three words help nobody. */
const LEAST_USEFUL_EXCERPT = 12;

/** The backslash before a line that looks like ours. */
const NEUTRALISING_TOKENS = 1;

/** An item at one length. */
export interface Shown {
  readonly text: string;
  readonly block: string;
  readonly tokens: number;
  /** Tokens of the block, or of the block and the blank line behind it where that is more. */
  readonly cost: number;
  readonly units: number;
  readonly truncated: boolean;
}

/** An item whose length is not decided yet. */
export interface Draft<C> {
  readonly candidate: C;
  /** Tokens of its reference line, where the budget pays for it. */
  reference(): number;
  fullTokens(): number;
  /** What it gets before others grow: the whole, or an excerpt of `maxItemTokens`. */
  share(): Shown;
  /** The whole, if it costs no more than `room`. */
  whole(room: number): Shown | undefined;
  /** Less than its share: the longest excerpt for `room`, if that is of any use. */
  less(room: number): Shown | undefined;
  /** More than its share: the longest excerpt for `room`. */
  more(room: number): Shown | undefined;
}

export function makeDraft<C extends PackCandidate>(input: PackInput<C>, candidate: C, n: number): Draft<C> {
  const { request, weights, terms } = input;
  const cap = request.maxItemTokens ?? DEFAULT_MAX_ITEM_TOKENS;
  const count = (text: string): number => input.count(text, request.tokenizer);
  const content = once(() => foldContent(candidate.content));
  const fullTokens = once(() => count(content()));
  const opening = once(() => count(`${renderLabel(n, candidate)}\n`));
  const excerpter = once(() => makeExcerpter({ content: content(), weights, terms, count, surcharge }));

  const measured = (text: string, units: number, truncated: boolean): Shown => {
    const block = renderBlock(n, candidate, text);
    const tokens = count(text);
    return { text, block, tokens, cost: costOf(block, text, tokens, count, opening), units, truncated };
  };
  const show = (units: number): Shown => {
    const { text, complete } = excerpter().show(units);
    return measured(text, units, !complete);
  };
  // Sums are rarely too low, and then by little; what is shown is measured.
  const longest = (room: number, least: number, most: number, fits: (shown: Shown) => boolean): Shown | undefined => {
    for (let units = step(Math.min(most, excerpter().units(room))); units >= least; units = step(units - 1)) {
      const shown = show(units);
      if (fits(shown)) return shown;
    }
    return undefined;
  };
  const within = (room: number, least: number, most: number): Shown | undefined =>
    longest(room - opening() - 1, least, most, ({ cost }) => cost <= room);
  const whole = once(() => measured(content(), Number.POSITIVE_INFINITY, false));
  const share = once((): Shown => {
    if (fullTokens() <= cap) return whole();
    return longest(cap, 1, Number.POSITIVE_INFINITY, ({ tokens }) => tokens <= cap) ?? show(1);
  });
  return {
    candidate,
    reference: once(() => (request.budgetScope === 'answer' ? count(`${renderReference(candidate)}\n`) : 0)),
    fullTokens,
    share,
    whole: (room) => (fullTokens() <= room && whole().cost <= room ? whole() : undefined),
    less: (room) => within(room, Math.max(1, excerpter().units(LEAST_USEFUL_EXCERPT)), share().units),
    more: (room) => within(room, share().units + 1, Number.POSITIVE_INFINITY),
  };
}

/** Units up to which an excerpt may have any length; measuring is cheap there. */
const FINE_STEPS = 128;

/**
 * The largest length of excerpt up to `units` that is tried; lengths beyond FINE_STEPS stand 1 % apart, so that an
 * unlucky sum costs a few counts and not thousands. The lengths are the same for every budget: the longest of them that
 * fits into one fits into a larger one too.
 */
function step(units: number): number {
  if (units <= FINE_STEPS || !Number.isFinite(units)) return units;
  const apart = 2 ** (Math.floor(Math.log2(units)) - Math.log2(FINE_STEPS));
  return Math.floor(units / apart) * apart;
}

function surcharge(line: string): number {
  return looksLikeOurs(line) ? NEUTRALISING_TOKENS : 0;
}

/** Counts the content once: label, content and closing punctuation are added up where their borders allow it. */
function costOf(
  block: string,
  text: string,
  textTokens: number,
  count: (text: string) => number,
  openingTokens: () => number,
): number {
  const at = block.indexOf('\n') + 1;
  const opening = block.slice(0, at);
  const body = block.slice(at);
  const alone =
    at > 0 && isTokenBorder(opening, body)
      ? openingTokens() + (body === text ? textTokens : count(body))
      : count(block);
  const tail = /[^\s\p{L}\p{N}]{1,8}$/u.exec(block.slice(-10))?.[0] ?? '';
  const closed = isTokenBorder(block.slice(0, block.length - tail.length), tail + BLOCK_GAP)
    ? alone - count(tail) + count(tail + BLOCK_GAP)
    : count(block + BLOCK_GAP);
  return Math.max(alone, closed);
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

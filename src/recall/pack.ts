/**
 * Shares a token budget among ranked memories. Pure: same input, same pack.
 *
 * A larger budget never removes an item nor shows less of one (P2). So the budget is given out in an order that does not
 * depend on it: in rank order a capped share each, the last one cut to what is left; then, only if all have their share,
 * in rank order the full text each, until the first that gets what is left instead. What that one leaves over is not
 * passed on: the next budget would take it back. A larger `maxItems` is another question and may shorten items.
 *
 * Costs add up exactly: a block begins with `[` after a line feed, where both encodings begin a new token.
 */
import type { CountTokens, TokenizerName } from '../types.ts';
import { type Duplicate, withoutNearDuplicates } from './duplicates.ts';
import { makeExcerpter } from './excerpt.ts';
import {
  type AnswerLines,
  BLOCK_GAP,
  EMPTY_ANSWER,
  type Labelled,
  type Referenced,
  renderAnswer,
  renderBlock,
  renderContext,
  renderHead,
  renderLabel,
  renderReference,
} from './render.ts';
import { foldContent, looksLikeOurs } from './sanitize.ts';
import { isTokenBorder } from './tokens.ts';

/**
 * Tokens of its content that an item gets before others are served. Best on the evaluation from 1,000 tokens on; 60
 * finds more items and cuts answers away (levers of the design notes, section 7).
 */
const DEFAULT_MAX_ITEM_TOKENS = 100;

/** Tokens of content below which the last item is left out: a label and three words help nobody. */
const LEAST_USEFUL_EXCERPT = 12;

/** The backslash before a line that looks like ours. */
const NEUTRALISING_TOKENS = 1;

export interface PackCandidate extends Labelled, Referenced {
  readonly content: string;
  /** Tokens of the content in the tokenizer asked for, if known: saves counting a long one. */
  readonly fullTokens?: number | undefined;
}

export interface PackRequest {
  readonly maxItems: number;
  readonly maxTokens: number;
  /** Default: DEFAULT_MAX_ITEM_TOKENS. At least one word of an item is shown whatever it costs. */
  readonly maxItemTokens?: number | undefined;
  readonly tokenizer: TokenizerName;
  /** `context` bounds context_text, `answer` the whole text answer. */
  readonly budgetScope: 'context' | 'answer';
}

export interface PackInput<C extends PackCandidate> {
  /** In rank order, ids all different. */
  readonly candidates: readonly C[];
  /** What was taken out of the ranking as near-duplicates. Left out: the pack looks for them itself. */
  readonly duplicates?: readonly Duplicate[] | undefined;
  readonly request: PackRequest;
  /** The idf of each term of the question, and what analyses a text into terms. */
  readonly weights: ReadonlyMap<string, number>;
  readonly terms: (text: string) => readonly string[];
  readonly count: CountTokens;
}

export interface PackItem<C> {
  readonly candidate: C;
  /** The content as shown, before lines that look like ours were made harmless. */
  readonly text: string;
  readonly block: string;
  /** Tokens of `text`, and of the whole content. */
  readonly tokens: number;
  readonly fullTokens: number;
  readonly truncated: boolean;
}

export type Dropped =
  | { readonly id: string; readonly reason: 'max_items' | 'max_tokens' }
  | { readonly id: string; readonly reason: 'near_duplicate'; readonly of: string };

export interface Budget {
  readonly maxItems: number;
  readonly maxTokens: number;
  readonly usedItems: number;
  /** Tokens of contextText. */
  readonly usedTokens: number;
  /** Tokens of answerText. */
  readonly renderedTokens: number;
  readonly tokenizer: TokenizerName;
  /** In rank order, near-duplicates last. */
  readonly dropped: readonly Dropped[];
  readonly shortened: readonly { readonly id: string; readonly tokens: number; readonly full_tokens: number }[];
}

export interface Pack<C extends PackCandidate = PackCandidate> {
  readonly items: readonly PackItem<C>[];
  readonly contextText: string;
  readonly answerText: string;
  readonly budget: Budget;
}

/** The budget of an answer is too small for its fixed lines alone. */
export class FrameTooLarge extends Error {
  readonly needed: number;
  constructor(needed: number) {
    super(`The fixed lines of the answer need ${needed} tokens.`);
    this.name = 'FrameTooLarge';
    this.needed = needed;
  }
}

/** @throws FrameTooLarge when the budget is that of the answer and not even its fixed lines fit, whatever was found. */
export function buildPack<C extends PackCandidate>(input: PackInput<C>): Pack<C> {
  const { candidates, request, count } = input;
  const { kept, duplicates } =
    input.duplicates === undefined
      ? withoutNearDuplicates(candidates)
      : { kept: candidates, duplicates: input.duplicates };
  const drafts = kept.slice(0, request.maxItems).map((candidate, at) => makeDraft(input, candidate, at + 1));
  const frame = request.budgetScope === 'answer' ? frameTokens(input) : 0;
  if (frame > request.maxTokens) throw new FrameTooLarge(frame);

  let room = request.maxTokens - frame;
  for (;;) {
    const shown = share(drafts, room);
    const pack = assemble(input, drafts, shown, listDropped(kept, duplicates, drafts.length, shown.length));
    const { usedTokens, renderedTokens } = pack.budget;
    const over = (request.budgetScope === 'answer' ? renderedTokens : usedTokens) - request.maxTokens;
    // In both encodings parts add up exactly. A counter for which they do not costs room, never the budget.
    if (over <= 0) return pack;
    if (shown.length === 0) throw new FrameTooLarge(count(pack.answerText, request.tokenizer));
    room -= over;
  }
}

/** An item at one length. */
interface Shown {
  readonly text: string;
  readonly block: string;
  readonly tokens: number;
  /** Tokens of the block, or of the block and the blank line behind it where that is more. */
  readonly cost: number;
  readonly units: number;
  readonly truncated: boolean;
}

/** An item whose length is not decided yet. Everything is made when it is asked for: most candidates never are. */
interface Draft<C> {
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

function makeDraft<C extends PackCandidate>(input: PackInput<C>, candidate: C, n: number): Draft<C> {
  const { request, weights, terms } = input;
  const cap = request.maxItemTokens ?? DEFAULT_MAX_ITEM_TOKENS;
  const count = (text: string): number => input.count(text, request.tokenizer);
  const content = once(() => foldContent(candidate.content));
  const fullTokens = once(() => candidate.fullTokens ?? count(content()));
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

/** The items that fit into `room`, each at its length. The order of the two phases is what makes P2 hold. */
function share<C>(drafts: readonly Draft<C>[], room: number): Shown[] {
  const shown: Shown[] = [];
  let left = room;
  for (const draft of drafts) {
    left -= draft.reference();
    const share = draft.share();
    if (share.cost > left) {
      const less = draft.less(left);
      return less === undefined ? shown : [...shown, less];
    }
    shown.push(share);
    left -= share.cost;
  }
  for (const [at, draft] of drafts.entries()) {
    const share = draft.share();
    if (!share.truncated) continue;
    const whole = draft.whole(left + share.cost);
    if (whole === undefined) {
      shown[at] = draft.more(left + share.cost) ?? share;
      return shown;
    }
    shown[at] = whole;
    left += share.cost - whole.cost;
  }
  return shown;
}

/**
 * An upper bound of the fixed lines, the same for every budget and every store: were it to grow with the numbers in the
 * Budget line, the step from 999 to 1,000 tokens would leave less room. One to three digits are one token.
 */
function frameTokens<C extends PackCandidate>({ candidates, duplicates, request, count }: PackInput<C>): number {
  const many = Math.max(999, candidates.length + (duplicates?.length ?? 0));
  const most = Math.max(999_999, request.maxTokens);
  const head = {
    items: [],
    maxItems: request.maxItems,
    maxTokens: most,
    usedTokens: most,
    dropped: many,
    shortened: many,
  };
  return count(renderHead(head), request.tokenizer);
}

function listDropped(
  kept: readonly PackCandidate[],
  duplicates: readonly Duplicate[],
  considered: number,
  shown: number,
): Dropped[] {
  const left = kept
    .slice(shown)
    .map(({ id }, at): Dropped => ({ id, reason: shown + at < considered ? 'max_tokens' : 'max_items' }));
  return [...left, ...duplicates.map(({ id, of }): Dropped => ({ id, reason: 'near_duplicate', of }))];
}

function assemble<C extends PackCandidate>(
  { request, count }: PackInput<C>,
  drafts: readonly Draft<C>[],
  shown: readonly Shown[],
  dropped: readonly Dropped[],
): Pack<C> {
  const { maxItems, maxTokens, tokenizer } = request;
  const items = shown.map(({ text, block, tokens, truncated }, at): PackItem<C> => {
    const { candidate, fullTokens } = drafts[at]!;
    return { candidate, text, block, tokens, fullTokens: truncated ? fullTokens() : tokens, truncated };
  });
  const shortened = items
    .filter(({ truncated }) => truncated)
    .map(({ candidate, tokens, fullTokens }) => ({ id: candidate.id, tokens, full_tokens: fullTokens }));
  const contextText = renderContext(items.map(({ block }) => block));
  const usedTokens = count(contextText, tokenizer);
  const answer: AnswerLines = {
    items: items.map(({ candidate }) => candidate),
    contextText,
    maxItems,
    maxTokens,
    usedTokens,
    dropped: dropped.length,
    shortened: shortened.length,
  };
  const answerText = renderAnswer(answer);
  // context_text begins with `[` after a line feed, so the lines before it are counted alone
  const renderedTokens =
    answerText === EMPTY_ANSWER ? count(EMPTY_ANSWER, tokenizer) : count(renderHead(answer), tokenizer) + usedTokens;
  const budget = {
    maxItems,
    maxTokens,
    usedItems: items.length,
    usedTokens,
    renderedTokens,
    tokenizer,
    dropped,
    shortened,
  };
  return { items, contextText, answerText, budget };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

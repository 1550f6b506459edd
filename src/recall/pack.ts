/**
 * Shares a token budget among ranked memories. Pure: same input, same pack.
 *
 * A larger budget never removes an item nor shows less of one (P2). So the budget is given out in an order that does not
 * depend on it: in rank order a capped share each, the last one cut to what is left; then, only if all have their share,
 * in rank order the full text each, until the first that gets what is left instead. What that one leaves over is not
 * passed on: the next budget would take it back. A larger `maxItems` is another question and may shorten items.
 */
import type { CountTokens, TokenizerName } from '../types.ts';
import { assemble } from './assemble.ts';
import type { Withdrawn } from './delta.ts';
import { type Draft, makeDraft, type Shown } from './draft.ts';
import { type Duplicate, withoutNearDuplicates } from './duplicates.ts';
import { makeNotice } from './notice.ts';
import { type Labelled, type Referenced, renderHead } from './render.ts';

export interface PackCandidate extends Labelled, Referenced {
  readonly content: string;
  /** The reader holds it already: it has its place in the budget and is not shown. */
  readonly known?: boolean | undefined;
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
  /** Of an earlier pack that the request names; undefined: it names none. */
  readonly withdrawn?: readonly Withdrawn[] | undefined;
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
  /** Ids of what the reader holds already. */
  readonly unchanged: readonly string[];
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

/**
 * In steps: counting an item, then choosing what is shown of it. Each takes a quarter of a second with half a megabyte.
 * @throws FrameTooLarge when the budget is that of the answer and not even its fixed lines fit, whatever was found.
 */
export function* buildPack<C extends PackCandidate>(input: PackInput<C>): Generator<void, Pack<C>> {
  const { candidates, request, count } = input;
  const { kept, duplicates } =
    input.duplicates === undefined
      ? withoutNearDuplicates(candidates)
      : { kept: candidates, duplicates: input.duplicates };
  let n = 0;
  const drafts = kept.slice(0, request.maxItems).map((c) => makeDraft(input, c, c.known ? 1 : ++n));
  const frame = request.budgetScope === 'answer' ? frameTokens(input) : 0;
  if (frame > request.maxTokens) throw new FrameTooLarge(frame);

  const notice = makeNotice(input.withdrawn ?? [], request.maxTokens - frame, (text) => count(text, request.tokenizer));
  let room = notice.room;
  for (;;) {
    const shown = yield* share(drafts, room);
    const dropped = listDropped(kept, duplicates, drafts.length, shown.length);
    const pack = assemble(input, { kept, drafts, shown, dropped, notice: notice.text });
    const { usedTokens, renderedTokens } = pack.budget;
    const over = (request.budgetScope === 'answer' ? renderedTokens : usedTokens) - request.maxTokens;
    // In both encodings parts add up exactly. A counter for which they do not costs room, never the budget.
    if (over <= 0) return pack;
    if (shown.length === 0) throw new FrameTooLarge(count(pack.answerText, request.tokenizer));
    room -= over;
  }
}

/** The items that fit into `room`, each at its length. The order of the two phases is what makes P2 hold. */
function* share<C>(drafts: readonly Draft<C>[], room: number): Generator<void, Shown[]> {
  const shown: Shown[] = [];
  let left = room;
  for (const draft of drafts) {
    yield;
    draft.fullTokens();
    yield;
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
    yield;
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
function frameTokens<C extends PackCandidate>(input: PackInput<C>): number {
  const { candidates, duplicates, request, withdrawn, count } = input;
  const many = Math.max(999, candidates.length + (duplicates?.length ?? 0));
  const most = Math.max(999_999, request.maxTokens);
  const unchanged = withdrawn === undefined ? undefined : many;
  const head = {
    items: [],
    maxItems: request.maxItems,
    maxTokens: most,
    usedTokens: most,
    dropped: many,
    shortened: many,
    unchanged,
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
    .map(({ id, known }, at) => ({
      id,
      known,
      reason: at < considered ? ('max_tokens' as const) : ('max_items' as const),
    }))
    .slice(shown)
    .flatMap(({ id, known, reason }): Dropped[] => (known ? [] : [{ id, reason }]));
  return [...left, ...duplicates.map(({ id, of }): Dropped => ({ id, reason: 'near_duplicate', of }))];
}

/** Recall context: the ranking of recall, packed into the budget. A pure function of the request, the principal and the visible state. */
import type { MemoryRow } from '../db/memories.ts';
import type { Deps } from '../deps.ts';
import { invalid } from '../errors.ts';
import { analyse } from '../text/analyse.ts';
import { type Earlier, readEarlier, toDelta, withdrawnBefore } from './delta.ts';
import { buildPack, FrameTooLarge, type Pack, type PackCandidate, type PackInput } from './pack.ts';
import { writePackId } from './pack-id.ts';
import type { Ranking } from './ranking.ts';
import type { Asking } from './request.ts';
import { commonBoundary, round, statusOf, toPlan, toResult, trackingId } from './results.ts';
import type { ContextInput, ContextReply } from './schema.ts';
import { type Stages, search } from './search.ts';
import { limitOf, type Selected, type Selection, select, versionOf } from './select.ts';
import { markSent } from './sent.ts';
import { snippetOf } from './snippet.ts';
import { inTurns } from './turns.ts';

export interface ContextAnswer {
  readonly text: string;
  readonly body: ContextReply;
}

/** @throws ApiError validation_error for a since_pack that is none, or a budget too small for the fixed lines of an answer */
export async function recallContext(deps: Deps, asking: Asking<ContextInput>, stages: Stages): Promise<ContextAnswer> {
  const { principal, input, request } = asking;
  const earlier = await readEarlier(deps, principal, input.since_pack, request);
  const answer = async (ranking: Ranking, selection: Selection) => {
    const begun = performance.now();
    const made = await makeAnswer(deps, asking, { ranking, selection, earlier });
    stages.set('pack', performance.now() - begun);
    return made;
  };
  const found = await search(deps, principal, request, stages, async (tx, ranking) => {
    const selection = await select(tx, asking, ranking);
    if (request.session === undefined || request.unsent) return () => answer(ranking, selection);
    // What is sent is written down before it is sent, in the transaction that holds the session.
    const made = await answer(ranking, selection);
    await markSent(tx, principal.owner, request.session, made.sent, deps.now());
    return async () => made;
  });
  return found();
}

interface FoundState {
  readonly ranking: Ranking;
  readonly selection: Selection;
  readonly earlier: Earlier | undefined;
}

async function makeAnswer(
  deps: Deps,
  asking: Asking<ContextInput>,
  found: FoundState,
): Promise<ContextAnswer & { readonly sent: readonly { readonly id: string; readonly version: number }[] }> {
  const { principal, agent, input, request } = asking;
  const { ranking, selection, earlier } = found;
  const { kept, rows, oppositions } = selection;
  const pack = await makePack(deps, asking, found);
  const shown = pack.items.map((item) => ({ item, row: rows.get(item.candidate.entry.candidate.seq)! }));
  const items = shown.map(({ item, row }) => ({
    ...toResult(item.candidate.entry, row, agent, snippetOf(item.text, ranking.weights), input.explain ?? false),
    content: item.text,
    tokens: item.tokens,
    truncated: item.truncated,
    full_tokens: item.fullTokens,
  }));
  const sent = pack.items.map(({ candidate: { id, entry } }) => ({ id, version: versionOf(entry.candidate, request) }));
  const delta = earlier && toDelta(earlier, sent);
  const ids = new Set(items.map(({ id }) => id));
  const body: ContextReply = {
    version: '1',
    status: statusOf(ranking, kept.length + selection.seen.length),
    retrieval_plan: toPlan(ranking, deps.embedder.id, request, {
      candidates: limitOf(input),
      max_items: input.max_items,
      max_tokens: input.max_tokens,
    }),
    budget: toBudget(pack, selection.seen),
    items,
    conflicts: oppositions.filter((opposition) => ids.has(opposition.newer) && ids.has(opposition.older)),
    ...(delta && { delta: delta.wire }),
    coverage: {
      candidates: ranking.ranked.length,
      returned: items.length,
      answerability: round(ranking.answerability),
    },
    agent_boundary: commonBoundary(items),
    context_text: pack.contextText,
    pack_id: writePackId([...sent, ...(delta?.kept ?? [])]),
    usage_tracking_id: trackingId(
      principal,
      request.query,
      shown.map(({ row }) => row),
    ),
  };
  return { text: pack.answerText, body, sent };
}

function makePack(
  deps: Deps,
  { input, request }: Asking<ContextInput>,
  { ranking, selection: { kept, duplicates, rows, oppositions }, earlier }: FoundState,
) {
  const older = new Set(oppositions.map((opposition) => opposition.older));
  const candidates = kept.map((selected) => ({
    ...toPackCandidate(selected, rows.get(selected.entry.candidate.seq)),
    contradicted: older.has(selected.id),
    known: earlier?.holds(selected.id, versionOf(selected.entry.candidate, request)),
  }));
  return packOrRefuse({
    candidates,
    duplicates,
    request: {
      maxItems: input.max_items,
      maxTokens: input.max_tokens,
      ...(input.max_item_tokens !== undefined && { maxItemTokens: input.max_item_tokens }),
      tokenizer: input.tokenizer,
      budgetScope: input.budget_scope,
    },
    withdrawn: earlier && withdrawnBefore(earlier, candidates.slice(0, input.max_items)),
    weights: ranking.weights,
    terms: analyse,
    count: deps.countTokens,
  });
}

function toPackCandidate({ entry }: Selected, row: MemoryRow | undefined) {
  const { id, memory_type, author, path, occurred_at, created_at, head } = entry.candidate;
  return {
    id,
    type: row?.space_kind === 'knowledge' ? 'knowledge' : memory_type,
    author,
    path,
    occurredAt: occurred_at ?? created_at,
    content: row?.content ?? head,
    entry,
  };
}

async function packOrRefuse<C extends PackCandidate>(input: PackInput<C>): Promise<Pack<C>> {
  try {
    return await inTurns(buildPack(input));
  } catch (error) {
    if (!(error instanceof FrameTooLarge)) throw error;
    throw invalid(
      'body',
      'max_tokens',
      `is below ${error.needed}, what the fixed lines of the text answer take; raise it, or leave budget_scope at context`,
    );
  }
}

function toBudget({ budget }: Pick<Pack, 'budget'>, seen: readonly string[]): ContextReply['budget'] {
  const dropped = [...budget.dropped, ...seen.map((id) => ({ id, reason: 'seen' as const }))];
  return {
    max_items: budget.maxItems,
    max_tokens: budget.maxTokens,
    used_items: budget.usedItems,
    used_tokens: budget.usedTokens,
    rendered_tokens: budget.renderedTokens,
    tokenizer: budget.tokenizer,
    dropped: dropped.map((d) => ({ ...d })),
    shortened: budget.shortened.map((s) => ({ ...s })),
    dropped_items: dropped.length,
    truncated: budget.dropped.length > 0 || budget.shortened.length > 0,
    items: budget.usedItems,
    tokens: budget.usedTokens,
  };
}

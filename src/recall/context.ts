/** Recall context: the ranking of recall, packed into the budget. A pure function of the request, the principal and the visible state. */
import { loadBySeq, type MemoryRow } from '../db/memories.ts';
import type { Deps } from '../deps.ts';
import { invalid } from '../errors.ts';
import { analyse } from '../text/analyse.ts';
import type { Agent, Principal } from '../types.ts';
import { WEAK_THRESHOLD } from './constants.ts';
import { withoutNearDuplicates } from './duplicates.ts';
import { buildPack, FrameTooLarge, type Pack, type PackInput } from './pack.ts';
import type { Scored } from './rank.ts';
import { commonBoundary, round, statusOf, toPlan, toResult, trackingId } from './results.ts';
import type { ContextInput, ContextReply } from './schema.ts';
import { type Ranking, type SearchRequest, type Stages, search } from './search.ts';
import { snippetOf } from './snippet.ts';

/** Candidates that a pack considers when the request does not say. */
const DEFAULT_LIMIT = 60;

export interface ContextAnswer {
  readonly text: string;
  readonly body: ContextReply;
}

export async function recallContext(
  deps: Deps,
  principal: Principal,
  agent: Agent,
  input: ContextInput,
  request: SearchRequest,
  stages: Stages,
): Promise<ContextAnswer> {
  return search(deps, principal, request, stages, async (tx, ranking) => {
    const begun = performance.now();
    const limit = input.limit ?? DEFAULT_LIMIT;
    const { kept, duplicates } = withoutNearDuplicates(candidatesOf(ranking, limit, input.threshold));
    const rows = await loadBySeq(
      tx,
      ranking.spaces,
      kept.slice(0, input.max_items).map(({ entry }) => entry.candidate.seq),
      ranking.past,
    );
    return { ranking, limit, kept, duplicates, rows, begun };
  }).then(({ ranking, limit, kept, duplicates, rows, begun }) => {
    const pack = packOrRefuse({
      candidates: kept.map(({ entry }) => toPackCandidate(entry, rows.get(entry.candidate.seq))),
      duplicates,
      request: {
        maxItems: input.max_items,
        maxTokens: input.max_tokens,
        ...(input.max_item_tokens !== undefined && { maxItemTokens: input.max_item_tokens }),
        tokenizer: input.tokenizer,
        budgetScope: input.budget_scope,
      },
      weights: ranking.weights,
      terms: analyse,
      count: deps.countTokens,
    });
    const items = pack.items.map((item) => ({
      ...toResult(
        item.candidate.entry,
        rows.get(item.candidate.entry.candidate.seq)!,
        agent,
        snippetOf(item.text, ranking.weights),
        input.explain ?? false,
      ),
      content: item.text,
      tokens: item.tokens,
      truncated: item.truncated,
      full_tokens: item.fullTokens,
    }));
    stages.set('pack', performance.now() - begun);
    const body: ContextReply = {
      version: '1',
      status: statusOf(ranking, kept.length),
      retrieval_plan: toPlan(ranking, deps.embedder.id, request, {
        candidates: limit,
        max_items: input.max_items,
        max_tokens: input.max_tokens,
      }),
      budget: toBudget(pack),
      items,
      coverage: {
        candidates: ranking.ranked.length,
        returned: items.length,
        answerability: round(ranking.answerability),
      },
      agent_boundary: commonBoundary(items),
      context_text: pack.contextText,
      usage_tracking_id: trackingId(
        principal,
        request.query,
        pack.items.map((item) => rows.get(item.candidate.entry.candidate.seq)!),
      ),
    };
    return { text: pack.answerText, body };
  });
}

/** What a pack may hold: nothing, when the question cannot be answered from here; weak hits are no padding. */
function candidatesOf(ranking: Ranking, limit: number, threshold: number | undefined) {
  if (ranking.answerability < WEAK_THRESHOLD) return [];
  return ranking.ranked
    .slice(0, limit)
    .filter((entry) => entry.relevance >= (threshold ?? 0))
    .map((entry) => ({ id: entry.candidate.id, content: entry.candidate.hash ?? entry.candidate.head, entry }));
}

function toPackCandidate(entry: Scored, row: MemoryRow | undefined) {
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

function packOrRefuse<C extends Parameters<typeof buildPack>[0]['candidates'][number]>(input: PackInput<C>): Pack<C> {
  try {
    return buildPack(input);
  } catch (error) {
    if (!(error instanceof FrameTooLarge)) throw error;
    throw invalid(
      'body',
      'max_tokens',
      `is below ${error.needed}, what the fixed lines of the text answer take; raise it, or leave budget_scope at context`,
    );
  }
}

function toBudget({ budget }: Pick<Pack, 'budget'>): ContextReply['budget'] {
  return {
    max_items: budget.maxItems,
    max_tokens: budget.maxTokens,
    used_items: budget.usedItems,
    used_tokens: budget.usedTokens,
    rendered_tokens: budget.renderedTokens,
    tokenizer: budget.tokenizer,
    dropped: budget.dropped.map((d) => ({ ...d })),
    shortened: budget.shortened.map((s) => ({ ...s })),
    dropped_items: budget.dropped.length,
    truncated: budget.dropped.length > 0 || budget.shortened.length > 0,
    items: budget.usedItems,
    tokens: budget.usedTokens,
  };
}

/** Ranked lookups: recall is forgiving, search is strict. Their ranking is that of recall context. */
import { loadBySeq } from '../db/memories.ts';
import type { Deps } from '../deps.ts';
import { STRICT_THRESHOLD } from './constants.ts';
import type { Scored } from './rank.ts';
import type { Ranking } from './ranking.ts';
import type { Asking } from './request.ts';
import { commonBoundary, round, statusOf, toPlan, toResult, trackingId } from './results.ts';
import type { RecallInput, RecallReply } from './schema.ts';
import { type SearchRequest, type Stages, search } from './search.ts';
import { snippetOf } from './snippet.ts';

export async function recall(
  deps: Deps,
  { principal, agent, input, request }: Asking<Pick<RecallInput, 'limit' | 'threshold' | 'explain'>>,
  mode: 'recall' | 'search',
  stages: Stages,
): Promise<RecallReply> {
  return search(deps, principal, request, stages, async (tx, found) => {
    const byPath = mode === 'search' && found.ranked.length > 0 && asksForPath(request);
    const ranking = byPath ? { ...found, answerability: 1 } : found;
    const passing = mode === 'search' ? strict(ranking) : ranking.ranked;
    const chosen = passing.filter((entry) => entry.relevance >= (input.threshold ?? 0)).slice(0, input.limit);
    const rows = await loadBySeq(
      tx,
      ranking.spaces,
      chosen.map((entry) => entry.candidate.seq),
      ranking.past,
    );
    const present = chosen.flatMap((entry) => {
      const row = rows.get(entry.candidate.seq);
      return row ? [{ entry, row }] : [];
    });
    const results = present.map(({ entry, row }) =>
      toResult(entry, row, agent, snippetOf(row.content, ranking.weights), input.explain ?? false),
    );
    return {
      status: statusOf(ranking, results.length),
      results,
      coverage: {
        candidates: ranking.ranked.length,
        returned: results.length,
        answerability: round(ranking.answerability),
      },
      agent_boundary: commonBoundary(results),
      retrieval_plan: toPlan(ranking, deps.embedder.id, request, { limit: input.limit }),
      usage_tracking_id: trackingId(
        principal,
        request.query,
        present.map(({ row }) => row),
      ),
    };
  });
}

/** Nothing when the question cannot be answered from here. */
function strict(ranking: Ranking): readonly Scored[] {
  return ranking.answerability >= STRICT_THRESHOLD ? ranking.ranked : [];
}

/** Clients list a path, or read the memory at it, by asking for its own words: whatever lies there is the answer. */
function asksForPath({ query, filters: { path } }: SearchRequest): boolean {
  if (path === undefined) return false;
  const wordsOf = (text: string) =>
    text
      .toLowerCase()
      .split(/[\s/]+/)
      .filter(Boolean);
  const known = new Set(wordsOf(path));
  return wordsOf(query).every((word) => known.has(word));
}

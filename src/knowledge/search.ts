/** Finds sections of documents: the search of memories over the spaces of knowledge bases, with citations. */
import { loadBySeq, type MemoryRow } from '../db/memories.ts';
import { ACTIVE } from '../db/visible.ts';
import type { Deps } from '../deps.ts';
import type { Scored } from '../recall/rank.ts';
import type { Ranking } from '../recall/ranking.ts';
import type { Stages } from '../recall/search.ts';
import type { Principal } from '../types.ts';
import type { Engine } from './engine.ts';
import { countWaiting } from './store.ts';

export interface KnowledgeQuery {
  readonly query: string;
  readonly spaces: readonly number[];
  readonly document: string | undefined;
  readonly path: string | undefined;
  /** Share of the vectors in the score, 0 to 1; undefined: the ranking of recall. */
  readonly alpha: number | undefined;
  /** Ranked candidates that are considered. */
  readonly candidates: number;
  readonly offset: number;
  readonly limit: number;
}

export interface KnowledgeHit {
  readonly row: MemoryRow;
  readonly score: number;
  readonly similarity: number;
  readonly snippet: string;
}

export interface KnowledgeAnswer {
  readonly status: ReturnType<Engine['statusOf']>;
  readonly hits: readonly KnowledgeHit[];
  readonly candidates: number;
  readonly answerability: number;
  readonly degraded: readonly string[];
  readonly next: number | undefined;
}

export async function searchKnowledge(
  deps: Deps,
  engine: Engine,
  principal: Principal,
  input: KnowledgeQuery,
  stages: Stages,
): Promise<KnowledgeAnswer> {
  const request = {
    query: input.query,
    filters: { ...ACTIVE, sessionId: input.document, path: input.path },
    team: undefined,
    preferWorking: false,
    askedAt: undefined,
    knowledge: { spaces: input.spaces, alone: true },
  };
  return engine.search(deps, principal, request, stages, async (tx, ranking) => {
    const scored = order(ranking, input.alpha).slice(0, input.candidates);
    const chosen = scored.slice(input.offset, input.offset + input.limit);
    const rows = await loadBySeq(
      tx,
      ranking.spaces,
      chosen.map(({ entry }) => entry.candidate.seq),
    );
    const hits = chosen.flatMap(({ entry, score }): KnowledgeHit[] => {
      const row = rows.get(entry.candidate.seq);
      if (!row) return [];
      return [
        {
          row,
          score,
          similarity: round(unit(entry.candidate.cosine)),
          snippet: engine.snippetOf(row.content, ranking.weights),
        },
      ];
    });
    const next = input.offset + input.limit;
    const waiting = await countWaiting(tx, input.spaces, input.document);
    return {
      status: waiting > 0 ? 'degraded' : engine.statusOf(ranking, hits.length),
      hits,
      candidates: scored.length,
      answerability: ranking.answerability,
      degraded: waiting > 0 ? [...ranking.degraded, `${waiting} sections are still being indexed`] : ranking.degraded,
      next: next < scored.length ? next : undefined,
    };
  });
}

const round = (x: number): number => Math.round(x * 1e6) / 1e6;
const unit = (x: number | null): number => Math.min(1, Math.max(0, x ?? 0));

/** The ranking of recall, or a plain blend of both arms; what neither arm found is no result. Ties: as recall ranks them. */
function order(ranking: Ranking, alpha: number | undefined): { entry: Scored; score: number }[] {
  if (alpha === undefined || ranking.exactId) {
    return ranking.ranked.map((entry) => ({ entry, score: round(entry.relevance) }));
  }
  return ranking.ranked
    .map((entry) => ({
      entry,
      score: round((1 - alpha) * unit(entry.parts.lexical) + alpha * unit(entry.candidate.cosine)),
    }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score);
}

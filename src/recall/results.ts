/** From a ranking to results on the wire, the same for recall, search and the items of a pack. */
import { createHash } from 'node:crypto';
import type { MemoryRow } from '../db/memories.ts';
import type { Filters } from '../db/visible.ts';
import { toWire } from '../http/wire.ts';
import type { Agent, Principal } from '../types.ts';
import { ARM_LIMIT, STRICT_THRESHOLD, WEAK_THRESHOLD } from './constants.ts';
import type { Scored } from './rank.ts';
import type { Ranking } from './ranking.ts';
import type { ContextReply, Result } from './schema.ts';
import type { SearchRequest } from './search.ts';

export const round = (x: number): number => Math.round(x * 1e6) / 1e6;

export function toResult(entry: Scored, row: MemoryRow, asking: Agent, snippet: string, explain: boolean): Result {
  return {
    ...toWire(row, asking),
    score: round(entry.relevance),
    similarity: round(Math.min(1, Math.max(0, entry.candidate.cosine ?? 0))),
    snippet,
    ...(explain && { explanation: explanationOf(entry) }),
  };
}

/** How the score of a result came about. */
export function explanationOf({ score, parts, candidate }: Scored): NonNullable<Result['explanation']> {
  return {
    fused: round(score),
    parts: Object.fromEntries(Object.entries(parts).map(([name, value]) => [name, round(value)])),
    bm25: round(candidate.bm25),
    cosine: candidate.cosine === null ? null : round(candidate.cosine),
  };
}

export function toPlan(
  ranking: Ranking,
  model: string,
  request: SearchRequest,
  limits: Record<string, number>,
): ContextReply['retrieval_plan'] {
  return {
    arms: ranking.exactId
      ? ['id']
      : ranking.degraded.some((d) => d.startsWith('the embedder failed'))
        ? ['lexical']
        : ['lexical', 'vector'],
    model,
    terms: [...ranking.question.terms, ...ranking.question.glossTerms],
    limits: { arm: ARM_LIMIT, ...limits },
    filters: shown(request.filters, request.team),
    thresholds: { strict: STRICT_THRESHOLD, weak: WEAK_THRESHOLD },
    answerability: round(ranking.answerability),
    degraded: [...ranking.degraded],
  };
}

/** The filters that were applied, without those that were not given. */
function shown({ statuses, ...rest }: Filters, team: string | undefined): Record<string, unknown> {
  const given = Object.entries({ ...rest, team_id: team }).filter(([, value]) => value !== undefined);
  return { status: statuses.join(','), ...Object.fromEntries(given.map(([name, value]) => [wireName(name), value])) };
}

/** The name of a filter as callers write it: memoryType is memory_type. */
export function wireName(name: string): string {
  if (name === 'agentInstance') return 'agent_instance_id';
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export const statusOf = (ranking: Ranking, returned: number): ContextReply['status'] => {
  if (ranking.degraded.length > 0) return 'degraded';
  if (ranking.ranked.length === 0) return 'empty';
  return returned === 0 || ranking.answerability < WEAK_THRESHOLD ? 'below_threshold' : 'ok';
};

/** Ties an answer to a later "used" signal. A function of the answer, so that the same state gives the same bytes. */
export function trackingId(
  principal: Principal,
  query: string,
  rows: readonly Pick<MemoryRow, 'id' | 'version'>[],
): string {
  const text = JSON.stringify([principal.owner, query, rows.map((row) => [row.id, row.version])]);
  return `ut_${createHash('sha256').update(text).digest('base64url').slice(0, 24)}`;
}

/** `self` or `other_agent` when all results agree, else null. */
export function commonBoundary(results: readonly Pick<Result, 'agent_boundary'>[]): Result['agent_boundary'] {
  const kinds = new Set(results.map((r) => r.agent_boundary));
  return kinds.size === 1 ? [...kinds][0]! : null;
}

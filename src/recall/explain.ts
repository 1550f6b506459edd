/** Why is this memory in the answer, or why not: for the engineer at two in the morning. Tells scores, ranks and decisions, never a text. */
import { spacesOf } from '../db/boundary.ts';
import { OWN_FIRST } from '../db/memories.ts';
import { memoriesAt, withPast } from '../db/past.ts';
import { ensureModel, findSpaces } from '../db/spaces.ts';
import { join, type Sql, sql } from '../db/sql.ts';
import { ACTIVE, type Filters, matches, visible } from '../db/visible.ts';
import type { Deps } from '../deps.ts';
import { ApiError } from '../errors.ts';
import type { Principal } from '../types.ts';
import { LENGTH_PRIOR, STRICT_THRESHOLD, WEAK_THRESHOLD } from './constants.ts';
import { recallContext } from './context.ts';
import type { Ranking } from './ranking.ts';
import type { Asking } from './request.ts';
import { explanationOf, round, wireName } from './results.ts';
import type { ContextInput, ContextReply, ExplainReply } from './schema.ts';
import { type SearchRequest, type Stages, search } from './search.ts';
import { limitOf } from './select.ts';

export async function explain(deps: Deps, asking: Asking<ContextInput>, id: string): Promise<ExplainReply> {
  const { principal, input, request } = asking;
  const stages: Stages = new Map();
  const { kept, unread } = await keptOut(deps, principal, id, request);
  const ranking = await search(deps, principal, request, stages, async (_tx, found) => found);
  const at = ranking.ranked.findIndex((entry) => entry.candidate.id === id);
  const entry = ranking.ranked[at];
  const { body } = await recallContext(deps, asking, stages);
  const pack = entry ? (placeOf(id, body) ?? leftOutBecause(ranking, entry.relevance, input)) : null;
  return {
    memory_id: id,
    found: entry !== undefined,
    rank: entry ? at + 1 : null,
    arms: entry ? armsOf(ranking, id) : { lexical: null, vector: null },
    ...(entry && { score: round(entry.relevance), explanation: explanationOf(entry) }),
    kept_out_by: [...kept],
    pack,
    answerability: round(ranking.answerability),
    verdict: verdict(ranking, at, kept, pack) + byWordsAlone(ranking, kept, unread),
  };
}

interface Standing {
  /** What keeps it out of the search: `expired`, `as_of` (it was not there yet), or the names of filters. */
  readonly kept: readonly string[];
  /** It waits for its vectors. */
  readonly unread: boolean;
}

/** Of a memory of the caller's own spaces, or of a document that is asked for as well. @throws ApiError not_found */
async function keptOut(
  deps: Deps,
  principal: Principal,
  id: string,
  { filters, team, asOf, knowledge }: SearchRequest,
): Promise<Standing> {
  const [own, named, model] = await Promise.all([
    findSpaces(deps.db, spacesOf(principal)),
    findSpaces(deps.db, spacesOf(principal, team)),
    ensureModel(deps.db, deps.embedder),
  ]);
  const documents = knowledge?.spaces ?? [];
  const spaces = [...own, ...documents];
  const { statuses, ...given } = filters;
  const checks: [string, Sql][] = [
    ['team_id', sql`m.space_id = any (${[...named, ...documents]}::int[])`],
    ['expired', sql`(m.expires_at is null or m.expires_at > ${deps.now()})`],
    ['status', matches({ statuses })],
    ...Object.entries(given).flatMap(([name, value]): [string, Sql][] =>
      value === undefined ? [] : [[wireName(name), matches({ statuses: EVERY_STATUS, [name]: value } as Filters)]],
    ),
  ];
  const everlasting = visible(principal, new Date(0));
  const columns = join(
    checks.map(([, check]) => check),
    ', ',
  );
  const read = (what: Sql) =>
    sql`select ${what} from memories m join spaces s on s.id = m.space_id
        where m.space_id = any (${spaces}::int[]) and m.id = ${id} and ${everlasting} ${OWN_FIRST}`;
  const past = asOf && memoriesAt(spaces, asOf, principal, new Date(0));
  const [[present], [row]] = await deps.db.transaction(
    { spaces, readOnly: true, owner: principal.owner },
    async (tx) => [
      await tx.query<{ unread: boolean }>(read(sql`m.embedded_by <> ${model} as unread`)),
      await tx.query<{ passed: (boolean | null)[] }>(withPast(past, read(sql`array[${columns}] as passed`))),
    ],
  );
  if (!present) throw new ApiError('not_found');
  const kept = row ? checks.filter((_, i) => row.passed[i] !== true).map(([name]) => name) : ['as_of'];
  return { kept, unread: present.unread };
}

const EVERY_STATUS: Filters['statuses'] = [...ACTIVE.statuses, 'archived'];

/** Its place in each arm, in the arm's own order, among the candidates of both. */
function armsOf({ ranked }: Ranking, id: string): ExplainReply['arms'] {
  const candidates = ranked.map((entry) => entry.candidate);
  const own = candidates.find((candidate) => candidate.id === id)!;
  const place = (value: (c: typeof own) => number): number =>
    1 + candidates.filter((c) => value(c) > value(own)).length;
  return {
    lexical: own.bm25 > 0 ? place((c) => c.bm25) : null,
    vector: own.cosine === null ? null : place(({ cosine, log_length }) => (cosine ?? -1) + LENGTH_PRIOR * log_length),
  };
}

/** Null: it was left out before the budget was shared. */
function placeOf(id: string, { items, budget, conflicts, delta }: ContextReply): string | null {
  const item = items.findIndex((candidate) => candidate.id === id);
  if (item >= 0) {
    const newer = conflicts.find(({ older }) => older === id)?.newer;
    const older = conflicts.find(({ newer }) => newer === id)?.older;
    const beside = newer ? `, contradicted by the newer ${newer}` : older ? `, contradicts the older ${older}` : '';
    return `item ${item + 1} of ${items.length}${beside}`;
  }
  const dropped = budget.dropped.find((candidate) => candidate.id === id);
  if (dropped) return droppedBecause(dropped);
  return delta?.unchanged.includes(id) ? 'left out: the reader holds it from since_pack' : null;
}

function leftOutBecause({ answerability }: Ranking, relevance: number, input: ContextInput): string {
  if (answerability < WEAK_THRESHOLD) return 'not in the pack: the query is below the threshold';
  if (relevance < (input.threshold ?? 0)) return 'not in the pack: its score is below the threshold of the request';
  return `not in the pack: beyond the first ${limitOf(input)} candidates`;
}

function droppedBecause({ reason, of }: ContextReply['budget']['dropped'][number]): string {
  switch (reason) {
    case 'near_duplicate':
      return `dropped: near-duplicate of ${of}`;
    case 'seen':
      return 'left out: the session was sent it';
    case 'max_items':
      return 'dropped: beyond max_items';
    case 'max_tokens':
      return 'dropped: over the token budget';
  }
}

function verdict(ranking: Ranking, at: number, kept: readonly string[], pack: string | null): string {
  if (kept.includes('expired')) return 'expired';
  if (kept.includes('as_of')) return 'not there yet at that instant';
  if (kept.length > 0) return `cut by filter: ${kept.join(', ')}`;
  if (at < 0 && ranking.exactId) return 'the query is the id of another memory, and finds that one alone';
  if (at < 0) return 'not among the candidates: other memories are nearer to the query';
  const strict = ranking.answerability < STRICT_THRESHOLD ? '; strict search returns nothing for this query' : '';
  return `rank ${at + 1}, ${pack}${strict}`;
}

/** Why nothing is said of its meaning. */
function byWordsAlone({ exactId, degraded }: Ranking, kept: readonly string[], unread: boolean): string {
  if (kept.length > 0 || exactId) return '';
  if (degraded.length > 0) return `; ${degraded.join('; ')}`;
  return unread ? '; it has no vectors yet, and until they are made it is found by its words alone' : '';
}

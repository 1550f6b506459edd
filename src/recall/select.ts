/** Which memories a pack is made of, in order: the ranking without what is too weak, says the same again, or was sent already. */
import type { Tx } from '../db/db.ts';
import { loadBySeq, type MemoryRow } from '../db/memories.ts';
import type { Candidate } from './candidates.ts';
import { WEAK_THRESHOLD } from './constants.ts';
import { type Duplicate, withoutNearDuplicates } from './duplicates.ts';
import { type Opposition, sideBySide } from './opposed.ts';
import type { Scored } from './rank.ts';
import type { Ranking } from './ranking.ts';
import type { Asking } from './request.ts';
import type { ContextInput } from './schema.ts';
import type { SearchRequest } from './search.ts';
import { sentOf } from './sent.ts';

/** Candidates that a pack considers when the request does not say. */
const DEFAULT_LIMIT = 60;

export const limitOf = (input: ContextInput): number => input.limit ?? DEFAULT_LIMIT;

export interface Selected {
  readonly id: string;
  /** What it is compared by: its beginning, or a hash of a long text. */
  readonly content: string;
  readonly entry: Scored;
}

export interface Selection {
  readonly kept: readonly Selected[];
  readonly duplicates: readonly Duplicate[];
  /** Ids that the session was sent in this version. */
  readonly seen: readonly string[];
  readonly oppositions: readonly Opposition[];
  /** The first `max_items` of `kept`, by seq. */
  readonly rows: ReadonlyMap<string, MemoryRow>;
}

export async function select(
  tx: Tx,
  { principal, input, request }: Asking<ContextInput>,
  ranking: Ranking,
): Promise<Selection> {
  const distinct = withoutNearDuplicates(strongEnough(ranking, limitOf(input), input.threshold));
  const sent =
    request.session === undefined
      ? undefined
      : await sentOf(
          tx,
          principal.owner,
          request.session,
          distinct.kept.map(({ id }) => id),
        );
  const wasSent = ({ id, entry }: Selected) => sent?.get(id) === versionOf(entry.candidate, request);
  const unseen = distinct.kept.filter((candidate) => !wasSent(candidate));
  const first = unseen.slice(0, input.max_items);
  const rows = await loadBySeq(
    tx,
    ranking.spaces,
    first.map(({ entry }) => entry.candidate.seq),
    ranking.past,
  );
  // Gone since the statement that found it: only where the two do not share a snapshot, as where a session is written down.
  const present = unseen.filter(({ entry }, i) => i >= input.max_items || rows.has(entry.candidate.seq));
  const { ordered, oppositions } = sideBySide(present, first.length, rows);
  return {
    kept: ordered,
    duplicates: distinct.duplicates,
    seen: distinct.kept.filter(wasSent).map(({ id }) => id),
    oppositions,
    rows,
  };
}

/** What a reader is told of a candidate's state; see Known. */
export const versionOf = ({ space_id, version }: Candidate, { knowledge }: SearchRequest): number =>
  knowledge?.spaces.includes(space_id) ? 0 : version;

/** Nothing, when the question cannot be answered from here; weak hits are no padding. */
function strongEnough(ranking: Ranking, limit: number, threshold: number | undefined): Selected[] {
  if (ranking.answerability < WEAK_THRESHOLD) return [];
  return ranking.ranked
    .slice(0, limit)
    .filter((entry) => entry.relevance >= (threshold ?? 0))
    .map((entry) => ({ id: entry.candidate.id, content: entry.candidate.hash ?? entry.candidate.head, entry }));
}

/** What has changed since an earlier pack: what its reader holds already, what is new to them, and what they should stop believing. */
import { spacesOf } from '../db/boundary.ts';
import { findSpaces } from '../db/spaces.ts';
import { sql } from '../db/sql.ts';
import { visible } from '../db/visible.ts';
import type { Deps } from '../deps.ts';
import type { Principal } from '../types.ts';
import { type Known, readPackId } from './pack-id.ts';
import type { ContextReply } from './schema.ts';
import type { SearchRequest } from './search.ts';

export interface Withdrawn {
  readonly id: string;
  /** gone: forgotten, expired, archived or out of the token's reach. changed: it says something else now. */
  readonly reason: 'gone' | 'changed';
}

/** An earlier pack, and what has become of its memories. */
export interface Earlier {
  readonly id: string;
  readonly known: readonly Known[];
  readonly present: ReadonlyMap<string, number>;
  /** Whether the reader holds a memory in this version. */
  holds(id: string, version: number): boolean;
}

/** Undefined: the request names no earlier pack. @throws ApiError validation_error */
export async function readEarlier(
  deps: Deps,
  principal: Principal,
  id: string | undefined,
  request: SearchRequest,
): Promise<Earlier | undefined> {
  if (id === undefined) return undefined;
  const known = readPackId(id);
  await request.after;
  const versions = new Map(known.map((memory) => [memory.id, memory.version]));
  return {
    id,
    known,
    present: await presentVersions(deps, principal, request, known),
    holds: (memory, version) => versions.get(memory) === version,
  };
}

/** What the text answer withdraws: all that is gone, and what says something else now and cannot be in the pack. `first` may be in it. */
export function withdrawnBefore(earlier: Earlier, first: readonly { readonly id: string }[]): Withdrawn[] {
  const possible = new Set(first.map(({ id }) => id));
  return withdrawnOf(earlier, possible);
}

function withdrawnOf({ known, present }: Earlier, told: ReadonlySet<string>): Withdrawn[] {
  return known.flatMap(({ id, version }): Withdrawn[] => {
    const now = present.get(id);
    if (now === undefined) return told.has(id) ? [] : [{ id, reason: 'gone' }];
    return now === version || told.has(id) ? [] : [{ id, reason: 'changed' }];
  });
}

/** `kept`: what the reader goes on holding, beside what is sent now. */
export function toDelta(
  earlier: Earlier,
  sent: readonly Known[],
): { wire: NonNullable<ContextReply['delta']>; kept: Known[] } {
  const told = new Set(sent.map(({ id }) => id));
  const before = new Set(earlier.known.map(({ id }) => id));
  const withdrawn = withdrawnOf(earlier, told);
  const gone = new Set(withdrawn.map(({ id }) => id));
  const kept = earlier.known.filter(({ id }) => !told.has(id) && !gone.has(id));
  return {
    wire: {
      since_pack: earlier.id,
      new: sent.filter(({ id }) => !before.has(id)).map(({ id }) => id),
      changed: sent.filter(({ id }) => before.has(id)).map(({ id }) => id),
      unchanged: kept.map(({ id }) => id),
      withdrawn,
    },
    kept,
  };
}

/** The present versions of what a reader holds, whatever the filters of this question: another path makes nothing untrue. */
async function presentVersions(
  deps: Deps,
  principal: Principal,
  { knowledge, filters }: Pick<SearchRequest, 'knowledge' | 'filters'>,
  known: readonly Known[],
): Promise<Map<string, number>> {
  const own = await findSpaces(deps.db, spacesOf(principal));
  const spaces = [...own, ...(knowledge?.spaces ?? [])];
  const rows = await deps.db.transaction({ spaces, readOnly: true }, (tx) =>
    tx.query<Known>(sql`
      select m.id, case s.kind when 'knowledge' then 0 else m.version end as version
      from memories m join spaces s on s.id = m.space_id
      where m.space_id = any (${spaces}::int[]) and m.id = any (${known.map(({ id }) => id)}::uuid[])
        and ${visible(principal, deps.now())} and m.status = any (${filters.statuses}::text[])`),
  );
  // Documents that are not asked for are not looked for, and so are not gone.
  const unasked = knowledge ? [] : known.filter(({ version }) => version === 0);
  return new Map([...rows, ...unasked].map(({ id, version }) => [id, version]));
}

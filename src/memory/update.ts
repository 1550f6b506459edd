/** Changes a memory in part. Every change is a new version; a change that changes nothing is none. */
import { audit } from '../db/audit.ts';
import { assertInside, spacesOf } from '../db/boundary.ts';
import { isUniqueViolation } from '../db/failures.ts';
import { findById, type MemoryRow } from '../db/memories.ts';
import { ensureModel, findSpaces } from '../db/spaces.ts';
import { visible } from '../db/visible.ts';
import type { Deps } from '../deps.ts';
import { ApiError, invalid } from '../errors.ts';
import type { Indexable } from '../text/indexed.ts';
import { canonicalJson } from '../text/json.ts';
import type { MemoryType, Principal } from '../types.ts';
import { type Conflict, findConflicts } from './conflicts.ts';
import { lockMemory } from './lock.ts';
import { moved, sameText, TextMoved, untilUnmoved } from './moved.ts';
import { embedPassages } from './passages.ts';
import { type Revision, reviseMemory } from './revise.ts';
import { type Columns, hashOf, placeOf, toColumns, touchSpace } from './store.ts';

/** Undefined leaves a column as it is. */
export interface Changes {
  readonly content?: string | undefined;
  readonly bucket?: string | undefined;
  readonly scope?: string | undefined;
  readonly team?: string | undefined;
  readonly path?: string | null | undefined;
  readonly memory_type?: MemoryType | undefined;
  readonly status?: 'active' | 'archived' | undefined;
  readonly semantic_key?: string | undefined;
  readonly importance?: number | undefined;
  readonly confidence?: number | undefined;
  readonly source?: string | undefined;
  readonly author?: string | undefined;
  readonly session_id?: string | undefined;
  readonly position?: number | undefined;
  readonly occurred_at?: Date | undefined;
  readonly expires_at?: Date | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** Merge into what is there, key by key, instead of replacing it. */
  readonly mergeMetadata: boolean;
  readonly provenance?: Readonly<Record<string, unknown>> | undefined;
  readonly mergeProvenance: boolean;
  readonly detectConflicts: boolean;
}

export interface Updated {
  readonly id: string;
  readonly version: number;
  /** Only when they were asked for. */
  readonly conflicts?: readonly Conflict[] | undefined;
}

/**
 * `expected`: the version that the caller read.
 * @throws ApiError not_found; conflict when the version moved or the semantic key is taken; boundary_denied
 */
export async function update(
  deps: Deps,
  principal: Principal,
  id: string,
  changes: Changes,
  expected: number | undefined,
): Promise<Updated> {
  assertInside(principal, changes);
  const spaces = await findSpaces(deps.db, spacesOf(principal));
  try {
    return await untilUnmoved(async () => {
      const read = await deps.db.transaction({ spaces, readOnly: true }, (tx) =>
        findById(tx, spaces, id, principal, deps.now()),
      );
      if (!read) throw new ApiError('not_found');
      assertVersion(read, expected);
      return revise(deps, principal, spaces, { id, changes, expected }, await embed(deps, read, changes));
    });
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw new ApiError('conflict', 'another memory of this bucket and scope has this semantic_key');
  }
}

interface Embedded {
  readonly of: Indexable;
  readonly vectors: NonNullable<Revision['vectors']>;
}

/** Before the transaction, and undefined when nothing that vectors are made of changes. */
async function embed(deps: Deps, read: MemoryRow, changes: Changes): Promise<Embedded | undefined> {
  const columns = merge(read, changes, deps.now());
  if (sameText(read, columns)) return undefined;
  const model = await ensureModel(deps.db, deps.embedder);
  return { of: columns, vectors: { model, passages: await embedPassages(deps, columns) } };
}

function revise(
  deps: Deps,
  principal: Principal,
  spaces: readonly number[],
  { id, changes, expected }: { readonly id: string; readonly changes: Changes; readonly expected: number | undefined },
  embedded: Embedded | undefined,
): Promise<Updated> {
  const now = deps.now();
  return deps.db.transaction({ spaces, owner: principal.owner }, async (tx) => {
    const row = await lockMemory(tx, spaces, id, visible(principal, now), changes.session_id ?? null);
    if (!row) throw new ApiError('not_found');
    assertVersion(row, expected);
    const columns = merge(row, changes, now);
    const status = changes.status ?? (row.status as 'active' | 'archived');
    if (status === row.status && sameColumns(row, columns)) return { id, version: row.version };
    const sameAsBefore = sameText(row, columns);
    if (!sameAsBefore && !(embedded && sameText(embedded.of, columns))) throw new TextMoved();
    const vectors = sameAsBefore ? undefined : embedded?.vectors;
    const { written, totals } = await reviseMemory(tx, row, columns, { action: 'update', status, now, vectors });
    const said = { ...columns, seq: row.seq };
    const conflicts = changes.detectConflicts ? await findConflicts(tx, row.space_id, said, principal, now) : undefined;
    await audit(tx, principal, { action: 'memory.update', target: id, at: now });
    await touchSpace(tx, row.space_id, totals);
    return { id, version: written.version, ...(conflicts && { conflicts }) };
  });
}

function merge(row: MemoryRow, changes: Changes, now: Date): Columns {
  if (changes.team !== undefined && changes.team !== row.team_id) {
    throw invalid('body', 'team_id', 'a memory does not move between teams: remember it there and forget it here');
  }
  const { metadata, provenance, mergeMetadata, mergeProvenance, detectConflicts, team, status, ...rest } = changes;
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)) as Partial<Columns>;
  const content = changes.content ?? row.content;
  return {
    ...toColumns(row, now),
    ...given,
    place: placeOf({ ...row, ...given }),
    content_hash: hashOf(content),
    metadata: mergeMetadata ? { ...row.metadata, ...metadata } : (metadata ?? row.metadata),
    provenance: mergeProvenance ? { ...row.provenance, ...provenance } : (provenance ?? row.provenance),
  };
}

function sameColumns(row: MemoryRow, columns: Columns): boolean {
  const present = toColumns(row, columns.now);
  return (Object.keys(present) as (keyof Columns)[]).every((name) => sameValue(present[name], columns[name]));
}

function sameValue(a: unknown, b: unknown): boolean {
  if (typeof a === 'number' && typeof b === 'number') return Math.fround(a) === Math.fround(b); // as the column stores it
  return a === b || canonicalJson(a) === canonicalJson(b);
}

function assertVersion(row: Pick<MemoryRow, 'version'>, expected: number | undefined): void {
  if (expected !== undefined && row.version !== expected) throw moved();
}

/** Changes a memory in part. Every change is a new version; a change that changes nothing is none. */
import { assertInside, spacesOf } from '../db/boundary.ts';
import { isUniqueViolation } from '../db/db.ts';
import { findById, type MemoryRow } from '../db/memories.ts';
import { ensureModel, findSpaces } from '../db/spaces.ts';
import { visible } from '../db/visible.ts';
import type { Deps } from '../deps.ts';
import { ApiError, invalid } from '../errors.ts';
import { densePrefix } from '../text/indexed.ts';
import { canonicalJson } from '../text/json.ts';
import type { MemoryType, Principal } from '../types.ts';
import { lockMemory } from './lock.ts';
import { embedPassages } from './passages.ts';
import { reviseMemory } from './revise.ts';
import { type Columns, hashOf, placeOf, toColumns } from './store.ts';

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
}

class Moved extends Error {}

export interface Updated {
  readonly id: string;
  readonly version: number;
}

/** A change that another writer overtakes this often is given up. */
const TRIES = 5;

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
  for (let tries = 1; ; tries++) {
    const read = await deps.db.transaction({ spaces, readOnly: true }, (tx) =>
      findById(tx, spaces, id, principal, deps.now()),
    );
    if (!read) throw new ApiError('not_found');
    assertVersion(read, expected);
    const done = await revise(deps, principal, spaces, read, changes);
    if (done) return done;
    // It changed while the new text was embedded. Who named a version must look again; who did not, means the newest.
    if (expected !== undefined || tries === TRIES) throw moved();
  }
}

/** Undefined when the memory is no longer as it was read. */
async function revise(
  deps: Deps,
  principal: Principal,
  spaces: readonly number[],
  read: MemoryRow,
  changes: Changes,
): Promise<Updated | undefined> {
  const now = deps.now();
  const columns = merge(read, changes, now);
  const status = changes.status ?? (read.status as 'active' | 'archived');
  const vectors = sameVectors(read, columns)
    ? undefined
    : { model: await ensureModel(deps.db, deps.embedder), passages: await embedPassages(deps, columns) };
  try {
    return await deps.db.transaction({ spaces }, async (tx) => {
      const row = await lockMemory(tx, spaces, read.id, visible(principal, now), columns.session_id);
      if (!row) throw new ApiError('not_found');
      if (row.version !== read.version) throw new Moved();
      if (status === row.status && sameColumns(row, columns)) return { id: row.id, version: row.version };
      const { version } = await reviseMemory(tx, row, columns, { action: 'update', status, now, vectors });
      return { id: row.id, version };
    });
  } catch (error) {
    if (error instanceof Moved) return undefined;
    if (isUniqueViolation(error))
      throw new ApiError('conflict', 'another memory of this bucket and scope has this semantic_key');
    throw error;
  }
}

function merge(row: MemoryRow, changes: Changes, now: Date): Columns {
  if (changes.team !== undefined && changes.team !== row.team_id) {
    throw invalid('body', 'team_id', 'a memory does not move between teams: remember it there and forget it here');
  }
  const { metadata, provenance, mergeMetadata, mergeProvenance, team, status, ...rest } = changes;
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

/** Vectors are made of the text with its date and author before it. */
function sameVectors(row: MemoryRow, columns: Columns): boolean {
  return row.content === columns.content && densePrefix(row) === densePrefix(columns) && row.path === columns.path;
}

function sameColumns(row: MemoryRow, columns: Columns): boolean {
  const present = toColumns(row, columns.now);
  return (Object.keys(present) as (keyof Columns)[]).every((name) => sameValue(present[name], columns[name]));
}

function sameValue(a: unknown, b: unknown): boolean {
  if (typeof a === 'number' && typeof b === 'number') return Math.fround(a) === Math.fround(b); // as the column stores it
  return a === b || canonicalJson(a) === canonicalJson(b);
}

export function assertVersion(row: Pick<MemoryRow, 'version'>, expected: number | undefined): void {
  if (expected !== undefined && row.version !== expected) throw moved();
}

const moved = (): ApiError =>
  new ApiError('conflict', 'the memory has changed since that version: read it again, then change it');

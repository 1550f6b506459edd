/** Everything that is known about one memory: its columns, versions, use, vectors, and how a query finds it. */
import { spacesOf } from '../db/boundary.ts';
import type { Tx } from '../db/db.ts';
import { findById, type MemoryRow } from '../db/memories.ts';
import { findSpaces } from '../db/spaces.ts';
import { sql } from '../db/sql.ts';
import type { Deps } from '../deps.ts';
import { ApiError } from '../errors.ts';
import type { Principal } from '../types.ts';
import { fitting, jsonBytes } from './fitting.ts';
import type { Match, RecallLinks } from './links.ts';
import { contextsOf, type Usage, type UseContext, usageOf } from './usage.ts';
import { findVersion, listVersions, type Version, type VersionPage } from './versions.ts';

/** Which memory; a bucket, scope or team that is named must be its own. */
export interface Which {
  readonly id: string;
  readonly bucket?: string | undefined;
  readonly scope?: string | undefined;
  readonly team?: string | undefined;
}

export interface PassageView {
  readonly model: string;
  readonly start: number;
  readonly end: number;
  readonly vector: readonly number[];
}

export interface Explained {
  readonly row: MemoryRow;
  readonly versions: readonly Version[];
  readonly usage: Usage;
  /** The asking owner's own. */
  readonly contexts: readonly UseContext[];
  readonly match: Match | null;
  readonly embedding: readonly PassageView[] | null;
}

/** Enough to see how a memory came to be; all of them are on the route of versions. */
const SHOWN_VERSIONS = 20;

/** @throws ApiError not_found */
export async function explain(
  deps: Deps,
  { explainMatch }: Pick<RecallLinks, 'explainMatch'>,
  principal: Principal,
  which: Which,
  asked: { readonly query: string | undefined; readonly includeEmbedding: boolean },
): Promise<Explained> {
  const found = await withMemory(deps, principal, which, async (tx, row) => {
    const taken = 2 * jsonBytes(row); // at the root and in memory
    const newest = await listVersions(tx, row, principal, { limit: SHOWN_VERSIONS, before: undefined });
    const versions = fitting(newest, jsonBytes, taken);
    return {
      row,
      versions,
      usage: await usageOf(tx, row.space_id, row.seq),
      contexts: await contextsOf(tx, row.space_id, row.seq, principal.owner),
      embedding: asked.includeEmbedding
        ? fitting(await passagesOf(tx, row), jsonBytes, taken + jsonBytes(versions))
        : null,
    };
  });
  return {
    ...found,
    match: asked.query === undefined ? null : await explainMatch(deps, principal, asked.query, found.row),
  };
}

/** `next`: where the next page begins; null: nowhere. @throws ApiError not_found */
export async function versionsOf(
  deps: Deps,
  principal: Principal,
  id: string,
  page: VersionPage,
): Promise<{ versions: readonly Version[]; next: number | null }> {
  const found = await withMemory(deps, principal, { id }, (tx, row) => listVersions(tx, row, principal, page));
  const versions = fitting(found, jsonBytes);
  const last = versions.at(-1);
  const goesOn = versions.length < found.length || found.length === page.limit;
  return { versions, next: last && goesOn && last.version > 1 ? last.version : null };
}

/** A memory as a write left it. @throws ApiError not_found, also when it was forgotten meanwhile */
export async function memoryAt(deps: Deps, principal: Principal, id: string, version: number): Promise<MemoryRow> {
  const row = await withMemory(deps, principal, { id }, (tx, row) => findVersion(tx, row, principal, version));
  if (!row) throw new ApiError('not_found');
  return row;
}

/** Reads one visible memory and what `use` wants beside it, in one state. @throws ApiError not_found */
export async function withMemory<T>(
  deps: Deps,
  principal: Principal,
  { id, bucket, scope, team }: Which,
  use: (tx: Tx, row: MemoryRow) => Promise<T>,
): Promise<T> {
  const spaces = await findSpaces(deps.db, spacesOf(principal, team));
  return deps.db.transaction({ spaces, readOnly: true }, async (tx) => {
    const row = await findById(tx, spaces, id, principal, deps.now());
    if (!row || (bucket !== undefined && bucket !== row.bucket) || (scope !== undefined && scope !== row.scope)) {
      throw new ApiError('not_found');
    }
    return use(tx, row);
  });
}

function passagesOf(tx: Tx, { space_id, seq }: MemoryRow): Promise<PassageView[]> {
  return tx.query<PassageView>(sql`
    select e.name as model, p.start_at as start, p.end_at as end, p.embedding::vector::real[] as vector
    from passages p join embedding_models e on e.id = p.model
    where p.space_id = ${space_id} and p.seq = ${seq} order by e.name, p.ordinal`);
}

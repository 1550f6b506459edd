/** Gives out memories as JSON lines, in the order of their arrival, with their earlier versions. */
import { assertInside, spaceToWrite } from '../db/boundary.ts';
import { COLUMNS, type MemoryRow } from '../db/memories.ts';
import { findSpaces } from '../db/spaces.ts';
import { sql } from '../db/sql.ts';
import { type Filters, matches, visible } from '../db/visible.ts';
import type { Deps } from '../deps.ts';
import type { Principal } from '../types.ts';
import { fitting, jsonBytes, REPLY_BYTES } from './fitting.ts';
import { toRecord } from './record.ts';
import { earlierVersions } from './versions.ts';

export interface ExportRequest {
  readonly filters: Filters;
  /** Undefined: the owner's own memories. */
  readonly team: string | undefined;
  readonly limit: number;
  /** What the page before gave as `next`; it grows strictly. */
  readonly cursor: number;
}

export interface Exported {
  readonly jsonl: string;
  readonly count: number;
  readonly next: number | null;
}

/** A page ends at `limit` memories, or earlier when their texts grow large. @throws ApiError boundary_denied */
export async function exportMemories(
  deps: Deps,
  principal: Principal,
  { filters, team, limit, cursor }: ExportRequest,
): Promise<Exported> {
  assertInside(principal, filters);
  const spaces = await findSpaces(deps.db, [spaceToWrite(principal, team)]);
  const predicate = sql`m.space_id = any (${spaces}::int[]) and ${visible(principal, deps.now())} and ${matches(filters)}`;
  return deps.db.transaction({ spaces, readOnly: true }, async (tx) => {
    const rows = await tx.query<MemoryRow & { more: boolean }>(sql`
      with page as (
        select m.space_id, m.seq, row_number() over (order by m.seq) as n, octet_length(m.content) + coalesce((
          select sum(octet_length(v.content)) from memory_versions v where v.space_id = m.space_id and v.seq = m.seq), 0) as size
        from memories m where ${predicate} and m.seq > ${cursor} order by m.seq limit ${limit + 1}),
      sized as (select *, sum(size) over (order by seq) - size as above from page)
      select ${COLUMNS}, (select count(*) from page) > count(*) over () as more
      from sized p join memories m on m.space_id = p.space_id and m.seq = p.seq join spaces s on s.id = m.space_id
      where p.above < ${REPLY_BYTES} and p.n <= ${limit} order by m.seq`);
    const versions = await earlierVersions(tx, rows, principal);
    const all = rows.map((row) => `${JSON.stringify(toRecord(row, versions.get(row.seq) ?? []))}\n`);
    const lines = fitting(all, jsonBytes);
    const last = rows[lines.length - 1];
    return {
      jsonl: lines.join(''),
      count: lines.length,
      next: last && (lines.length < rows.length || last.more) ? Number(last.seq) : null,
    };
  });
}

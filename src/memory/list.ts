/** Lists memories, newest arrival first. The order is that of a key, so that a cursor neither skips nor repeats when others write. */
import { createHash } from 'node:crypto';
import { assertInside, spacesOf } from '../db/boundary.ts';
import { COLUMNS, type MemoryRow } from '../db/memories.ts';
import { memoriesAt, withPast } from '../db/past.ts';
import { findSpaces } from '../db/spaces.ts';
import { sql } from '../db/sql.ts';
import { type Filters, matches, visible } from '../db/visible.ts';
import type { Deps } from '../deps.ts';
import { invalid } from '../errors.ts';
import { canonicalJson } from '../text/json.ts';
import type { Principal } from '../types.ts';
import { fitting, jsonBytes, REPLY_BYTES } from './fitting.ts';

export interface ListRequest {
  readonly filters: Filters;
  readonly team: string | undefined;
  readonly limit: number;
  readonly offset: number;
  readonly cursor: string | undefined;
  /** The memories as they stood at this instant. */
  readonly asOf?: Date | undefined;
}

export interface Listed {
  readonly rows: readonly MemoryRow[];
  /** Of all pages. */
  readonly total: number;
  readonly next: string | null;
}

/** Each memory stands in a reply twice: in items, and in memories. */
const COPIES = 2;

/** @throws ApiError boundary_denied; validation_error for a cursor that is not of this list */
export async function list(
  deps: Deps,
  principal: Principal,
  { filters, team, limit, offset, cursor, asOf }: ListRequest,
): Promise<Listed> {
  assertInside(principal, filters);
  const after = cursor === undefined ? undefined : readCursor(cursor, { filters, team, asOf });
  const spaces = await findSpaces(deps.db, spacesOf(principal, team));
  const now = deps.now();
  const past = asOf && asOf < now ? memoriesAt(spaces, asOf, principal, now) : undefined;
  const predicate = sql`m.space_id = any (${spaces}::int[]) and ${visible(principal, past ? asOf! : now)} and ${matches(filters)}`;
  return deps.db.transaction({ spaces, readOnly: true }, async (tx) => {
    const [count] = await tx.query<{ total: number }>(
      withPast(past, sql`select count(*)::int as total from memories m where ${predicate}`),
    );
    const rows = await tx.query<MemoryRow & { more: boolean }>(sql`
      with ${past ? sql`${past},` : sql``} page as (
        select m.space_id, m.seq, octet_length(m.content) as size, row_number() over (order by m.seq desc) as n
        from memories m where ${predicate}${after === undefined ? sql`` : sql` and m.seq < ${after}`}
        order by m.seq desc limit ${limit + 1} offset ${offset}),
      sized as (select *, sum(size) over (order by seq desc) - size as above from page)
      select ${COLUMNS}, (select count(*) from page) > count(*) over () as more
      from sized p join memories m on m.space_id = p.space_id and m.seq = p.seq join spaces s on s.id = m.space_id
      where p.above < ${REPLY_BYTES / COPIES} and p.n <= ${limit + offset} order by m.seq desc`);
    const shown = fitting(rows, (row) => COPIES * jsonBytes(row));
    const last = shown.at(-1);
    const goesOn = shown.length < rows.length || last?.more;
    return { rows: shown, total: count!.total, next: goesOn ? writeCursor(last!.seq, { filters, team, asOf }) : null };
  });
}

/** What a cursor belongs to: with other filters it would silently leave memories out. */
type Asked = Pick<ListRequest, 'filters' | 'team' | 'asOf'>;

function writeCursor(seq: string, { filters, team, asOf }: Asked): string {
  const mark = createHash('sha256')
    .update(canonicalJson([seq, filters, team, asOf]))
    .digest('hex')
    .slice(0, 12);
  return `${seq}.${mark}`;
}

function readCursor(cursor: string, asked: Asked): string {
  const seq = /^(\d{1,18})\.[0-9a-f]{12}$/.exec(cursor)?.[1];
  if (seq === undefined || writeCursor(seq, asked) !== cursor) {
    throw invalid('query', 'cursor', 'is not one of this list: send it as it came, with the same filters');
  }
  return seq;
}

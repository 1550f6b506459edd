/** Counts of what a token may see. Forgotten and expired memories are in none of them. */
import { assertInside, spacesOf } from '../db/boundary.ts';
import { findSpaces } from '../db/spaces.ts';
import { join, type Sql, sql } from '../db/sql.ts';
import { type Filters, matches, visible } from '../db/visible.ts';
import type { Deps } from '../deps.ts';
import { invalid } from '../errors.ts';
import type { Principal } from '../types.ts';

export interface StatsRequest {
  readonly filters: Filters;
  readonly team: string | undefined;
  /** path, type, status, source, bucket, day, or metadata:KEY; several with commas between them. */
  readonly groupBy: string | undefined;
  readonly topN: number;
}

export interface Stats {
  readonly total: number;
  readonly filtered: number;
  readonly latest: Date | null;
  readonly oldest: Date | null;
  readonly types: Readonly<Record<string, number>>;
  readonly statuses: Readonly<Record<string, number>>;
  readonly buckets: Readonly<Record<string, number>>;
  /** One for each combination of what is grouped by. */
  readonly groups: readonly { readonly by: Readonly<Record<string, string | null>>; readonly count: number }[];
}

/** When it happened, or was stored when that is unknown: as in the filters since and until. */
const HAPPENED = sql`coalesce(m.occurred_at, m.created_at)`;

const GROUPS: Readonly<Record<string, Sql>> = {
  path: sql`m.path`,
  type: sql`m.memory_type`,
  status: sql`m.status`,
  source: sql`m.source`,
  bucket: sql`m.bucket`,
  day: sql`to_char(${HAPPENED} at time zone 'UTC', 'YYYY-MM-DD')`,
};

/** @throws ApiError boundary_denied; validation_error for a grouping that does not exist */
export async function stats(
  deps: Deps,
  principal: Principal,
  { filters, team, groupBy, topN }: StatsRequest,
): Promise<Stats> {
  assertInside(principal, filters);
  const dimensions = groupBy === undefined ? [] : dimensionsOf(groupBy);
  const columns = dimensions.map(columnOf);
  const spaces = await findSpaces(deps.db, spacesOf(principal, team));
  const all = sql`memories m where m.space_id = any (${spaces}::int[]) and ${visible(principal, deps.now())}`;
  const matching = sql`${all} and ${matches(filters)}`;
  return deps.db.transaction({ spaces, readOnly: true }, async (tx) => {
    const [total] = await tx.query<{ n: number }>(sql`select count(*)::int as n from ${all}`);
    const [some] = await tx.query<{ n: number; latest: Date | null; oldest: Date | null }>(
      sql`select count(*)::int as n, max(${HAPPENED}) as latest, min(${HAPPENED}) as oldest from ${matching}`,
    );
    const counts = (columns: readonly Sql[], limit: Sql = sql``) =>
      tx.query<{ keys: (string | null)[]; count: number }>(sql`
        select keys, count(*)::int as count from (select array[${join(columns, ', ')}]::text[] as keys from ${matching}) g
        group by keys order by count desc, keys ${limit}`);
    const named = async (column: Sql) =>
      Object.fromEntries((await counts([column])).map(({ keys: [key], count }) => [key, count]));
    const grouped = columns.length === 0 ? [] : await counts(columns, sql`limit ${topN}`);
    return {
      total: total!.n,
      filtered: some!.n,
      latest: some!.latest,
      oldest: some!.oldest,
      types: await named(sql`m.memory_type`),
      statuses: await named(sql`m.status`),
      buckets: await named(sql`m.bucket`),
      groups: grouped.map(({ keys, count }) => ({
        by: Object.fromEntries(dimensions.map((name, i) => [name, keys[i] ?? null])),
        count,
      })),
    };
  });
}

/** A comma that no dimension follows belongs to the key of a metadata field. */
const BETWEEN = new RegExp(`,\\s*(?=(?:${Object.keys(GROUPS).join('|')})\\s*(?:,|$)|metadata:)`);

const dimensionsOf = (groupBy: string): string[] => [...new Set(groupBy.split(BETWEEN).map((name) => name.trim()))];

function columnOf(dimension: string): Sql {
  const key = /^metadata:(.+)$/s.exec(dimension)?.[1];
  if (key !== undefined) return sql`m.metadata ->> ${key}::text`;
  const column = Object.hasOwn(GROUPS, dimension) ? GROUPS[dimension] : undefined;
  if (!column) throw invalid('query', 'group_by', `must be of ${Object.keys(GROUPS).join(', ')}, or metadata:KEY`);
  return column;
}

/** Counts of what a token may see. Forgotten and expired memories are in none of them. */
import { assertInside, spacesOf } from '../db/boundary.ts';
import { findSpaces } from '../db/spaces.ts';
import { type Sql, sql } from '../db/sql.ts';
import { type Filters, matches, visible } from '../db/visible.ts';
import type { Deps } from '../deps.ts';
import { invalid } from '../errors.ts';
import type { Principal } from '../types.ts';

export interface StatsRequest {
  readonly filters: Filters;
  readonly team: string | undefined;
  /** path, type, status, source, bucket, day, or metadata:KEY */
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
  readonly groups: readonly { readonly key: string | null; readonly count: number }[];
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
  const group = groupBy === undefined ? undefined : groupOf(groupBy);
  const spaces = await findSpaces(deps.db, spacesOf(principal, team));
  const all = sql`memories m where m.space_id = any (${spaces}::int[]) and ${visible(principal, deps.now())}`;
  const matching = sql`${all} and ${matches(filters)}`;
  return deps.db.transaction({ spaces, readOnly: true }, async (tx) => {
    const [total] = await tx.query<{ n: number }>(sql`select count(*)::int as n from ${all}`);
    const [some] = await tx.query<{ n: number; latest: Date | null; oldest: Date | null }>(
      sql`select count(*)::int as n, max(${HAPPENED}) as latest, min(${HAPPENED}) as oldest from ${matching}`,
    );
    const counts = (column: Sql, limit: Sql = sql``) =>
      tx.query<{ key: string | null; count: number }>(sql`
        select key, count(*)::int as count from (select ${column} as key from ${matching}) g
        group by key order by count desc, key nulls last ${limit}`);
    const named = async (column: Sql) =>
      Object.fromEntries((await counts(column)).map(({ key, count }) => [key, count]));
    return {
      total: total!.n,
      filtered: some!.n,
      latest: some!.latest,
      oldest: some!.oldest,
      types: await named(sql`m.memory_type`),
      statuses: await named(sql`m.status`),
      buckets: await named(sql`m.bucket`),
      groups: group ? await counts(group, sql`limit ${topN}`) : [],
    };
  });
}

function groupOf(name: string): Sql {
  const key = /^metadata:(.+)$/s.exec(name)?.[1];
  if (key !== undefined) return sql`m.metadata ->> ${key}::text`;
  const group = Object.hasOwn(GROUPS, name) ? GROUPS[name] : undefined;
  if (!group) throw invalid('query', 'group_by', `must be one of ${Object.keys(GROUPS).join(', ')}, or metadata:KEY`);
  return group;
}

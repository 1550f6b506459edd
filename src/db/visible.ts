/**
 * The one compiler of predicates. `visible` is what a token may see, `matches` what a request asks for; both speak of the alias `m`
 * (memories) and stand inside every arm, list and id route, before its limit. The space itself is always written beside them.
 */
import type { Boundary, MemoryStatus, MemoryType } from '../types.ts';
import { join, type Sql, sql } from './sql.ts';

export interface Filters {
  readonly bucket?: string | undefined;
  readonly scope?: string | undefined;
  /** Exact, or with `%` as a wildcard; every other character is literal. */
  readonly path?: string | undefined;
  /** Literal; the path itself and whatever stands below it: matches at `/` only. */
  readonly pathPrefix?: string | undefined;
  readonly memoryType?: MemoryType | undefined;
  readonly statuses: readonly Exclude<MemoryStatus, 'deleted'>[];
  readonly agentId?: string | undefined;
  readonly agentInstance?: string | undefined;
  readonly source?: string | undefined;
  readonly sessionId?: string | undefined;
  /** JSON containment: `{a: 1}` finds whatever holds a = 1, numbers compared as numbers. */
  readonly provenance?: Readonly<Record<string, unknown>> | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** Of the time when it happened, or was stored when that is unknown: since ≤ time < until. */
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
}

export const ACTIVE: Filters = { statuses: ['active'] };

/** Not deleted, not expired, inside the token's buckets and scopes. */
export function visible(boundary: Boundary, now: Date): Sql {
  return sql`m.status <> 'deleted' and (m.expires_at is null or m.expires_at > ${now}) and ${inside(boundary)}`;
}

/** Inside the token's buckets and scopes alone; what is forgotten or expired too. For versions, receipts and what is no memory, never for a read of memories. */
export function inside({ buckets, scopes }: Boundary): Sql {
  const parts = [
    sql`true`,
    ...(buckets ? [sql`m.bucket = any (${buckets}::text[])`] : []),
    ...(scopes ? [sql`m.scope = any (${scopes}::text[])`] : []),
  ];
  return join(parts, ' and ');
}

export function matches(f: Filters): Sql {
  const parts = [
    sql`m.status = any (${f.statuses}::text[])`,
    ...equal(sql`m.bucket`, f.bucket),
    ...equal(sql`m.scope`, f.scope),
    ...equal(sql`m.memory_type`, f.memoryType),
    ...equal(sql`m.agent_id`, f.agentId),
    ...equal(sql`m.agent_instance`, f.agentInstance),
    ...equal(sql`m.source`, f.source),
    ...equal(sql`m.session_id`, f.sessionId),
    ...(f.path === undefined ? [] : [pathMatches(f.path)]),
    ...(f.pathPrefix === undefined
      ? []
      : [sql`(m.path = ${f.pathPrefix} or starts_with(m.path, ${`${f.pathPrefix}/`}))`]),
    ...(f.provenance === undefined ? [] : [sql`m.provenance @> ${JSON.stringify(f.provenance)}::jsonb`]),
    ...(f.metadata === undefined ? [] : [sql`m.metadata @> ${JSON.stringify(f.metadata)}::jsonb`]),
    ...(f.since === undefined ? [] : [sql`coalesce(m.occurred_at, m.created_at) >= ${f.since}`]),
    ...(f.until === undefined ? [] : [sql`coalesce(m.occurred_at, m.created_at) < ${f.until}`]),
  ];
  return join(parts, ' and ');
}

function equal(column: Sql, value: string | undefined): Sql[] {
  return value === undefined ? [] : [sql`${column} = ${value}`];
}

function pathMatches(path: string): Sql {
  if (!path.includes('%')) return sql`m.path = ${path}`;
  const pattern = path.replace(/[\\_]/g, '\\$&');
  return sql`m.path like ${pattern}`;
}

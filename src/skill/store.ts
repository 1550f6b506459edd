/** Counts and latest changes of what a principal may see. */
import type { Tx } from '../db/db.ts';
import { join, sql } from '../db/sql.ts';
import { inside, visible } from '../db/visible.ts';
import type { Boundary } from '../types.ts';

export interface Overview {
  readonly active: number;
  readonly archived: number;
  readonly forgotten: number;
  readonly agents: number;
  readonly bytes: number;
  readonly recent_bytes: number;
}

export async function overview(
  tx: Tx,
  spaces: readonly number[],
  boundary: Boundary,
  now: Date,
  since: Date,
): Promise<Overview> {
  const shown = visible(boundary, now);
  const own = join([sql`m.space_id = any (${spaces}::int[])`, inside(boundary)], ' and ');
  const [row] = await tx.query<Overview>(sql`
    select count(*) filter (where m.status = 'active' and ${shown})::int as active,
      count(*) filter (where m.status = 'archived' and ${shown})::int as archived,
      count(*) filter (where m.status = 'deleted' and m.action <> 'redact')::int as forgotten,
      count(distinct m.agent_id) filter (where m.updated_at >= ${since} and ${shown})::int as agents,
      coalesce(sum(octet_length(m.content)) filter (where ${shown}), 0)::float8 as bytes,
      coalesce(sum(octet_length(m.content)) filter (where m.created_at >= ${since} and ${shown}), 0)::float8 as recent_bytes
    from memories m where ${own}`);
  return row!;
}

export interface Change {
  readonly ts: Date;
  readonly type: 'memory' | 'event' | 'reminder' | 'decision' | 'state' | 'snapshot' | 'ledger';
  /** The beginning of the text, as it stands. */
  readonly head: string;
  readonly ref_id: string;
}

const HEAD = 200;

/** Memories by their latest change and, for who may read the ledger, its entries; latest first. */
export async function latestChanges(
  tx: Tx,
  spaces: readonly number[],
  boundary: Boundary,
  now: Date,
  ledger: boolean,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ rows: Change[]; total: number }> {
  const all = sql`
    select m.updated_at as ts, coalesce(w.kind, 'memory') as type, left(m.content, ${HEAD}) as head, m.id as ref_id
    from memories m left join work_items w on w.space_id = m.space_id and w.seq = m.seq
    where m.space_id = any (${spaces}::int[]) and ${visible(boundary, now)}
    union all
    select m.created_at, 'ledger', left(m.transaction_type || ': ' || m.item || ', ' || trim_scale(m.amount) || ' ' || m.currency, ${HEAD}), m.id
    from ledger_transactions m
    where ${ledger} and ${join([sql`m.space_id = any (${spaces}::int[])`, inside(boundary)], ' and ')}`;
  const rows = await tx.query<Change>(sql`
    select ts, type, head, ref_id from (${all}) changes order by ts desc, ref_id desc limit ${page.limit} offset ${page.offset}`);
  const [count] = await tx.query<{ total: number }>(sql`select count(*)::int as total from (${all}) changes`);
  return { rows, total: count!.total };
}

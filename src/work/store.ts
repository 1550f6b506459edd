/** The statements of work items. Every one names its space and reads through `visible`. */
import type { Tx } from '../db/db.ts';
import { COLUMNS as MEMORY_COLUMNS, type MemoryRow } from '../db/memories.ts';
import { memoriesAt, withPast } from '../db/past.ts';
import { join, type Sql, sql } from '../db/sql.ts';
import { type Filters, matches, visible } from '../db/visible.ts';
import type { Boundary } from '../types.ts';

export type Kind = 'event' | 'reminder' | 'decision' | 'state' | 'snapshot';
export type ItemStatus = 'open' | 'completed' | 'resolved';

/** A state as it was when a snapshot was taken. Times are ISO text. */
export interface Frozen {
  readonly content: string;
  readonly metadata: Record<string, unknown>;
  readonly path: string | null;
  readonly source: string | null;
  readonly version: number;
  readonly updated_at: string;
  readonly expires_at: string | null;
}

export interface ItemRow extends MemoryRow {
  readonly kind: Kind;
  readonly item_status: ItemStatus | null;
  readonly event_type: string | null;
  readonly state_key: string | null;
  readonly due_at: Date | null;
  readonly completed_at: Date | null;
  readonly state_seq: string | null;
  readonly frozen: Frozen | null;
  readonly refs: readonly string[];
}

export interface NewItem {
  readonly kind: Kind;
  readonly itemStatus?: ItemStatus;
  readonly eventType?: string;
  readonly stateKey?: string;
  readonly dueAt?: Date | undefined;
  readonly stateSeq?: string | undefined;
  readonly frozen?: Frozen | undefined;
  readonly refs?: readonly string[];
}

export async function writeItem(tx: Tx, space: number, seq: string, item: NewItem): Promise<void> {
  await tx.query(sql`
    insert into work_items (space_id, seq, kind, item_status, event_type, state_key, due_at, state_seq, frozen, refs)
    values (${space}, ${seq}, ${item.kind}, ${item.itemStatus ?? null}, ${item.eventType ?? null}, ${item.stateKey ?? null}, ${item.dueAt ?? null},
      ${item.stateSeq ?? null}, ${item.frozen ? JSON.stringify(item.frozen) : null}::jsonb, ${item.refs ?? []}::bigint[])
    on conflict (space_id, seq) do update set kind = excluded.kind, state_key = excluded.state_key`);
}

/** A snapshot speaks of memories that speak for themselves: it stays out of packs. */
export async function putAside(tx: Tx, space: number, seq: string): Promise<void> {
  await tx.query(
    sql`update memories set status = 'archived' where space_id = ${space} and seq = ${seq} and status <> 'deleted'`,
  );
}

/** Closes an open item; false when it is closed already. */
export async function closeItem(tx: Tx, space: number, seq: string, status: ItemStatus, at: Date): Promise<boolean> {
  const closed = await tx.query(sql`
    update work_items set item_status = ${status}, completed_at = ${at}
    where space_id = ${space} and seq = ${seq} and item_status = 'open' returning seq`);
  return closed.length > 0;
}

export interface ItemFilters {
  readonly kind: Kind;
  readonly itemStatus?: ItemStatus | undefined;
  readonly eventType?: string | undefined;
  readonly stateKey?: string | undefined;
  readonly dueBefore?: Date | undefined;
}

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** Events, states and snapshots: newest first. Reminders and decisions: the most urgent first, closed ones last. */
const ORDER: Readonly<Record<'time' | 'due', Sql>> = {
  time: sql`coalesce(m.occurred_at, m.created_at) desc, m.seq desc`,
  due: sql`w.item_status = 'open' desc, w.due_at asc nulls last, m.seq desc`,
};

const COLUMNS: Sql = sql`${MEMORY_COLUMNS}, w.kind, w.item_status, w.event_type, w.state_key, w.due_at, w.completed_at, w.state_seq, w.frozen, w.refs`;

const FROM: Sql = sql`work_items w join memories m on m.space_id = w.space_id and m.seq = w.seq join spaces s on s.id = m.space_id`;

/** Whose items are read, and at which time they must be visible. */
export interface Reading {
  readonly spaces: readonly number[];
  readonly boundary: Boundary;
  readonly now: Date;
  /** Lists show what was known at this instant; default: what is known now. */
  readonly asOf?: Date | undefined;
}

const readable = ({ spaces, boundary, now }: Reading): Sql =>
  sql`w.space_id = any (${spaces}::int[]) and ${visible(boundary, now)}`;

/** The items and their memories at an instant: what was closed since was open. Nothing else of an item changes. */
const before = ({ spaces, boundary, now }: Reading, at: Date): Sql => sql`
  ${memoriesAt(spaces, at, boundary, now)},
  work_items as not materialized (
    select space_id, seq, kind, event_type, state_key, due_at, state_seq, frozen, refs,
      case when completed_at > ${at} then 'open' else item_status end as item_status,
      case when completed_at <= ${at} then completed_at end as completed_at
    from work_items where space_id = any (${spaces}::int[]))`;

export interface Listing {
  readonly filters: Filters;
  readonly items: ItemFilters;
  readonly page: Page;
}

export async function listItems(
  tx: Tx,
  reading: Reading,
  { filters, items, page }: Listing,
): Promise<{ rows: ItemRow[]; total: number }> {
  const { asOf, now } = reading;
  const past = asOf && asOf < now ? before(reading, asOf) : undefined;
  const where = join(
    [
      sql`${readable({ ...reading, now: past ? asOf! : now })} and w.kind = ${items.kind} and ${matches(filters)}`,
      ...(items.itemStatus === undefined ? [] : [sql`w.item_status = ${items.itemStatus}`]),
      ...(items.eventType === undefined ? [] : [sql`w.event_type = ${items.eventType}`]),
      ...(items.stateKey === undefined ? [] : [sql`w.state_key = ${items.stateKey}`]),
      ...(items.dueBefore === undefined ? [] : [sql`w.due_at < ${items.dueBefore}`]),
    ],
    ' and ',
  );
  const order = items.kind === 'reminder' || items.kind === 'decision' ? ORDER.due : ORDER.time;
  const rows = await tx.query<ItemRow>(
    withPast(
      past,
      sql`select ${COLUMNS} from ${FROM} where ${where} order by ${order} limit ${page.limit} offset ${page.offset}`,
    ),
  );
  const [count] = await tx.query<{ total: number }>(
    withPast(past, sql`select count(*)::int as total from ${FROM} where ${where}`),
  );
  return { rows, total: count!.total };
}

export async function findItem(tx: Tx, reading: Reading, kind: Kind, id: string): Promise<ItemRow | undefined> {
  const [row] = await tx.query<ItemRow>(
    sql`select ${COLUMNS} from ${FROM} where ${readable(reading)} and m.id = ${id} and w.kind = ${kind}`,
  );
  return row;
}

/** Those that are still visible, in the order of `seqs`: short keys, of one space. */
export async function itemsBySeq(tx: Tx, reading: Reading, seqs: readonly string[]): Promise<ItemRow[]> {
  if (seqs.length === 0) return [];
  return tx.query<ItemRow>(sql`
    select ${COLUMNS} from ${FROM} where ${readable(reading)} and w.seq = any (${seqs}::bigint[])
    order by array_position(${seqs}::bigint[], w.seq)`);
}

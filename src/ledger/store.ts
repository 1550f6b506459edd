/** The statements of the ledger. Every one names its space and stands inside the token's boundaries; sums are made in SQL. */
import type { Tx } from '../db/db.ts';
import { join, type Sql, sql } from '../db/sql.ts';
import { inside } from '../db/visible.ts';
import type { Boundary } from '../types.ts';
import type { Monthly, TRANSACTION_TYPES } from './schema.ts';

export type TransactionType = (typeof TRANSACTION_TYPES)[number];

export interface NewTransaction {
  readonly id: string;
  readonly owner_id: string;
  readonly bucket: string;
  readonly scope: string | null;
  readonly path: string | null;
  readonly transaction_type: TransactionType;
  readonly item: string;
  /** Exact decimal, as text. */
  readonly amount: string;
  readonly currency: string;
  /** YYYY-MM-DD */
  readonly transaction_date: string;
  readonly category: string | null;
  readonly merchant: string | null;
  readonly payment_method: string | null;
  readonly note: string | null;
  readonly source: string | null;
  readonly metadata: Record<string, unknown>;
  readonly agent_id: string | null;
  readonly agent_instance: string | null;
  readonly created_at: Date;
}

export interface TransactionRow extends Omit<NewTransaction, 'owner_id' | 'agent_instance'> {
  readonly team_id: string | null;
}

export interface TransactionFilters {
  readonly query?: string | undefined;
  readonly dateFrom?: string | undefined;
  readonly dateTo?: string | undefined;
  readonly category?: string | undefined;
  readonly currency?: string | undefined;
  readonly minAmount?: string | undefined;
  readonly maxAmount?: string | undefined;
  readonly type?: TransactionType | undefined;
  readonly bucket?: string | undefined;
  readonly scope?: string | undefined;
  /** What was in the ledger at this instant. */
  readonly asOf?: Date | undefined;
}

export async function insertTransaction(tx: Tx, space: number, t: NewTransaction): Promise<void> {
  await tx.query(sql`
    insert into ledger_transactions (space_id, id, owner_id, bucket, scope, path, transaction_type, item, amount, currency, transaction_date, category,
      merchant, payment_method, note, source, metadata, agent_id, agent_instance, created_at)
    values (${space}, ${t.id}, ${t.owner_id}, ${t.bucket}, ${t.scope}, ${t.path}, ${t.transaction_type}, ${t.item}, ${t.amount}::numeric, ${t.currency},
      ${t.transaction_date}::date, ${t.category}, ${t.merchant}, ${t.payment_method}, ${t.note}, ${t.source}, ${JSON.stringify(t.metadata)}::jsonb,
      ${t.agent_id}, ${t.agent_instance}, ${t.created_at})`);
}

const COLUMNS: Sql = sql`m.id, m.bucket, m.scope, m.path, case s.kind when 'team' then s.name end as team_id, m.transaction_type, m.item,
  trim_scale(m.amount)::text as amount, m.currency, to_char(m.transaction_date, 'YYYY-MM-DD') as transaction_date, m.category, m.merchant,
  m.payment_method, m.note, m.source, m.metadata, m.agent_id, m.created_at`;

function where(spaces: readonly number[], boundary: Boundary, f: TransactionFilters): Sql {
  return join(
    [
      sql`m.space_id = any (${spaces}::int[])`,
      inside(boundary),
      ...(f.bucket === undefined ? [] : [sql`m.bucket = ${f.bucket}`]),
      ...(f.scope === undefined ? [] : [sql`m.scope = ${f.scope}`]),
      ...(f.asOf === undefined ? [] : [sql`m.created_at <= ${f.asOf}`]),
      ...(f.type === undefined ? [] : [sql`m.transaction_type = ${f.type}`]),
      ...(f.currency === undefined ? [] : [sql`m.currency = ${f.currency}`]),
      ...(f.category === undefined ? [] : [sql`lower(m.category) = lower(${f.category})`]),
      ...(f.dateFrom === undefined ? [] : [sql`m.transaction_date >= ${f.dateFrom}::date`]),
      ...(f.dateTo === undefined ? [] : [sql`m.transaction_date <= ${f.dateTo}::date`]),
      ...(f.minAmount === undefined ? [] : [sql`m.amount >= ${f.minAmount}::numeric`]),
      ...(f.maxAmount === undefined ? [] : [sql`m.amount <= ${f.maxAmount}::numeric`]),
      ...(f.query ?? '').split(/\s+/).filter(Boolean).map(holds),
    ],
    ' and ',
  );
}

/** A word of the query, every character of it literal. */
function holds(word: string): Sql {
  const pattern = `%${word.replace(/[\\%_]/g, '\\$&')}%`;
  return sql`concat_ws(' ', m.item, m.merchant, m.category, m.note) ilike ${pattern}`;
}

const FROM: Sql = sql`ledger_transactions m join spaces s on s.id = m.space_id`;

export async function listTransactions(
  tx: Tx,
  spaces: readonly number[],
  boundary: Boundary,
  filters: TransactionFilters,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ rows: TransactionRow[]; total: number }> {
  const predicate = where(spaces, boundary, filters);
  const rows = await tx.query<TransactionRow>(sql`
    select ${COLUMNS} from ${FROM} where ${predicate} order by m.transaction_date desc, m.id desc limit ${page.limit} offset ${page.offset}`);
  const [count] = await tx.query<{ total: number }>(sql`select count(*)::int as total from ${FROM} where ${predicate}`);
  return { rows, total: count!.total };
}

export async function findTransaction(
  tx: Tx,
  spaces: readonly number[],
  boundary: Boundary,
  id: string,
): Promise<TransactionRow | undefined> {
  const [row] = await tx.query<TransactionRow>(
    sql`select ${COLUMNS} from ${FROM} where ${where(spaces, boundary, {})} and m.id = ${id}`,
  );
  return row;
}

/** False when there is none that may be seen. */
export async function deleteTransaction(
  tx: Tx,
  spaces: readonly number[],
  boundary: Boundary,
  id: string,
  filters: TransactionFilters,
): Promise<boolean> {
  const gone = await tx.query(
    sql`delete from ledger_transactions m where ${where(spaces, boundary, filters)} and m.id = ${id} returning m.id`,
  );
  return gone.length > 0;
}

const sumOf = (type: TransactionType): Sql =>
  sql`coalesce(sum(m.amount) filter (where m.transaction_type = ${type}), 0)`;

/** One row a month and currency, newest month first, the busiest currency of a month first. */
export async function sumByMonth(
  tx: Tx,
  spaces: readonly number[],
  boundary: Boundary,
  filters: TransactionFilters,
): Promise<Monthly[]> {
  return tx.query(sql`
    select to_char(month, 'YYYY-MM') as month, currency, trim_scale(expense)::text as expense_total, trim_scale(income)::text as income_total,
      trim_scale(refund)::text as refund_total, trim_scale(transfer)::text as transfer_total,
      trim_scale(income + refund - expense)::text as net_total, transaction_count
    from (
      select date_trunc('month', m.transaction_date) as month, m.currency, ${sumOf('expense')} as expense, ${sumOf('income')} as income,
        ${sumOf('refund')} as refund, ${sumOf('transfer')} as transfer, count(*)::int as transaction_count
      from ledger_transactions m where ${where(spaces, boundary, filters)} group by 1, 2) sums
    order by sums.month desc, transaction_count desc, currency`);
}

/** Expenses less refunds, or the sum of the one type that the filters name. */
export async function sumSpent(
  tx: Tx,
  spaces: readonly number[],
  boundary: Boundary,
  filters: TransactionFilters,
): Promise<{ total: string; count: number }> {
  const spent = filters.type === undefined ? sql`m.transaction_type in ('expense', 'refund')` : sql`true`;
  const signed =
    filters.type === undefined
      ? sql`case m.transaction_type when 'refund' then -m.amount else m.amount end`
      : sql`m.amount`;
  const [row] = await tx.query<{ total: string; count: number }>(sql`
    select trim_scale(coalesce(sum(${signed}), 0))::text as total, count(*)::int as count
    from ledger_transactions m where ${where(spaces, boundary, filters)} and ${spent}`);
  return row!;
}

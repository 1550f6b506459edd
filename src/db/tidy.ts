/**
 * Vacuum for the embedded database, which has no autovacuum: without it a search after a bulk import reads the table for each row of the
 * index, and the planner works with the figures of an empty table.
 */
import type { Db } from './db.ts';
import { sql } from './sql.ts';

/** Rows written since the last vacuum, beyond which a table is due: the factor is that of our tables on a server (migration 0001). */
const LEAST_ROWS = 1_000;
const SHARE_OF_TABLE = 0.02;

/** Names of the tables that were vacuumed. Each vacuum is a turn of its own, so that requests get the one connection in between. */
export async function tidy(db: Db): Promise<string[]> {
  if (db.kind !== 'embedded') return [];
  await db.admin((tx) => tx.query(sql`select pg_stat_force_next_flush()`)); // the figures are up to a second late otherwise
  const due = await db.admin((tx) =>
    tx.query<{ name: string }>(sql`
      select relname as name from pg_stat_user_tables
      where n_ins_since_vacuum + n_dead_tup > ${LEAST_ROWS} + ${SHARE_OF_TABLE}::float8 * n_live_tup order by relname`),
  );
  for (const { name } of due) await db.vacuum(name);
  return due.map(({ name }) => name);
}

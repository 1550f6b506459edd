/**
 * Vacuum and analyze for the embedded database, which has no autovacuum: without them a search after a bulk import reads the table for each row
 * of the index, and the planner works with the figures of an empty table (a pack of 800 memories takes 80 ms and not 20).
 */
import type { Logger } from 'pino';
import { type Background, inBackground, pauseFor } from '../background.ts';
import type { Db } from './db.ts';
import { type Sql, sql } from './sql.ts';

/** Rows written since the last vacuum, beyond which a table is due: the factor is that of our tables on a server (migration 0001). */
const LEAST_ROWS = 1_000;
const SHARE_OF_TABLE = 0.02;

/** Rows changed since the last analyze: the factors are those of a server. */
const CHANGED_ROWS = 50;
const CHANGED_SHARE = 0.1;

/** A look takes a millisecond or two. */
const LOOK_MS = 5_000;

/** Names of the tables that were vacuumed. Each vacuum is a turn of its own, so that requests get the one connection in between. */
export async function tidy(db: Db): Promise<string[]> {
  const due = await dueFor(
    db,
    sql`n_ins_since_vacuum + n_dead_tup > ${LEAST_ROWS} + ${SHARE_OF_TABLE}::float8 * n_live_tup`,
  );
  for (const name of due) await db.maintain('vacuum (analyze)', name);
  return due;
}

/** Names of the tables that were analyzed. */
export async function analyze(db: Db): Promise<string[]> {
  const due = await dueFor(db, sql`n_mod_since_analyze > ${CHANGED_ROWS} + ${CHANGED_SHARE}::float8 * n_live_tup`);
  for (const name of due) await db.maintain('analyze', name);
  return due;
}

/** Analyzes soon after much has changed, until it is stopped: a newcomer's first hundred memories, a bulk import. */
export function keepAnalyzed(db: Db, log: Logger): Background {
  return inBackground(async (signal) => {
    while (db.kind === 'embedded' && !signal.aborted) {
      await analyze(db).catch((err: unknown) =>
        log.warn({ err, event: 'analyze_failed' }, 'the planner works with old figures'),
      );
      await pauseFor(LOOK_MS, signal);
    }
  });
}

async function dueFor(db: Db, condition: Sql): Promise<string[]> {
  if (db.kind !== 'embedded') return [];
  await db.admin((tx) => tx.query(sql`select pg_stat_force_next_flush()`)); // the figures are up to a second late otherwise
  const rows = await db.admin((tx) =>
    tx.query<{ name: string }>(
      sql`select relname as name from pg_stat_user_tables where ${condition} order by relname`,
    ),
  );
  return rows.map(({ name }) => name);
}

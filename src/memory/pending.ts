/**
 * Which memories lack vectors of a model, and which process makes them: by keys and counts, across spaces, never by content.
 * A mark on each memory (`embedded_by`) with an index answers without looking at any other memory.
 */
import type { Db, Tx } from '../db/db.ts';
import { sql } from '../db/sql.ts';

export interface Key {
  readonly space_id: number;
  readonly seq: string;
}

export const FIRST: Key = { space_id: 0, seq: '0' };

/** A worker that does not come back is taken over after this long: more than a batch takes. */
const LEASE_SECONDS = 120;

/** Says that this model is the one to embed with from now on. Called at start: of two models in a rolling change the newer one wins. */
export async function chooseModel(db: Db, model: number): Promise<void> {
  await db.admin((tx) => tx.query(sql`update embedding_models set chosen_at = clock_timestamp() where id = ${model}`));
}

/**
 * Takes or renews the lease, so that replicas do not do the same work. False when another worker has it, or when another model was chosen
 * since: two replicas with two models would undo each other's work without end.
 */
export async function claim(db: Db, model: number, worker: string): Promise<boolean> {
  const rows = await db.admin((tx) =>
    tx.query(sql`
      update embedding_models m set worker = ${worker}, worker_until = now() + make_interval(secs => ${LEASE_SECONDS})
      where m.id = ${model} and (m.worker is null or m.worker = ${worker} or m.worker_until < now())
        and not exists (select from embedding_models n where n.chosen_at > m.chosen_at) returning m.id`),
  );
  return rows.length > 0;
}

export async function release(db: Db, model: number, worker: string): Promise<void> {
  await db.admin((tx) =>
    tx.query(sql`update embedding_models set worker = null where id = ${model} and worker = ${worker}`),
  );
}

/** Marks of memories that lack vectors of the model, with their number: none at all (0), or those of another model. */
export async function countPending(db: Db, model: number): Promise<{ mark: number; memories: number }[]> {
  return db.admin(async (tx) => {
    const others = await tx.query<{ id: number }>(
      sql`select id from embedding_models where id <> ${model} order by embedding_models.id`,
    );
    const counts: { mark: number; memories: number }[] = [];
    for (const mark of [0, ...others.map(({ id }) => id)]) {
      // In the order of the index, or the planner would read the whole table to find that there is nothing.
      const [row] = await tx.query<{ memories: number }>(sql`
        select count(*)::int as memories from (
          select from memories where embedded_by = ${mark} and status <> 'deleted' order by space_id, seq limit ${COUNTED}) c`);
      if (row!.memories > 0) counts.push({ mark, memories: row!.memories });
    }
    return counts;
  });
}

/** No more are counted: a progress of millions need not be exact. */
const COUNTED = 10_000_000;

/** The next memories with a mark, in order of their keys. Only what the index holds is read. */
export async function nextPending(db: Db, mark: number, after: Key, limit: number): Promise<Key[]> {
  return db.admin((tx) =>
    tx.query<Key>(sql`
      select space_id, seq::text from memories
      where embedded_by = ${mark} and status <> 'deleted' and (space_id, seq) > (${after.space_id}::int, ${after.seq}::bigint)
      order by memories.space_id, memories.seq limit ${limit}`),
  );
}

/** Those of the memories that are still as they were read, locked until commit. What a writer holds just now is left to that writer. */
export async function lockUnmoved<Row extends { readonly seq: string; readonly version: number }>(
  tx: Tx,
  space: number,
  model: number,
  rows: readonly Row[],
): Promise<Row[]> {
  const present = await tx.query<{ seq: string; version: number }>(sql`
    select seq::text, version from memories
    where space_id = ${space} and seq = any (${rows.map((row) => row.seq)}::bigint[]) and status <> 'deleted' and embedded_by <> ${model}
    order by memories.seq for update skip locked`);
  const versions = new Map(present.map((row) => [row.seq, row.version]));
  return rows.filter((row) => versions.get(row.seq) === row.version);
}

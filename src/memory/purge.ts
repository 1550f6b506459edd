/** Deletes for good what nobody can read any more: expired memories, those that were soft-deleted long ago, and keys of old requests. */
import { type Sql, sql } from '../db/sql.ts';
import type { Deps } from '../deps.ts';
import { removeMemories } from './remove.ts';
import { touchSpace } from './store.ts';
import { lockAllSessions } from './words.ts';

export interface Purged {
  readonly memories: number;
  readonly keys: number;
}

const DAY_MS = 86_400_000;

/** Memories a transaction: writers of the space wait for no more than that. */
const BATCH = 200;

/** May run on several replicas at once. */
export async function purge(deps: Deps): Promise<Purged> {
  const now = deps.now();
  const due = dueBy(now, new Date(now.getTime() - deps.config.RETENTION_DAYS * DAY_MS));
  const spaces = await deps.db.admin((tx) =>
    tx.query<{ id: number }>(sql`select distinct m.space_id as id from memories m where ${due}`),
  );
  let memories = 0;
  for (const { id } of spaces) {
    for (;;) {
      const n = await purgeBatch(deps, id, due);
      memories += n;
      if (n < BATCH) break;
    }
  }
  const keys = await deps.db.admin((tx) =>
    tx.query(sql`delete from idempotency_keys where expires_at <= ${now} returning 1`),
  );
  return { memories, keys: keys.length };
}

/** A redacted row has no text and is kept: it is the trail of what was there. */
function dueBy(now: Date, forgottenBefore: Date): Sql {
  return sql`(m.expires_at <= ${now} or (m.status = 'deleted' and m.deleted_at <= ${forgottenBefore} and m.action <> 'redact'))`;
}

function purgeBatch(deps: Deps, space: number, due: Sql): Promise<number> {
  return deps.db.transaction({ spaces: [space] }, async (tx) => {
    await lockAllSessions(tx, space);
    const rows = await tx.query<{ seq: string }>(sql`
      select m.seq from memories m where m.space_id = ${space} and ${due} order by m.seq limit ${BATCH} for update of m`);
    const seqs = rows.map((row) => row.seq);
    if (seqs.length > 0) await touchSpace(tx, space, await removeMemories(tx, space, seqs, { kind: 'hard' }));
    return rows.length;
  });
}

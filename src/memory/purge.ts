/** Deletes for good what nobody can read any more: expired memories, those that were soft-deleted long ago, and keys of old requests. */
import { audit } from '../db/audit.ts';
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
  const heaps = await deps.db.admin((tx) =>
    tx.query<Heap>(sql`select distinct m.space_id as space, m.owner_id as owner from memories m where ${due}`),
  );
  let memories = 0;
  for (const heap of heaps) {
    for (;;) {
      const n = await purgeBatch(deps, heap, due, now);
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

/** What one owner wrote in one space: the events go into the owner's trail. */
interface Heap {
  readonly space: number;
  readonly owner: string;
}

function purgeBatch(deps: Deps, { space, owner }: Heap, due: Sql, at: Date): Promise<number> {
  return deps.db.transaction({ spaces: [space], owner }, async (tx) => {
    await lockAllSessions(tx, space);
    const rows = await tx.query<{
      seq: string;
      id: string;
      bucket: string;
      scope: string | null;
      deleted: boolean;
    }>(sql`
      select m.seq, m.id, m.bucket, m.scope, m.status = 'deleted' as deleted from memories m
      where m.space_id = ${space} and m.owner_id = ${owner} and ${due} order by m.seq limit ${BATCH} for update of m`);
    if (rows.length === 0) return 0;
    const seqs = rows.map((row) => row.seq);
    const totals = await removeMemories(tx, space, seqs, { kind: 'hard' });
    for (const { id, deleted, ...place } of rows)
      await audit(tx, { owner }, { action: deleted ? 'memory.purge' : 'memory.expire', target: id, place, at });
    await touchSpace(tx, space, totals);
    return rows.length;
  });
}

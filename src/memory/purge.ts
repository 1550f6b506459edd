/** Deletes for good what nobody can read any more: expired memories, those that were soft-deleted long ago, and keys of old requests. */
import { type Background, inBackground, pauseFor } from '../background.ts';
import { auditAll } from '../db/audit.ts';
import { type Sql, sql } from '../db/sql.ts';
import { tidy } from '../db/tidy.ts';
import type { Deps } from '../deps.ts';
import { removeMemories } from './remove.ts';
import { touchSpace } from './store.ts';
import { lockAllSessions } from './words.ts';

export interface Purged {
  readonly memories: number;
  readonly keys: number;
}

const DAY_MS = 86_400_000;

/** What a session was sent so long ago is no longer in anybody's context. */
const SESSION_DAYS = 30;

/** Memories a transaction: writers of the space wait for no more than that. */
const BATCH = 200;

/** What is expired still counts in the totals of BM25, so it goes soon after its end; and what was written meanwhile is no longer unseen. */
const LEAST_PAUSE_MS = 1_000;
const MOST_PAUSE_MS = 60_000;

/** Waits, or returns early when the signal aborts. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

/** Takes away what has ended, of what another capability stores. */
export type Sweep = (deps: Deps) => Promise<unknown>;

/** What a sweep takes away is read by nobody any more: it only must not pile up. */
const SWEEP_MS = 600_000;

/** Purges whenever something expires, and once a minute, until it is stopped; then vacuums where nobody else does. */
export function keepPurged(deps: Deps, sweeps: readonly Sweep[], sleep: Sleep = pauseFor): Background {
  return inBackground(async (signal) => {
    const attempt = attempting(deps, signal);
    let swept = Number.NEGATIVE_INFINITY;
    while (!signal.aborted) {
      const purged = await purge(deps, signal);
      if (purged.memories + purged.keys > 0) deps.log.info({ event: 'purged', ...purged }, 'purged');
      const now = deps.now().getTime();
      if (now - swept >= SWEEP_MS) {
        swept = now;
        for (const sweep of sweeps) await attempt(() => sweep(deps));
      }
      await attempt(() => tidy(deps.db));
      const pause = await attempt(() => untilNextEnd(deps));
      if (!signal.aborted) await sleep(pause ?? MOST_PAUSE_MS, signal);
    }
  });
}

/**
 * What fails waits for its next turn, and keeps nothing else from its own: no other space, and no other part of the purge. Nothing is begun
 * once the signal aborts: who stops the service waits for one part at most.
 */
function attempting({ log }: Deps, signal: AbortSignal | undefined) {
  return async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    if (signal?.aborted) return undefined;
    try {
      return await work();
    } catch (err) {
      log.warn({ err, event: 'purge_failed' }, 'a part of the purge failed');
      return undefined;
    }
  };
}

/** Milliseconds until the next memory expires, inside the bounds. */
async function untilNextEnd(deps: Deps): Promise<number> {
  const [row] = await deps.db.admin((tx) =>
    tx.query<{ next: Date | null }>(sql`select min(expires_at) as next from memories where expires_at is not null`),
  );
  const next = row?.next ? row.next.getTime() - deps.now().getTime() : MOST_PAUSE_MS;
  return Math.min(MOST_PAUSE_MS, Math.max(LEAST_PAUSE_MS, next));
}

/** May run on several replicas at once. */
export async function purge(deps: Deps, signal?: AbortSignal): Promise<Purged> {
  const attempt = attempting(deps, signal);
  const now = deps.now();
  const due = dueBy(now, new Date(now.getTime() - deps.config.RETENTION_DAYS * DAY_MS));
  const heaps = await attempt(() =>
    deps.db.admin((tx) =>
      tx.query<Heap>(sql`select distinct m.space_id as space, m.owner_id as owner from memories m where ${due}`),
    ),
  );
  let memories = 0;
  for (const heap of heaps ?? []) {
    let n: number | undefined;
    do {
      n = await attempt(() => purgeBatch(deps, heap, due, now));
      memories += n ?? 0;
    } while (n === BATCH);
  }
  const keys = await attempt(() =>
    deps.db.admin((tx) => tx.query(sql`delete from idempotency_keys where expires_at <= ${now} returning 1`)),
  );
  const longAgo = new Date(now.getTime() - SESSION_DAYS * DAY_MS);
  await attempt(() => deps.db.admin((tx) => tx.query(sql`delete from sent_memories where sent_at < ${longAgo}`)));
  return { memories, keys: keys?.length ?? 0 };
}

/** A redacted row has no text and is kept: it is the trail of what was there. The index `memories_deleted` has this very condition. */
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
    await auditAll(
      tx,
      { owner },
      rows.map(({ id, deleted, bucket, scope }) => ({
        action: deleted ? 'memory.purge' : 'memory.expire',
        target: id,
        place: { bucket, scope },
        at,
      })),
    );
    await touchSpace(tx, space, totals);
    return rows.length;
  });
}

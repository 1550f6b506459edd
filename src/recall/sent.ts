/** What a session of a caller has been sent. The session is locked for the answer: two questions side by side are not sent the same memory. */
import { createHash } from 'node:crypto';
import type { Tx } from '../db/db.ts';
import { sql } from '../db/sql.ts';
import type { Known } from './pack-id.ts';

const hashOf = (session: string): Buffer => createHash('sha256').update(session).digest();

/** First in the transaction: what another question of the session was sent is then committed, and read. */
export async function lockSent(tx: Tx, owner: string, session: string): Promise<void> {
  await tx.query(sql`select pg_advisory_xact_lock(hashtextextended(${`${owner}\u0001${session}`}, 0))`);
}

/** Of these memories the versions that the session has been sent. */
export async function sentOf(
  tx: Tx,
  owner: string,
  session: string,
  ids: readonly string[],
): Promise<Map<string, number>> {
  const rows = await tx.query<Known>(sql`
    select memory_id as id, version from sent_memories
    where owner = ${owner} and session_hash = ${hashOf(session)} and memory_id = any (${ids}::uuid[])`);
  return new Map(rows.map(({ id, version }) => [id, version]));
}

export async function markSent(
  tx: Tx,
  owner: string,
  session: string,
  items: readonly Known[],
  now: Date,
): Promise<void> {
  await tx.query(sql`
    insert into sent_memories (owner, session_hash, memory_id, version, sent_at)
    select ${owner}, ${hashOf(session)}, i.id, i.version, ${now}
    from unnest(${items.map(({ id }) => id)}::uuid[], ${items.map(({ version }) => version)}::int[]) as i(id, version)
    on conflict (owner, session_hash, memory_id) do update set version = excluded.version, sent_at = excluded.sent_at`);
}

/** Puts a memory aside: it leaves packs and the default reads, and stays where archived ones are asked for. */
import { audit } from '../db/audit.ts';
import { spacesOf } from '../db/boundary.ts';
import type { Tx } from '../db/db.ts';
import { findById, type MemoryRow } from '../db/memories.ts';
import { findSpaces } from '../db/spaces.ts';
import { sql } from '../db/sql.ts';
import type { Deps } from '../deps.ts';
import { ApiError } from '../errors.ts';
import type { Principal } from '../types.ts';
import { touchSpace } from './store.ts';
import { besides, indexWords, lockSession } from './words.ts';

/** Decides inside the transaction: what to add to the memory's metadata, or undefined to leave it as it is. */
export type Decide = (tx: Tx, memory: MemoryRow) => Promise<Readonly<Record<string, unknown>> | undefined>;

/** @throws ApiError not_found, and whatever `decide` throws */
export async function archive(deps: Deps, principal: Principal, id: string, decide: Decide): Promise<void> {
  const spaces = await findSpaces(deps.db, spacesOf(principal));
  const now = deps.now();
  await deps.db.transaction({ spaces, owner: principal.owner }, async (tx) => {
    const found = await findById(tx, spaces, id, principal, now);
    if (!found) throw new ApiError('not_found');
    const { space_id: space, seq } = found;
    await lockSession(tx, space, found.session_id);
    const metadata = await decide(tx, found);
    if (!metadata) return;
    const beside = await besides(tx, space, seq);
    const put = await tx.query(sql`
      update memories set status = 'archived', metadata = metadata || ${JSON.stringify(metadata)}::jsonb, updated_at = ${now}, version = version + 1
      where space_id = ${space} and seq = ${seq} and status <> 'deleted' returning seq`);
    if (put.length === 0) throw new ApiError('not_found'); // another request forgot it first
    await touchSpace(tx, space, await indexWords(tx, space, beside));
    await audit(tx, principal, { action: 'memory.archive', target: id, at: now });
  });
}

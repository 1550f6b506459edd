/** Puts a memory aside: it leaves packs and the default reads, and stays where archived ones are asked for. */
import { audit } from '../db/audit.ts';
import { spacesOf } from '../db/boundary.ts';
import type { Tx } from '../db/db.ts';
import type { MemoryRow } from '../db/memories.ts';
import { findSpaces } from '../db/spaces.ts';
import { visible } from '../db/visible.ts';
import type { Deps } from '../deps.ts';
import { ApiError } from '../errors.ts';
import type { Principal } from '../types.ts';
import { lockMemory } from './lock.ts';
import { reviseMemory } from './revise.ts';
import { toColumns, touchSpace } from './store.ts';

/** Decides inside the transaction: what to add to the memory's metadata, or undefined to leave it as it is. */
export type Decide = (tx: Tx, memory: MemoryRow) => Promise<Readonly<Record<string, unknown>> | undefined>;

/** @throws ApiError not_found, and whatever `decide` throws */
export async function archive(deps: Deps, principal: Principal, id: string, decide: Decide): Promise<void> {
  const spaces = await findSpaces(deps.db, spacesOf(principal));
  const now = deps.now();
  await deps.db.transaction({ spaces, owner: principal.owner }, async (tx) => {
    const found = await lockMemory(tx, spaces, id, visible(principal, now));
    if (!found) throw new ApiError('not_found');
    const metadata = await decide(tx, found);
    if (!metadata) return;
    const columns = { ...toColumns(found, now), metadata: { ...found.metadata, ...metadata } };
    const revision = { action: 'update', status: 'archived', now, vectors: undefined } as const;
    const { totals } = await reviseMemory(tx, found, columns, revision);
    await audit(tx, principal, { action: 'memory.archive', target: id, at: now });
    await touchSpace(tx, found.space_id, totals);
  });
}

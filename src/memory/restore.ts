/** Takes a soft deletion back: the memory is as it was, as a new version. */
import { audit } from '../db/audit.ts';
import { spacesOf } from '../db/boundary.ts';
import type { Tx } from '../db/db.ts';
import { isUniqueViolation } from '../db/failures.ts';
import { COLUMNS, type MemoryRow, OWN_FIRST } from '../db/memories.ts';
import { ensureModel, findSpaces } from '../db/spaces.ts';
import { sql } from '../db/sql.ts';
import { inside } from '../db/visible.ts';
import type { Deps } from '../deps.ts';
import { ApiError } from '../errors.ts';
import type { Principal } from '../types.ts';
import { lockMemory } from './lock.ts';
import { embedPassages } from './passages.ts';
import { deleteReceipt } from './receipt.ts';
import { reviseMemory } from './revise.ts';
import { toColumns, touchSpace } from './store.ts';
import type { Updated } from './update.ts';

export interface Restored extends Updated {
  /** False: it was not forgotten. */
  readonly restored: boolean;
}

/** `reason` is kept with the version. @throws ApiError not_found; conflict when its text is gone, it has expired, or its semantic key is taken by now */
export async function restore(deps: Deps, principal: Principal, id: string, reason: string | null): Promise<Restored> {
  const spaces = await findSpaces(deps.db, spacesOf(principal));
  const now = deps.now();
  const [read] = await deps.db.transaction({ spaces, readOnly: true }, (tx) =>
    tx.query<MemoryRow>(sql`
      select ${COLUMNS} from memories m join spaces s on s.id = m.space_id
      where m.space_id = any (${spaces}::int[]) and m.id = ${id} and ${inside(principal)} ${OWN_FIRST}`),
  );
  if (!read) throw new ApiError('not_found');
  const vectors = { model: await ensureModel(deps.db, deps.embedder), passages: await embedPassages(deps, read) };
  try {
    return await deps.db.transaction({ spaces, owner: principal.owner }, async (tx) => {
      const row = await lockMemory(tx, spaces, id, inside(principal));
      if (!row) throw new ApiError('not_found');
      if (row.expires_at !== null && row.expires_at <= now)
        throw new ApiError('conflict', 'the memory has expired meanwhile');
      if (row.status !== 'deleted') return { id, version: row.version, restored: false };
      if (row.action === 'redact') throw new ApiError('conflict', 'the memory was redacted: its text is gone');
      if (row.version !== read.version)
        throw new ApiError('conflict', 'the memory was forgotten again meanwhile: try once more');
      const status = await statusBefore(tx, row);
      const { written, totals } = await reviseMemory(tx, row, toColumns(row, now), {
        action: 'restore',
        reason,
        status,
        now,
        vectors,
      });
      await deleteReceipt(tx, row.space_id, id);
      await audit(tx, principal, { action: 'memory.restore', target: id, at: now });
      await touchSpace(tx, row.space_id, totals);
      return { id, version: written.version, restored: true };
    });
  } catch (error) {
    if (isUniqueViolation(error)) throw new ApiError('conflict', 'another memory has its semantic_key by now');
    throw error;
  }
}

/** Active or archived, as it was forgotten. */
async function statusBefore(tx: Tx, row: MemoryRow): Promise<'active' | 'archived'> {
  const [last] = await tx.query<{ status: 'active' | 'archived' }>(sql`
    select status from memory_versions where space_id = ${row.space_id} and seq = ${row.seq} and status <> 'deleted'
    order by version desc limit 1`);
  return last?.status ?? 'active';
}

/** Takes a memory out of every read, from the moment of the reply. */

import { audit } from '../db/audit.ts';
import { spacesOf } from '../db/boundary.ts';
import { findById } from '../db/memories.ts';
import { findSpaces } from '../db/spaces.ts';
import { sql } from '../db/sql.ts';
import type { Deps } from '../deps.ts';
import { ApiError } from '../errors.ts';
import type { Principal } from '../types.ts';
import { deletePassages, touchSpace } from './store.ts';
import { besides, indexWords, lockSession, unindexWords } from './words.ts';

export interface ForgetInput {
  readonly id: string;
  /** soft_delete keeps the row so that it can be restored; hard_delete keeps nothing. */
  readonly mode: 'soft_delete' | 'hard_delete';
  readonly bucket: string | undefined;
  readonly scope: string | undefined;
}

/** @throws ApiError not_found, also for a memory that is forgotten already or belongs to somebody else */
export async function forget(
  deps: Deps,
  principal: Principal,
  input: ForgetInput,
): Promise<{ id: string; mode: ForgetInput['mode']; at: Date }> {
  const spaces = await findSpaces(deps.db, spacesOf(principal));
  const at = deps.now();
  await deps.db.transaction({ spaces, owner: principal.owner }, async (tx) => {
    const found = await findById(tx, spaces, input.id, principal, at);
    if (!found) throw new ApiError('not_found');
    if (input.bucket !== undefined && input.bucket !== found.bucket) throw new ApiError('not_found');
    if (input.scope !== undefined && input.scope !== found.scope) throw new ApiError('not_found');
    const { space_id: space, seq } = found;
    await lockSession(tx, space, found.session_id);
    const beside = await besides(tx, space, seq);
    const taken = await unindexWords(tx, space, [seq]);
    await deletePassages(tx, space, seq);
    const gone = await tx.query(
      input.mode === 'hard_delete'
        ? sql`delete from memories where space_id = ${space} and seq = ${seq} returning seq`
        : sql`update memories set status = 'deleted', deleted_at = ${at}, updated_at = ${at}, version = version + 1
            where space_id = ${space} and seq = ${seq} and status <> 'deleted' returning seq`,
    );
    if (gone.length === 0) throw new ApiError('not_found'); // another request forgot it first
    const rest = await indexWords(tx, space, beside);
    await touchSpace(tx, space, { memories: taken.memories + rest.memories, terms: taken.terms + rest.terms });
    await audit(tx, principal, { action: 'memory.forget', target: input.id, at });
  });
  return { id: input.id, mode: input.mode, at };
}

/** Takes memories out of every arm and read, one or many: the shared part of forgetting, redacting, expiring and purging. */
import type { Tx } from '../db/db.ts';
import { sql } from '../db/sql.ts';
import { deletePassages } from './passage-store.ts';
import { keepVersions } from './versions.ts';
import { addTotals, besides, indexWords, type Totals, unindexWords } from './words.ts';

/** soft keeps the row and its versions, so that it can be restored; hard keeps nothing (versions and counters end with the row). */
export type Removal = { readonly kind: 'soft'; readonly at: Date } | { readonly kind: 'hard' };

/** All of one space; the caller holds their sessions, and ends its transaction with `touchSpace` and the totals that this returns. */
export async function removeMemories(
  tx: Tx,
  space: number,
  seqs: readonly string[],
  removal: Removal,
): Promise<Totals> {
  const gone = new Set(seqs);
  const beside = (await besides(tx, space, seqs)).filter((seq) => !gone.has(seq));
  const taken = await unindexWords(tx, space, seqs);
  await deletePassages(tx, space, seqs);
  if (removal.kind === 'soft') {
    await keepVersions(tx, space, seqs, removal.at);
    await tx.query(sql`
      update memories set status = 'deleted', deleted_at = ${removal.at}, updated_at = greatest(updated_at, ${removal.at}),
        action = 'forget', reason = null, version = version + 1
      where space_id = ${space} and seq = any (${seqs}::bigint[])`);
  } else {
    await tx.query(sql`delete from memories where space_id = ${space} and seq = any (${seqs}::bigint[])`);
  }
  return addTotals(taken, await indexWords(tx, space, beside));
}

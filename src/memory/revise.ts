/** Makes a new version of a memory, with everything that hangs on it: words, vectors, neighbours on both sides, totals. */
import type { Tx } from '../db/db.ts';
import type { Action, MemoryRow } from '../db/memories.ts';
import { ownTerms } from '../text/indexed.ts';
import type { MemoryStatus } from '../types.ts';
import { keepPassages, type PassageRow, writePassages } from './passage-store.ts';
import { type Columns, replaceMemory, type Written } from './store.ts';
import { keepVersions } from './versions.ts';
import { besides, indexWords, type Totals } from './words.ts';

export interface Revision {
  readonly action: Action;
  /** Why, in the caller's words. */
  readonly reason?: string | null;
  readonly status: MemoryStatus;
  readonly now: Date;
  /** New vectors; undefined when nothing that they are made of changed. */
  readonly vectors: { readonly model: number; readonly passages: readonly PassageRow[] } | undefined;
}

/** The caller holds the memory and its sessions, old and new, and ends its transaction with `touchSpace` and these totals. */
export async function reviseMemory(
  tx: Tx,
  row: Pick<MemoryRow, 'space_id' | 'seq' | 'version'>,
  columns: Columns,
  { action, reason = null, status, now, vectors }: Revision,
): Promise<{ written: Written; totals: Totals }> {
  const { space_id: space, seq } = row;
  const before = await besides(tx, space, [seq]);
  await keepVersions(tx, space, [seq], now);
  const written = await replaceMemory(tx, space, seq, columns, { action, reason, status });
  if (vectors) {
    await keepPassages(tx, space, seq, row.version);
    await writePassages(tx, space, seq, vectors.model, vectors.passages, ownTerms(columns).length);
  }
  const affected = new Set([seq, ...before, ...(await besides(tx, space, [seq]))]);
  return { written, totals: await indexWords(tx, space, [...affected]) };
}

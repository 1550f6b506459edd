/** Takes a memory, or its text, out of every read, from the moment of the reply, and proves it. */

import { audit } from '../db/audit.ts';
import { spacesOf } from '../db/boundary.ts';
import type { Tx } from '../db/db.ts';
import { findById, type MemoryRow } from '../db/memories.ts';
import { ensureModel, findSpaces } from '../db/spaces.ts';
import { sql } from '../db/sql.ts';
import { inside, visible } from '../db/visible.ts';
import type { Deps } from '../deps.ts';
import { ApiError, invalid } from '../errors.ts';
import type { Indexable } from '../text/indexed.ts';
import type { Principal } from '../types.ts';
import type { RecallLinks } from './links.ts';
import { lockMemory } from './lock.ts';
import { sameText, TextMoved, untilUnmoved } from './moved.ts';
import type { PassageRow } from './passage-store.ts';
import { embedPassages } from './passages.ts';
import { type ForgetMode, proveGone, type Receipt, traceOf, writeReceipts } from './receipt.ts';
import { removeMemories } from './remove.ts';
import { reviseMemory } from './revise.ts';
import { hashOf, toColumns, touchSpace } from './store.ts';
import { redactContexts } from './usage.ts';
import { redactVersions } from './versions.ts';
import type { Totals } from './words.ts';

export interface ForgetInput {
  readonly id: string;
  /**
   * soft_delete keeps the row so that it can be restored; hard_delete keeps nothing; redact keeps the row and overwrites the text of every
   * version: with a replacement the memory lives on with that text, without one it leaves every read and cannot be restored.
   */
  readonly mode: ForgetMode;
  readonly reason: string | null;
  readonly replacement: string | undefined;
  readonly bucket: string | undefined;
  readonly scope: string | undefined;
}

/** What stands in place of a text that was redacted without a replacement. */
const REDACTED = '[redacted]';

/** @throws ApiError not_found, also for a memory that is forgotten already or belongs to somebody else */
export const forget = (
  deps: Deps,
  links: Pick<RecallLinks, 'findByText'>,
  principal: Principal,
  input: ForgetInput,
): Promise<Receipt> => untilUnmoved(() => forgetOnce(deps, links, principal, input));

/** @throws TextMoved */
async function forgetOnce(
  deps: Deps,
  { findByText }: Pick<RecallLinks, 'findByText'>,
  principal: Principal,
  input: ForgetInput,
): Promise<Receipt> {
  const { id, mode, reason, replacement } = input;
  const spaces = await findSpaces(deps.db, spacesOf(principal));
  const at = deps.now();
  // What is soft-deleted or expired may still be deleted for good.
  const predicate = mode === 'hard_delete' ? inside(principal) : visible(principal, at);
  const replaced =
    replacement === undefined ? undefined : await embedReplacement(deps, principal, spaces, input, replacement);
  return deps.db.transaction({ spaces, owner: principal.owner }, async (tx) => {
    const row = await lockMemory(tx, spaces, id, predicate);
    if (!row || !asNamed(row, input)) throw new ApiError('not_found');
    if (replacement === row.content) throw invalid('body', 'replacement_content', 'is the very text that is to go');
    const trace = await traceOf(tx, row);
    const totals =
      mode === 'redact' && replaced
        ? await replaceText(tx, row, replaced, at)
        : mode === 'redact'
          ? await redactAway(tx, row, at)
          : await removeMemories(
              tx,
              row.space_id,
              [row.seq],
              mode === 'hard_delete' ? { kind: 'hard' } : { kind: 'soft', at },
            );
    const checks = await proveGone(tx, findByText, principal, trace, at);
    const receipt = { memory_id: id, mode, reason, forgotten_at: at, checks };
    await writeReceipts(tx, row.space_id, [row], receipt);
    await audit(tx, principal, { action: mode === 'redact' ? 'memory.redact' : 'memory.forget', target: id, at });
    await touchSpace(tx, row.space_id, totals);
    return receipt;
  });
}

/** A bucket or scope that the request names must be the memory's. */
function asNamed(row: MemoryRow, { bucket, scope }: ForgetInput): boolean {
  return (bucket === undefined || bucket === row.bucket) && (scope === undefined || scope === row.scope);
}

/** The memory as it would be stored, and its vectors. */
interface Replaced {
  readonly by: Indexable;
  readonly vectors: { readonly model: number; readonly passages: readonly PassageRow[] };
}

async function embedReplacement(
  deps: Deps,
  principal: Principal,
  spaces: readonly number[],
  { id }: ForgetInput,
  replacement: string,
): Promise<Replaced> {
  const row = await deps.db.transaction({ spaces, readOnly: true }, (tx) =>
    findById(tx, spaces, id, principal, deps.now()),
  );
  if (!row) throw new ApiError('not_found');
  const by = { ...row, content: replacement };
  const model = await ensureModel(deps.db, deps.embedder);
  return { by, vectors: { model, passages: await embedPassages(deps, by) } };
}

async function replaceText(tx: Tx, row: MemoryRow, { by, vectors }: Replaced, now: Date): Promise<Totals> {
  const { content } = by;
  const columns = { ...toColumns(row, now), content, content_hash: hashOf(content), metadata: {} };
  if (!sameText(by, columns)) throw new TextMoved();
  const { totals } = await reviseMemory(tx, row, columns, { action: 'redact', status: row.status, now, vectors });
  await redactVersions(tx, row.space_id, row.seq, content);
  await redactContexts(tx, row.space_id, row.seq);
  return totals;
}

async function redactAway(tx: Tx, { space_id: space, seq }: MemoryRow, at: Date): Promise<Totals> {
  const totals = await removeMemories(tx, space, [seq], { kind: 'soft', at });
  await redactVersions(tx, space, seq, REDACTED);
  await redactContexts(tx, space, seq);
  await tx.query(sql`
    update memories set content = ${REDACTED}, content_hash = ${hashOf(REDACTED)}, metadata = '{}', action = 'redact'
    where space_id = ${space} and seq = ${seq}`);
  return totals;
}

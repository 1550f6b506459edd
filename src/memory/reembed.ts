/**
 * Makes the vectors that are missing: of memories that were stored while the embedder failed, and of all memories after a change of model.
 * Until then these are found by their words. Interrupted at any point it goes on from there, since each memory says which model it has.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Background, inBackground, pauseFor } from '../background.ts';
import { ensureModel } from '../db/spaces.ts';
import { sql } from '../db/sql.ts';
import type { Deps } from '../deps.ts';
import { EmbeddingFailed } from '../embed/embedder.ts';
import { type Indexable, ownTerms } from '../text/indexed.ts';
import { markEmbedded, type PassageRow, writePassages } from './passage-store.ts';
import { passagesOf } from './passages.ts';
import { chooseModel, claim, countPending, FIRST, type Key, lockUnmoved, nextPending, release } from './pending.ts';
import { touchSpace } from './store.ts';

/** Memories, of those that lacked vectors when the work began or came to lack them since. */
export interface Progress {
  readonly done: number;
  readonly total: number;
}

interface Row extends Key, Indexable {
  readonly version: number;
}

const BATCH = 32;
/** A batch of long memories goes to the embedder in parts: about a hundred passages. */
const CHARACTERS_A_CALL = 100_000;
/** Rests after each batch for as long as it took, so that requests have half of everything; at least this long. */
const LEAST_PAUSE_MS = 20;
/** So many texts refused in a row are no fault of the texts. */
const MAX_REFUSED = 10;

const POLL_MS = 30_000;
const FIRST_RETRY_MS = 5_000;
const LAST_RETRY_MS = 300_000;

const running = new WeakMap<Deps, Progress>();

/** How far the work has come; undefined when there is none. */
export const progressOf = (deps: Deps): Progress | undefined => running.get(deps);

/** Keeps at it until it is stopped. What comes to nothing, or fails, is tried again later and later. */
export const keepEmbedded = (deps: Deps): Background => inBackground((signal) => loop(deps, signal));

async function loop(deps: Deps, signal: AbortSignal): Promise<void> {
  // What stands in for the model that was asked for must not replace that model's vectors.
  if (deps.embedder.degraded) return;
  const worker = randomUUID();
  let chosen = false;
  let failures = 0;
  while (!signal.aborted) {
    let pause = POLL_MS;
    try {
      if (!chosen) await chooseModel(deps.db, await ensureModel(deps.db, deps.embedder));
      chosen = true;
      const { done, left } = await reembed(deps, worker, signal);
      // What is left is refused, or another process is at it: no reason to ask for it twice a minute.
      failures = done === 0 && left > 0 ? failures + 1 : 0;
      pause = Math.max(POLL_MS, retryAfter(failures));
    } catch (err) {
      if (signal.aborted) return;
      const asked = err instanceof EmbeddingFailed ? (err.retryAfter ?? 0) : 0;
      pause = Math.max(asked, retryAfter(++failures));
      deps.log.warn({ err, event: 're_embedding_failed', retry_ms: pause }, 're-embedding is interrupted');
    }
    await pauseFor(pause, signal);
  }
}

/** Milliseconds, after so many turns in a row that came to nothing; 0 after none. */
const retryAfter = (failures: number): number =>
  failures === 0 ? 0 : Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** (failures - 1));

/** One pass over all memories that lack vectors of the present model. Nothing when another process is at it. @throws EmbeddingFailed */
export async function reembed(
  deps: Deps,
  worker: string = randomUUID(),
  signal?: AbortSignal,
): Promise<{ readonly done: number; readonly left: number }> {
  const { db } = deps;
  const model = await ensureModel(db, deps.embedder);
  const marks = await countPending(db, model);
  const total = marks.reduce((sum, { memories }) => sum + memories, 0);
  if (total === 0) {
    running.delete(deps);
    return { done: 0, left: 0 };
  }
  running.set(deps, { done: 0, total });
  try {
    for (const { mark } of marks) await pass(deps, model, mark, worker, signal);
  } finally {
    await release(db, model, worker);
  }
  const left = (await countPending(db, model)).reduce((sum, { memories }) => sum + memories, 0);
  const done = running.get(deps)?.done ?? 0;
  if (done > 0) deps.log.info({ event: 're_embedded', memories: done, left }, 're-embedded');
  if (left === 0) running.delete(deps);
  return { done, left };
}

/** All memories with one mark, in order of their keys, as long as the lease holds. */
async function pass(deps: Deps, model: number, mark: number, worker: string, signal?: AbortSignal): Promise<void> {
  for (let after = FIRST; !signal?.aborted && (await claim(deps.db, model, worker)); ) {
    const keys = await nextPending(deps.db, mark, after, BATCH);
    if (keys.length === 0) return;
    const began = performance.now();
    await embedBatch(deps, model, keys);
    after = keys.at(-1)!;
    const pause = Math.max(LEAST_PAUSE_MS, performance.now() - began);
    await sleep(pause, undefined, signal && { signal }).catch(() => {});
  }
}

async function embedBatch(deps: Deps, model: number, keys: readonly Key[]): Promise<void> {
  const refusals = { inARow: 0 };
  for (const space of new Set(keys.map((key) => key.space_id))) {
    const seqs = keys.filter((key) => key.space_id === space).map((key) => key.seq);
    const rows = await deps.db.transaction({ spaces: [space], readOnly: true }, (tx) =>
      tx.query<Row>(sql`
        select space_id, seq::text, content, author, path, occurred_at, version from memories
        where space_id = ${space} and seq = any (${seqs}::bigint[]) and status <> 'deleted' order by memories.seq`),
    );
    for (const some of bySize(rows)) await embedRows(deps, model, space, some, refusals);
  }
}

function bySize(rows: readonly Row[]): Row[][] {
  const parts: Row[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const row of rows) {
    size += row.content.length;
    if (size > CHARACTERS_A_CALL) {
      parts.push([]);
      size = row.content.length;
    }
    parts.at(-1)!.push(row);
  }
  return parts;
}

/** A memory that the embedder refuses is passed over and must not hold up those beside it. */
async function embedRows(
  deps: Deps,
  model: number,
  space: number,
  rows: readonly Row[],
  refusals: { inARow: number },
): Promise<void> {
  let passages: PassageRow[][];
  try {
    passages = await passagesOf(deps.embedder, rows);
    refusals.inARow = 0;
  } catch (error) {
    if (!(error instanceof EmbeddingFailed) || error.cure !== 'texts') throw error;
    if (rows.length > 1) {
      for (const row of rows) await embedRows(deps, model, space, [row], refusals);
      return;
    }
    if (++refusals.inARow === MAX_REFUSED) throw error;
    deps.log.warn({ err: error, event: 'embedding_refused', space, seq: rows[0]!.seq }, 'a memory has no vectors');
    return;
  }
  await write(deps, model, space, rows, passages);
}

async function write(
  deps: Deps,
  model: number,
  space: number,
  rows: readonly Row[],
  passages: readonly PassageRow[][],
): Promise<void> {
  const made = new Map(rows.map((row, i) => [row, passages[i]!]));
  const written = await deps.db.transaction({ spaces: [space] }, async (tx) => {
    const unmoved = await lockUnmoved(tx, space, model, rows);
    for (const row of unmoved) {
      const own = made.get(row)!;
      await writePassages(tx, space, row.seq, model, own, ownTerms(row).length);
      if (own.length === 0) await markEmbedded(tx, space, row.seq, model); // a text that gives no passage is done, too
    }
    if (unmoved.length > 0) await touchSpace(tx, space, { memories: 0, terms: 0 });
    return unmoved.length;
  });
  const { done, total } = running.get(deps) ?? { done: 0, total: 0 };
  running.set(deps, { done: done + written, total: Math.max(total, done + written) });
}

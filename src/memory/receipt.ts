/** Proof that a memory is gone: every path is asked once more, in the transaction that forgets, which fails when any of them finds it. */
import { spacesOf } from '../db/boundary.ts';
import type { Tx } from '../db/db.ts';
import type { MemoryRow } from '../db/memories.ts';
import { findSpaces } from '../db/spaces.ts';
import { type Sql, sql } from '../db/sql.ts';
import { inside, visible } from '../db/visible.ts';
import type { Deps } from '../deps.ts';
import { ApiError } from '../errors.ts';
import type { Principal } from '../types.ts';
import type { RecallLinks } from './links.ts';

export const FORGET_MODES = ['soft_delete', 'hard_delete', 'redact'] as const;
export type ForgetMode = (typeof FORGET_MODES)[number];

/** What each path still found; a receipt with anything but zeros is never written. */
export interface Checks {
  readonly id: number;
  readonly list: number;
  readonly lexical: number;
  readonly vector: number;
  readonly versions: number;
  readonly export: number;
  readonly pack: number;
}

export interface Receipt {
  readonly memory_id: string;
  readonly mode: ForgetMode;
  readonly reason: string | null;
  readonly forgotten_at: Date;
  readonly checks: Checks;
}

/** What a memory is looked for by, taken before it goes. */
export interface Trace {
  readonly row: MemoryRow;
  readonly hash: Buffer;
  readonly vectors: readonly { readonly model: number; readonly vector: Float32Array }[];
}

/** Vectors of one memory that are searched with; a book has hundreds that are much alike. */
const TRACED_PASSAGES = 4;

export async function traceOf(tx: Tx, row: MemoryRow): Promise<Trace> {
  const [text] = await tx.query<{ hash: Buffer }>(sql`
    select content_hash as hash from memories where space_id = ${row.space_id} and seq = ${row.seq}`);
  const vectors = await tx.query<{ model: number; vector: number[] }>(sql`
    select model, embedding::vector::real[] as vector from passages p join embedding_models e on e.id = p.model
    where p.space_id = ${row.space_id} and p.seq = ${row.seq} order by model, ordinal limit ${TRACED_PASSAGES}`);
  return {
    row,
    hash: text!.hash,
    vectors: vectors.map(({ model, vector }) => ({ model, vector: Float32Array.from(vector) })),
  };
}

/** Looks for the text of one memory on every path. @throws Error, which rolls the forgetting back, when a path still finds it */
export async function proveGone(
  tx: Tx,
  findByText: RecallLinks['findByText'],
  principal: Principal,
  { row, hash, vectors }: Trace,
  now: Date,
): Promise<Checks> {
  const still = sql`${visible(principal, now)} and m.id = ${row.id} and m.content_hash = ${hash}`;
  const spaces = [row.space_id];
  const readable = await count(tx, sql`memories m where m.space_id = ${row.space_id} and ${still}`);
  const words = await findByText(tx, { spaces, content: row.content, model: 0, vector: undefined, predicate: still });
  let near = 0;
  for (const { model, vector } of vectors) {
    near += (await findByText(tx, { spaces, content: '', model, vector, predicate: still })).length;
  }
  const versions = await count(
    tx,
    sql`memory_versions v join memories m on m.space_id = v.space_id and m.seq = v.seq
      where v.space_id = ${row.space_id} and v.seq = ${row.seq} and v.content = ${row.content} and ${visible(principal, now)}`,
  );
  // The id route, lists and exports read rows under one predicate; a pack is made of what the two arms bring.
  return assertGone({
    id: readable,
    list: readable,
    lexical: words.length,
    vector: near,
    versions,
    export: readable,
    pack: words.length + near,
  });
}

/** The same for many at once, by rows: nothing readable, no word and no vector left. */
export async function proveAllGone(
  tx: Tx,
  principal: Principal,
  space: number,
  seqs: readonly string[],
  now: Date,
): Promise<Checks> {
  const these = sql`m.space_id = ${space} and m.seq = any (${seqs}::bigint[])`;
  const readable = await count(tx, sql`memories m where ${these} and ${visible(principal, now)}`);
  const words = await count(tx, sql`memories m where ${these} and m.length > 0`);
  const near = await count(
    tx,
    sql`embedding_models e join passages p on p.space_id = ${space} and p.model = e.id and p.seq = any (${seqs}::bigint[])`,
  );
  return assertGone({
    id: readable,
    list: readable,
    lexical: words,
    vector: near,
    versions: readable,
    export: readable,
    pack: words + near,
  });
}

async function count(tx: Tx, from: Sql): Promise<number> {
  const [row] = await tx.query<{ n: number }>(sql`select count(*)::int as n from ${from}`);
  return row!.n;
}

function assertGone(checks: Checks): Checks {
  const found = Object.entries(checks).filter(([, n]) => n > 0);
  if (found.length > 0)
    throw new Error(`a forgotten memory is still found by ${found.map(([path]) => path).join(', ')}`);
  return checks;
}

/** One receipt a memory: the latest. */
export async function writeReceipts(
  tx: Tx,
  space: number,
  rows: readonly Pick<MemoryRow, 'id' | 'bucket' | 'scope'>[],
  receipt: Omit<Receipt, 'memory_id'>,
): Promise<void> {
  await tx.query(sql`
    insert into forget_receipts (space_id, memory_id, bucket, scope, mode, reason, forgotten_at, checks)
    select ${space}, w.id, w.bucket, w.scope, ${receipt.mode}, ${receipt.reason}, ${receipt.forgotten_at}, ${JSON.stringify(receipt.checks)}::jsonb
    from unnest(${rows.map((r) => r.id)}::uuid[], ${rows.map((r) => r.bucket)}::text[], ${rows.map((r) => r.scope)}::text[]) as w(id, bucket, scope)
    on conflict (space_id, memory_id) do update set bucket = excluded.bucket, scope = excluded.scope, mode = excluded.mode,
      reason = excluded.reason, forgotten_at = excluded.forgotten_at, checks = excluded.checks`);
}

export async function deleteReceipt(tx: Tx, space: number, id: string): Promise<void> {
  await tx.query(sql`delete from forget_receipts where space_id = ${space} and memory_id = ${id}`);
}

/** @throws ApiError not_found when nothing of this id was forgotten inside the token's boundaries */
export async function readReceipt(deps: Deps, principal: Principal, id: string): Promise<Receipt> {
  const spaces = await findSpaces(deps.db, spacesOf(principal));
  const [receipt] = await deps.db.transaction({ spaces, readOnly: true }, (tx) =>
    tx.query<Receipt>(sql`
      select memory_id, mode, reason, forgotten_at, checks from forget_receipts m
      where m.space_id = any (${spaces}::int[]) and m.memory_id = ${id} and ${inside(principal)}`),
  );
  if (!receipt) throw new ApiError('not_found', 'there is no receipt for this id');
  return receipt;
}

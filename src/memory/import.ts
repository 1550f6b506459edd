/** Takes JSON lines in: ids, times, versions and the order of arrival are those of the lines. A page is stored whole or not at all. */
import { auditAll } from '../db/audit.ts';
import { assertWritable, spaceToWrite } from '../db/boundary.ts';
import type { Tx } from '../db/db.ts';
import { ensureModel, ensureSpace } from '../db/spaces.ts';
import { sql } from '../db/sql.ts';
import type { Deps } from '../deps.ts';
import { ApiError } from '../errors.ts';
import { ANALYSER } from '../text/analyse.ts';
import { ownTerms } from '../text/indexed.ts';
import type { Principal } from '../types.ts';
import { type Line, readLines } from './lines.ts';
import { type PassageRow, writePassages } from './passage-store.ts';
import { embedEach } from './passages.ts';
import { hashOf, insertImported, touchSpace } from './store.ts';
import { insertVersions } from './versions.ts';
import { besides, indexWords, lockAllSessions } from './words.ts';

export interface ImportInput {
  readonly jsonl: string;
  readonly team: string | undefined;
  /** For lines that name none. */
  readonly bucket: string;
  readonly scope: string | null;
  readonly limit: number;
  /** Lines of `jsonl` that earlier pages have taken. */
  readonly cursor: number;
  readonly dryRun: boolean;
}

export interface Imported {
  readonly imported: number;
  /** Already there, the same to the version. */
  readonly skipped: number;
  /** The cursor of the next page; null: all lines were taken. */
  readonly next: number | null;
}

/** @throws ApiError validation_error naming the line; conflict for an id or a semantic key that is taken; boundary_denied */
export async function importMemories(deps: Deps, principal: Principal, input: ImportInput): Promise<Imported> {
  const { lines, next } = readLines(input, deps.now());
  // an earlier version is text as well, which as_of and the list of versions show
  for (const { record } of lines) for (const one of [record, ...record.versions]) assertWritable(principal, one);
  const space = await ensureSpace(deps.db, spaceToWrite(principal, input.team));
  if (input.dryRun) {
    return deps.db.transaction({ spaces: [space], readOnly: true }, async (tx) => {
      const fresh = await withoutPresent(tx, space, lines);
      return { imported: fresh.length, skipped: lines.length - fresh.length, next };
    });
  }
  const model = await ensureModel(deps.db, deps.embedder);
  const passages = await embedEach(
    deps,
    lines.map(({ record }) => record),
  );
  const vectors = new Map(lines.map(({ record }, i) => [record.id, passages[i]!]));
  return deps.db.transaction({ spaces: [space], owner: principal.owner }, async (tx) => {
    await lockAllSessions(tx, space);
    const fresh = await withoutPresent(tx, space, lines);
    const seqs: string[] = [];
    for (const line of fresh)
      seqs.push(await store(tx, space, principal, line, { model, passages: vectors.get(line.record.id)! }));
    const words = await indexWords(tx, space, [...new Set([...seqs, ...(await besides(tx, space, seqs))])]);
    const at = deps.now();
    await auditAll(
      tx,
      principal,
      fresh.map(({ record }) => ({ action: 'memory.import', target: record.id, at })),
    );
    if (seqs.length > 0) await touchSpace(tx, space, words);
    return { imported: seqs.length, skipped: lines.length - seqs.length, next };
  });
}

/** Lines whose memory is not there yet. @throws ApiError conflict when an id is there and says something else */
async function withoutPresent(tx: Tx, space: number, lines: readonly Line[]): Promise<Line[]> {
  const rows = await tx.query<{ id: string; version: number; hash: Buffer; deleted: boolean }>(sql`
    select id, version, content_hash as hash, status = 'deleted' as deleted from memories
    where space_id = ${space} and id = any (${lines.map(({ record }) => record.id)}::uuid[])`);
  const present = new Map(rows.map((row) => [row.id, row]));
  return lines.filter(({ record, number }) => {
    const there = present.get(record.id);
    if (!there) return true;
    if (there.deleted)
      throw new ApiError('conflict', `line ${number}: a memory of this id was forgotten here; restore it instead`);
    if (there.version !== record.version || !there.hash.equals(hashOf(record.content))) {
      throw new ApiError('conflict', `line ${number}: a memory of this id is there and differs`);
    }
    return false;
  });
}

async function store(
  tx: Tx,
  space: number,
  principal: Principal,
  { record, number }: Line,
  vectors: { readonly model: number; readonly passages: readonly PassageRow[] },
): Promise<string> {
  const seq = await insertImported(tx, space, principal.owner, record, ANALYSER);
  if (seq === undefined) throw new ApiError('conflict', `line ${number}: another memory has its semantic_key`);
  await insertVersions(tx, space, seq, record);
  await writePassages(tx, space, seq, vectors.model, vectors.passages, ownTerms(record).length);
  return seq;
}

/** Takes a document in: its text, words and vectors. A document that was there before is replaced in one transaction. */
import { createHash } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { audit } from '../db/audit.ts';
import type { Tx } from '../db/db.ts';
import { ensureModel } from '../db/spaces.ts';
import type { Deps } from '../deps.ts';
import { ApiError } from '../errors.ts';
import { ANALYSER } from '../text/analyse.ts';
import type { Agent, Principal } from '../types.ts';
import { deleteSections } from './bases.ts';
import type { Engine } from './engine.ts';
import { prepare, titleOf } from './prepare.ts';
import { type File, readDocument } from './read/index.ts';
import { cutSections } from './sections.ts';
import * as store from './store.ts';
import * as stored from './store-sections.ts';

export interface Upload {
  readonly file: File;
  /** Default: what the document calls itself, else its source. */
  readonly title: string | undefined;
  /** Stable name inside the base. */
  readonly source: string | undefined;
  /** The document that is replaced, whatever its source. */
  readonly id: string | undefined;
  /** Default: now. */
  readonly occurredAt: Date | undefined;
}

export interface Ingested {
  readonly document: store.DocumentRow;
  readonly outcome: 'created' | 'updated' | 'unchanged';
}

const MAX_SECTIONS = 5_000;

/** @throws ApiError not_found, payload_too_large, unreadable_document, unavailable */
export async function ingest(
  deps: Deps,
  engine: Engine,
  principal: Principal,
  agent: Agent,
  base: store.Base,
  upload: Upload,
): Promise<Ingested> {
  const { space_id, content_space: space } = base;
  const hash = hashOf(upload);
  const known = await deps.db.transaction({ spaces: [space], readOnly: true }, (tx) => find(tx, base, upload));
  if (known?.hash.equals(hash)) return { document: known, outcome: 'unchanged' };

  const extracted = await readDocument(upload.file);
  const sections = cutSections(extracted);
  if (sections.length > MAX_SECTIONS)
    throw new ApiError('payload_too_large', `the document has more than ${MAX_SECTIONS} sections: split it`);
  const now = deps.now();
  const title = titleOf(upload.title ?? extracted.title ?? upload.source);
  const occurredAt = upload.occurredAt ?? now;
  const prepared = await prepare(deps, engine, { title, occurredAt }, sections);
  const model = await ensureModel(deps.db, deps.embedder);
  const row: store.DocumentRow = {
    space_id: space,
    id: uuidv7(),
    source: upload.source ?? null,
    title,
    content_type: upload.file.type,
    hash,
    bytes: upload.file.bytes.length,
    characters: extracted.text.length,
    pages: extracted.pages?.length ?? null,
    sections: sections.length,
    embedded: prepared.every(({ passages }) => passages !== undefined),
    owner_id: principal.owner,
    agent_id: principal.boundAgent ?? agent.id ?? null,
    occurred_at: occurredAt,
    created_at: now,
    updated_at: now,
    version: 1,
  };

  return deps.db.transaction({ spaces: [space_id, space], owner: principal.owner }, async (tx) => {
    if (!(await store.holdBase(tx, base)))
      throw new ApiError('not_found', 'no such knowledge base is visible to this token');
    const placed = await place(tx, base, upload, row);
    const before = await deleteSections(tx, engine, space, placed.document.id);
    const seqs = await stored.insertSections(tx, base, placed.document, prepared, ANALYSER);
    for (const [i, { passages, termCount }] of prepared.entries()) {
      if (passages) await engine.writePassages(tx, space, seqs[i]!, model, passages, termCount);
    }
    const lengths = prepared.map(({ words }) => words.length);
    await engine.touchSpace(tx, space, {
      memories: lengths.filter((length) => length > 0).length + before.totals.memories,
      terms: lengths.reduce((sum, length) => sum + length, before.totals.terms),
    });
    const action = placed.outcome === 'created' ? 'document.add' : 'document.replace';
    await audit(tx, principal, { action, target: placed.document.id, at: now });
    return placed;
  });
}

/** Of the file, and of what else decides the sections. */
function hashOf({ file, title, occurredAt }: Upload): Buffer {
  const besides = JSON.stringify([file.type, file.charset ?? '', title ?? '', occurredAt?.getTime() ?? null]);
  return createHash('sha256').update(besides).update(file.bytes).digest();
}

/** The document that an upload replaces. @throws ApiError not_found when it is named by an id that is not there */
async function find(tx: Tx, base: store.Base, upload: Upload, lock = false): Promise<store.DocumentRow | undefined> {
  const { id, source } = upload;
  if (id === undefined && source === undefined) return undefined;
  const by = id === undefined ? { source: source! } : { id };
  const [found] = await store.findDocuments(tx, [base.content_space], by, lock);
  if (id !== undefined && !found) throw new ApiError('not_found', 'no such document is visible to this token');
  return found;
}

/** Writes the row of the document, a new one or over that which it replaces; whoever writes the same document waits. */
async function place(tx: Tx, base: store.Base, upload: Upload, row: store.DocumentRow): Promise<Ingested> {
  const held = await find(tx, base, upload, true);
  if (!held) {
    if (await store.insertDocument(tx, row)) return { document: row, outcome: 'created' };
    return place(tx, base, upload, row);
  }
  const { id, source, created_at } = held;
  const document = { ...row, id, source, created_at, version: held.version + 1 };
  await store.replaceDocument(tx, document);
  return { document, outcome: 'updated' };
}

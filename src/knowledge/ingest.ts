/** Takes a document in: its text, words and vectors. A document that was there before is replaced in one transaction. */
import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import { audit } from '../db/audit.ts';
import type { Tx } from '../db/db.ts';
import { ensureModel } from '../db/spaces.ts';
import type { Deps } from '../deps.ts';
import { ApiError } from '../errors.ts';
import { ANALYSER } from '../text/analyse.ts';
import type { Agent, Principal } from '../types.ts';
import { deleteSections, LARGE, thinOut } from './bases.ts';
import type { Engine } from './engine.ts';
import { deleteParts, dropParts, release, storeParts, totalsOf } from './parts.ts';
import { embed, prepare, titleOf } from './prepare.ts';
import type { Extracted } from './read/extracted.ts';
import { type File, readDocument } from './read/index.ts';
import { type Section, sectionsOf } from './sections.ts';
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

const MAX_SECTIONS = 50_000;

/** Who sends a document, and where it goes. */
export interface Ingesting {
  readonly deps: Deps;
  /** The deps of many transactions: those above may know one alone. */
  readonly outside: Deps;
  readonly engine: Engine;
  readonly principal: Principal;
  readonly agent: Agent;
  readonly base: store.Base;
}

/** @throws ApiError not_found, payload_too_large, unreadable_document, unavailable */
export async function ingest(ingesting: Ingesting, upload: Upload): Promise<Ingested> {
  const { deps, outside, engine, base } = ingesting;
  const { content_space: space } = base;
  const hash = hashOf(upload);
  const known = await deps.db.transaction({ spaces: [space], readOnly: true }, (tx) => find(tx, base, upload));
  if (known?.hash.equals(hash)) return { document: known, outcome: 'unchanged' };

  const extracted = await readDocument(upload.file);
  const sections = await cutInTurns(extracted);
  const row = { ...rowOf(ingesting, upload, extracted), hash, sections: sections.length };
  const isLarge = sections.length > LARGE;
  const kept = isLarge ? await storeParts(outside.db, space, sections, row.created_at) : undefined;
  const write = kept === undefined ? await writeNow(ingesting, row, sections) : writeLater(kept);
  try {
    if (known && known.sections > LARGE) await thinOut(outside, engine, space, known.id);
    return await put(ingesting, upload, row, write);
  } catch (error) {
    if (kept !== undefined) await dropParts(outside.db, space, kept);
    throw error;
  }
}

/** As a first version of a document that nothing is known of yet. */
function rowOf(
  { deps, principal, agent, base }: Ingesting,
  { file, title, source, occurredAt }: Upload,
  extracted: Extracted,
): Omit<store.DocumentRow, 'hash' | 'sections'> {
  const now = deps.now();
  return {
    space_id: base.content_space,
    id: uuidv7(),
    source: source ?? null,
    title: titleOf(title ?? extracted.title ?? source),
    content_type: file.type,
    bytes: file.bytes.length,
    characters: extracted.text.length,
    pages: extracted.pages?.length ?? null,
    waiting: 0,
    embedded: false,
    owner_id: principal.owner,
    agent_id: principal.boundAgent ?? agent.id ?? null,
    occurred_at: occurredAt ?? now,
    created_at: now,
    updated_at: now,
    version: 1,
  };
}

/** The document itself, in one transaction: its row, its sections or the work that they are, and the end of what it replaces. */
function put(
  { deps, engine, principal, base }: Ingesting,
  upload: Upload,
  row: store.DocumentRow,
  write: Write,
): Promise<Ingested> {
  const { content_space: space } = base;
  return deps.db.transaction({ spaces: [base.space_id, space], owner: principal.owner }, async (tx) => {
    if (!(await store.holdBase(tx, base)))
      throw new ApiError('not_found', 'no such knowledge base is visible to this token');
    const placed = await place(tx, base, upload, row);
    await deleteParts(tx, space, placed.document.id);
    const before = await deleteSections(tx, engine, space, placed.document.id);
    const { totals, ...done } = await write(tx, placed.document);
    await engine.touchSpace(tx, space, {
      memories: totals.memories + before.totals.memories,
      terms: totals.terms + before.totals.terms,
    });
    const action = placed.outcome === 'created' ? 'document.add' : 'document.replace';
    await audit(tx, principal, { action, target: placed.document.id, at: row.updated_at });
    return { document: { ...placed.document, ...done }, outcome: placed.outcome };
  });
}

/** Sections cut at a time, a few milliseconds of work. */
const CUT_AT_ONCE = 100;

/** @throws ApiError payload_too_large */
async function cutInTurns(extracted: Extracted): Promise<Section[]> {
  const sections: Section[] = [];
  for (const section of sectionsOf(extracted)) {
    sections.push(section);
    if (sections.length > MAX_SECTIONS)
      throw new ApiError(
        'payload_too_large',
        `the document has more than ${MAX_SECTIONS.toLocaleString('en')} sections: split it`,
      );
    if (sections.length % CUT_AT_ONCE === 0) await nextTurn();
  }
  return sections;
}

/** Writes the sections of a document that is in place, in its transaction; how the totals of the space move, and what is known of it then. */
type Write = (
  tx: Tx,
  document: store.DocumentRow,
) => Promise<Pick<store.DocumentRow, 'waiting' | 'embedded'> & { totals: ReturnType<typeof totalsOf> }>;

/** With their words and vectors, which are made before the transaction. */
async function writeNow(
  { deps, engine, base }: Ingesting,
  row: store.DocumentRow,
  sections: readonly Section[],
): Promise<Write> {
  const passages = await embed(deps, engine, row, sections);
  const prepared = await prepare(engine, row, { first: 0, sections, before: null, after: null }, passages);
  const model = await ensureModel(deps.db, deps.embedder);
  return async (tx, document) => {
    const seqs = await stored.insertSections(tx, base, document, prepared, ANALYSER);
    for (const [i, { passages, termCount }] of prepared.entries()) {
      if (passages) await engine.writePassages(tx, document.space_id, seqs[i]!, model, passages, termCount);
    }
    const embedded = prepared.every(({ passages }) => passages !== undefined);
    return { waiting: 0, embedded, totals: totalsOf(prepared) };
  };
}

/** As work that is done in the background. */
function writeLater(upload: string): Write {
  return async (tx, document) => {
    await release(tx, document.space_id, upload, document.id);
    return { waiting: document.sections, embedded: false, totals: { memories: 0, terms: 0 } };
  };
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

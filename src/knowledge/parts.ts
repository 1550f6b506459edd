/**
 * A large document is taken at once, and its words are made in the background, some sections a transaction: others wait for no more than
 * that. What is left to do stands in the database, so any process goes on where another one ended.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import { type Background, inBackground, pauseFor } from '../background.ts';
import type { Db, Tx } from '../db/db.ts';
import { sql } from '../db/sql.ts';
import type { Deps } from '../deps.ts';
import { ANALYSER } from '../text/analyse.ts';
import type { Engine } from './engine.ts';
import { type Piece, prepare } from './prepare.ts';
import type { Section } from './sections.ts';
import { type Base, findDocuments, holdBase } from './store.ts';
import { insertSections } from './store-sections.ts';

/** Sections a part: about four thousand postings, a tenth of a second on the embedded database. */
const SECTIONS_A_PART = 20;
/** Bounds the size of one statement. */
const PARTS_A_STATEMENT = 20;

/** A process that does not come back is taken over after this long: far more than a part takes. */
const LEASE_SECONDS = 60;
const POLL_MS = 2_000;
/** Rests after each part for as long as it took, so that requests have half of everything; at least this long. */
const LEAST_PAUSE_MS = 5;
const RETRY_MS = 30_000;

/** An upload whose process ended before its document was written. */
const LOST_AFTER_HOURS = 1;

/** Stores sections as work to be done once `release` gives them to a document: a transaction a statement, since a book has many. */
export async function storeParts(db: Db, space: number, sections: readonly Section[], now: Date): Promise<string> {
  const upload = uuidv7();
  const write = (work: (tx: Tx) => Promise<unknown>) => db.transaction({ spaces: [space] }, work);
  const parts = partsOf(sections);
  for (let from = 0; from < parts.length; from += PARTS_A_STATEMENT) {
    const some = parts.slice(from, from + PARTS_A_STATEMENT).map((part) => ({ ...part, text: JSON.stringify(part) }));
    await write((tx) =>
      tx.query(sql`
        insert into document_parts (space_id, upload, part, stored_at, amount, sections)
        select ${space}, ${upload}, part, ${now}, amount, sections
        from unnest(${some.map((p) => p.first)}::int[], ${some.map((p) => p.sections.length)}::int[], ${some.map((p) => p.text)}::text[])
          as p(part, amount, sections)`),
    );
    await nextTurn();
  }
  return upload;
}

/** Parts whose document was never written: its process ended before that. */
export async function sweepParts({ db, now }: Deps): Promise<void> {
  const lost = new Date(now().getTime() - LOST_AFTER_HOURS * 3_600_000);
  await db.admin((tx) => tx.query(sql`delete from document_parts where document_id is null and stored_at < ${lost}`));
}

function partsOf(sections: readonly Section[]): Piece[] {
  return Array.from({ length: Math.ceil(sections.length / SECTIONS_A_PART) }, (_, i) => {
    const first = i * SECTIONS_A_PART;
    const some = sections.slice(first, first + SECTIONS_A_PART);
    const before = sections[first - 1]?.content ?? null;
    return { first, sections: some, before, after: sections[first + some.length]?.content ?? null };
  });
}

/** Gives a stored upload to its document. The caller holds the document, and has taken earlier parts of it away. */
export async function release(tx: Tx, space: number, upload: string, document: string): Promise<void> {
  await tx.query(
    sql`update document_parts set document_id = ${document} where space_id = ${space} and upload = ${upload}`,
  );
}

/** An upload that is not wanted after all. */
export async function dropParts(db: Db, space: number, upload: string): Promise<void> {
  await db.transaction({ spaces: [space] }, (tx) =>
    tx.query(sql`delete from document_parts where space_id = ${space} and upload = ${upload} and document_id is null`),
  );
}

export async function deleteParts(tx: Tx, space: number, document: string): Promise<void> {
  await tx.query(sql`delete from document_parts where space_id = ${space} and document_id = ${document}`);
}

interface Taken {
  readonly space_id: number;
  readonly upload: string;
  readonly document_id: string;
  readonly part: number;
  readonly base: Pick<Base, 'space_id' | 'id' | 'content_space' | 'bucket' | 'scope'>;
}

/** Leases the next part, of the document that has waited longest, by keys alone. Undefined: there is none, or others are at all of them. */
async function take(db: Db): Promise<Taken | undefined> {
  return db.admin(async (tx) => {
    const [taken] = await tx.query<Omit<Taken, 'base'>>(sql`
      update document_parts p set taken_until = now() + make_interval(secs => ${LEASE_SECONDS})
      from (select space_id, upload, part from document_parts
        where document_id is not null and (taken_until is null or taken_until < now())
        order by stored_at, document_parts.upload, document_parts.part limit 1 for update skip locked) n
      where p.space_id = n.space_id and p.upload = n.upload and p.part = n.part
      returning p.space_id, p.upload, p.document_id, p.part`);
    if (!taken) return undefined;
    const [base] = await tx.query<Taken['base']>(
      sql`select space_id, id, content_space, bucket, scope from knowledge_bases where content_space = ${taken.space_id}`,
    );
    return base && { ...taken, base };
  });
}

/** Makes the words of one part. False: nothing is left to be taken. */
export async function indexPart(deps: Deps, engine: Engine): Promise<boolean> {
  const taken = await take(deps.db);
  if (!taken) return false;
  const { space_id: space, upload, document_id: id, part, base } = taken;
  const one = sql`space_id = ${space} and upload = ${upload} and part = ${part}`;
  const read = await deps.db.transaction({ spaces: [space], readOnly: true }, async (tx) => {
    const [document] = await findDocuments(tx, [space], { id });
    const [row] = await tx.query<{ sections: string }>(sql`select sections from document_parts where ${one}`);
    return document && row && { document, piece: JSON.parse(row.sections) as Piece };
  });
  if (!read) return true;
  const prepared = await prepare(engine, read.document, read.piece);
  await deps.db.transaction({ spaces: [base.space_id, space] }, async (tx) => {
    if (!(await holdBase(tx, base))) return;
    // who replaces or deletes the document holds its row: what is left of the part then is as it was read
    const [document] = await findDocuments(tx, [space], { id }, true);
    const mine = await tx.query(sql`delete from document_parts where ${one} returning part`);
    if (!document || mine.length === 0) return;
    await insertSections(tx, base, document, prepared, ANALYSER);
    await engine.touchSpace(tx, space, totalsOf(prepared));
  });
  return true;
}

export const totalsOf = (prepared: Awaited<ReturnType<typeof prepare>>): { memories: number; terms: number } => ({
  memories: prepared.filter(({ words }) => words.length > 0).length,
  terms: prepared.reduce((sum, { words }) => sum + words.length, 0),
});

/** Keeps at it until it is stopped. A failure waits, and is tried again. */
export function keepIndexed(deps: Deps, engine: Engine): Background {
  return inBackground(async (signal) => {
    while (!signal.aborted) {
      const began = performance.now();
      let pause = POLL_MS;
      try {
        if (await indexPart(deps, engine)) pause = Math.max(LEAST_PAUSE_MS, performance.now() - began);
      } catch (err) {
        if (signal.aborted) return;
        pause = RETRY_MS;
        deps.log.warn({ err, event: 'indexing_failed' }, 'the words of a document are made later');
      }
      await pauseFor(pause, signal);
    }
  });
}

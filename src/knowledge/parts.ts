/**
 * A large document is taken at once, and its words are made in the background, some sections a transaction: others wait for no more than
 * that. What is left to do stands in the database, so any process goes on where another one ended.
 */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Db, Tx } from '../db/db.ts';
import { sql } from '../db/sql.ts';
import type { Deps } from '../deps.ts';
import { ANALYSER } from '../text/analyse.ts';
import type { Engine } from './engine.ts';
import { type Piece, prepare } from './prepare.ts';
import type { Section } from './sections.ts';
import { type Base, type DocumentRow, findDocuments, holdBase } from './store.ts';
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

/** Writes the sections of a document as work to be done. The caller holds the document, and has taken earlier parts of it away. */
export async function insertParts(tx: Tx, document: DocumentRow, sections: readonly Section[]): Promise<void> {
  const { space_id: space, id, version } = document;
  const parts: { part: number; amount: number; text: string }[] = [];
  for (let first = 0; first < sections.length; first += SECTIONS_A_PART) {
    const some = sections.slice(first, first + SECTIONS_A_PART);
    const before = sections[first - 1]?.content ?? null;
    const after = sections[first + some.length]?.content ?? null;
    const piece: Piece = { first, sections: some, before, after };
    parts.push({ part: first / SECTIONS_A_PART, amount: some.length, text: JSON.stringify(piece) });
    const isLast = first + SECTIONS_A_PART >= sections.length;
    if (parts.length < PARTS_A_STATEMENT && !isLast) continue;
    const these = parts.splice(0);
    await tx.query(sql`
      insert into document_parts (space_id, document_id, version, part, amount, sections)
      select ${space}, ${id}, ${version}, part, amount, sections
      from unnest(${these.map((p) => p.part)}::int[], ${these.map((p) => p.amount)}::int[], ${these.map((p) => p.text)}::text[])
        as p(part, amount, sections)`);
    await nextTurn();
  }
}

export async function deleteParts(tx: Tx, space: number, document: string): Promise<void> {
  await tx.query(sql`delete from document_parts where space_id = ${space} and document_id = ${document}`);
}

interface Taken {
  readonly space_id: number;
  readonly document_id: string;
  readonly version: number;
  readonly part: number;
  readonly base: Pick<Base, 'space_id' | 'id' | 'content_space' | 'bucket' | 'scope'>;
}

/** Leases the next part, by keys alone. Undefined: there is none, or others are at all of them. */
async function take(db: Db): Promise<Taken | undefined> {
  return db.admin(async (tx) => {
    const [taken] = await tx.query<Omit<Taken, 'base'>>(sql`
      update document_parts p set taken_until = now() + make_interval(secs => ${LEASE_SECONDS})
      from (select space_id, document_id, version, part from document_parts where taken_until is null or taken_until < now()
        order by 1, 2, 3, 4 limit 1 for update skip locked) n
      where (p.space_id, p.document_id, p.version, p.part) = (n.space_id, n.document_id, n.version, n.part)
      returning p.space_id, p.document_id, p.version, p.part`);
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
  const { space_id: space, document_id: id, version, part, base } = taken;
  const one = sql`space_id = ${space} and document_id = ${id} and version = ${version} and part = ${part}`;
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
export function keepIndexed(deps: Deps, engine: Engine): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  async function loop(): Promise<void> {
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
      await sleep(pause, undefined, { signal, ref: false }).catch(() => {});
    }
  }
  const ended = loop();
  return {
    async stop() {
      stopping.abort();
      await ended;
    },
  };
}

/** Knowledge bases: made, listed, read and deleted. What a token may see of them follows from its spaces and boundaries, as with memories. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import { audit } from '../db/audit.ts';
import { spacesOf, spaceToWrite } from '../db/boundary.ts';
import type { Tx } from '../db/db.ts';
import { ensureSpace, findSpaces } from '../db/spaces.ts';
import type { Deps } from '../deps.ts';
import { ApiError } from '../errors.ts';
import type { Principal } from '../types.ts';
import type { Engine } from './engine.ts';
import * as store from './store.ts';
import * as stored from './store-sections.ts';

export interface NewBase {
  readonly team: string | undefined;
  readonly name: string;
  readonly description: string | null;
  readonly bucket: string;
  readonly scope: string | null;
}

export async function createBase(deps: Deps, principal: Principal, base: NewBase): Promise<store.Base> {
  const id = uuidv7();
  const { team } = base;
  const space_id = await ensureSpace(deps.db, spaceToWrite(principal, team));
  const content_space = await ensureSpace(deps.db, { kind: 'knowledge', name: id });
  const made = { ...base, id, space_id, content_space, team_id: team ?? null, owner_id: principal.owner };
  const row = { ...made, created_at: deps.now() };
  try {
    return await deps.db.transaction({ spaces: [space_id], owner: principal.owner }, async (tx) => {
      await store.insertBase(tx, row);
      await audit(tx, principal, { action: 'knowledge_base.create', target: id, at: row.created_at });
      return row;
    });
  } catch (error) {
    // also when an equal request was faster: a space without a base would stay for good
    await deps.db.admin((tx) => store.deleteSpace(tx, content_space));
    throw error;
  }
}

/** The bases that a principal may see, newest first; of one team when it is named. @throws ApiError boundary_denied */
export async function listBases(
  deps: Deps,
  principal: Principal,
  request: { readonly team?: string | undefined; readonly before?: string | undefined; readonly limit?: number } = {},
): Promise<store.Base[]> {
  const spaces = await findSpaces(deps.db, spacesOf(principal, request.team));
  if (spaces.length === 0) return [];
  return deps.db.transaction({ spaces, readOnly: true }, (tx) => store.findBases(tx, spaces, principal, request));
}

/** The spaces that hold the sections of those bases. */
export async function contentSpaces(deps: Deps, principal: Principal, team: string | undefined): Promise<number[]> {
  return (await listBases(deps, principal, { team })).map((base) => base.content_space);
}

/** @throws ApiError not_found, also for a base of somebody else */
export async function readBase(deps: Deps, principal: Principal, id: string): Promise<store.Base> {
  const spaces = await findSpaces(deps.db, spacesOf(principal));
  const [base] =
    spaces.length === 0
      ? []
      : await deps.db.transaction({ spaces, readOnly: true }, (tx) => store.findBases(tx, spaces, principal, { id }));
  if (!base) throw new ApiError('not_found', 'no such knowledge base is visible to this token');
  return base;
}

/** The base, every document and section of it, and the space itself. `outside`: the deps of many transactions. @throws ApiError not_found */
export async function deleteBase(
  deps: Deps,
  engine: Engine,
  principal: Principal,
  id: string,
  outside: Deps,
): Promise<{ documents: number; sections: number }> {
  const { space_id, content_space } = await readBase(deps, principal, id);
  const thinned = await thinOut(outside, engine, content_space);
  const deleted = await deps.db.transaction(
    { spaces: [space_id, content_space], owner: principal.owner },
    async (tx) => {
      // first the row that writers of documents hold: what they were writing is there by then
      if (!(await store.deleteBaseRow(tx, space_id, id)))
        throw new ApiError('not_found', 'no such knowledge base is visible to this token');
      await audit(tx, principal, { action: 'knowledge_base.delete', target: id, at: deps.now() });
      const { documents, sections } = await store.deleteContent(tx, content_space);
      return { documents, sections: sections + thinned };
    },
  );
  await deps.db.admin((tx) => store.deleteSpace(tx, content_space));
  return deleted;
}

/** Takes the sections of a document out of both arms, and deletes them. */
export async function deleteSections(
  tx: Tx,
  engine: Engine,
  space: number,
  document: string,
): Promise<{ sections: number; totals: { memories: number; terms: number } }> {
  return deleteBySeq(tx, engine, space, await stored.sectionsOf(tx, space, document));
}

async function deleteBySeq(tx: Tx, engine: Engine, space: number, seqs: readonly string[]) {
  if (seqs.length === 0) return { sections: 0, totals: { memories: 0, terms: 0 } };
  const totals = await engine.unindexWords(tx, space, seqs);
  await stored.deleteSections(tx, space, seqs);
  return { sections: seqs.length, totals };
}

/** Beyond so many sections a document is written and deleted in several transactions. */
export const LARGE = 200;
const SECTIONS_A_TURN = 20;

/**
 * Deletes the sections of a document, or of a whole base, until few are left for the one transaction that ends it: others wait for a turn at
 * most. Interrupted, the document stays with fewer sections, and is not taken for the file that it was made of. Returns how many went.
 */
export async function thinOut(deps: Deps, engine: Engine, space: number, document?: string): Promise<number> {
  let gone = 0;
  for (;;) {
    const sections = await deps.db.transaction({ spaces: [space] }, async (tx) => {
      const seqs = await stored.sectionsOf(tx, space, document, SECTIONS_A_TURN + LARGE);
      if (seqs.length <= LARGE) return 0;
      if (gone === 0) await store.unmake(tx, space, document);
      const deleted = await deleteBySeq(tx, engine, space, seqs.slice(0, SECTIONS_A_TURN));
      await engine.touchSpace(tx, space, deleted.totals);
      return deleted.sections;
    });
    if (sections === 0) return gone;
    gone += sections;
    await nextTurn();
  }
}

/** Knowledge bases: made, listed, read and deleted. What a token may see of them follows from its spaces and boundaries, as with memories. */
import { v7 as uuidv7 } from 'uuid';
import { audit } from '../db/audit.ts';
import { spacesOf, spaceToWrite } from '../db/boundary.ts';
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

/** The base, every document and section of it, and the space itself. @throws ApiError not_found */
export async function deleteBase(
  deps: Deps,
  principal: Principal,
  id: string,
): Promise<{ documents: number; sections: number }> {
  const { space_id, content_space } = await readBase(deps, principal, id);
  const deleted = await deps.db.transaction(
    { spaces: [space_id, content_space], owner: principal.owner },
    async (tx) => {
      // first the row that writers of documents hold: what they were writing is there by then
      if (!(await store.deleteBaseRow(tx, space_id, id)))
        throw new ApiError('not_found', 'no such knowledge base is visible to this token');
      await audit(tx, principal, { action: 'knowledge_base.delete', target: id, at: deps.now() });
      return store.deleteContent(tx, content_space);
    },
  );
  await deps.db.admin((tx) => store.deleteSpace(tx, content_space));
  return deleted;
}

/** Raises the version of the space, takes the sections of a document out of both arms, and deletes them. */
export async function deleteSections(
  tx: Parameters<Engine['unindexWords']>[0],
  engine: Engine,
  space: number,
  document: string,
): Promise<{ sections: number; totals: { memories: number; terms: number } }> {
  const seqs = await stored.sectionsOf(tx, space, document);
  if (seqs.length === 0) return { sections: 0, totals: { memories: 0, terms: 0 } };
  const totals = await engine.unindexWords(tx, space, seqs);
  await stored.deleteSections(tx, space, seqs);
  return { sections: seqs.length, totals };
}

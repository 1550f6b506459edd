/** Documents and their sections: listed, read and deleted. */
import { audit } from '../db/audit.ts';
import { findById, type MemoryRow } from '../db/memories.ts';
import type { Deps } from '../deps.ts';
import { ApiError } from '../errors.ts';
import type { Principal } from '../types.ts';
import { deleteSections, listBases, thinOut } from './bases.ts';
import type { Engine } from './engine.ts';
import * as store from './store.ts';
import * as stored from './store-sections.ts';

export interface Placed {
  readonly base: store.Base;
  readonly document: store.DocumentRow;
}

/** Newest first, of one base or of all that the principal may see. */
export async function listDocuments(
  deps: Deps,
  bases: readonly store.Base[],
  page: { readonly before?: string | undefined; readonly limit: number },
): Promise<Placed[]> {
  const spaces = bases.map((base) => base.content_space);
  if (spaces.length === 0) return [];
  const rows = await deps.db.transaction({ spaces, readOnly: true }, (tx) => store.findDocuments(tx, spaces, page));
  const bySpace = new Map(bases.map((base) => [base.content_space, base]));
  return rows.map((document) => ({ document, base: bySpace.get(document.space_id)! }));
}

/** @throws ApiError not_found, also for a document of somebody else */
export async function readDocumentRow(deps: Deps, principal: Principal, id: string): Promise<Placed> {
  const bases = await listBases(deps, principal);
  const spaces = bases.map((base) => base.content_space);
  const [document] =
    spaces.length === 0
      ? []
      : await deps.db.transaction({ spaces, readOnly: true }, (tx) => store.findDocuments(tx, spaces, { id }));
  if (!document) throw new ApiError('not_found', 'no such document is visible to this token');
  return { document, base: bases.find((base) => base.content_space === document.space_id)! };
}

/** Nothing of it is left. `outside`: the deps of many transactions. @throws ApiError not_found */
export async function deleteDocument(
  deps: Deps,
  engine: Engine,
  principal: Principal,
  id: string,
  outside: Deps,
): Promise<number> {
  const { base } = await readDocumentRow(deps, principal, id);
  const space = base.content_space;
  const thinned = await thinOut(outside, engine, space, id);
  return deps.db.transaction({ spaces: [base.space_id, space], owner: principal.owner }, async (tx) => {
    const there = (await store.holdBase(tx, base)) && (await store.deleteDocumentRow(tx, space, id));
    if (!there) throw new ApiError('not_found', 'no such document is visible to this token');
    const { sections, totals } = await deleteSections(tx, engine, space, id);
    await engine.touchSpace(tx, space, totals);
    await audit(tx, principal, { action: 'document.delete', target: id, at: deps.now() });
    return sections + thinned;
  });
}

/** The sections of a base in the order of the documents, after a short key. */
export function listSections(
  deps: Deps,
  base: store.Base,
  page: { readonly document?: string | undefined; readonly after?: string | undefined; readonly limit: number },
): Promise<MemoryRow[]> {
  const spaces = [base.content_space];
  return deps.db.transaction({ spaces, readOnly: true }, (tx) => stored.findSections(tx, base.content_space, page));
}

/** @throws ApiError not_found */
export async function readSection(deps: Deps, principal: Principal, id: string): Promise<MemoryRow> {
  const spaces = (await listBases(deps, principal)).map((base) => base.content_space);
  const row =
    spaces.length === 0
      ? undefined
      : await deps.db.transaction({ spaces, readOnly: true }, (tx) => findById(tx, spaces, id, principal, deps.now()));
  if (!row) throw new ApiError('not_found', 'no such knowledge item is visible to this token');
  return row;
}

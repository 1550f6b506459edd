/** Stores a memory with its work item in one transaction, and reads both back. */
import { spacesOf } from '../db/boundary.ts';
import { findSpaces } from '../db/spaces.ts';
import type { Deps } from '../deps.ts';
import { ApiError } from '../errors.ts';
import type { archive } from '../memory/archive.ts';
import type { Alongside, RememberInput, remember } from '../memory/remember.ts';
import type { Agent, Principal } from '../types.ts';
import {
  closeItem,
  findItem,
  type ItemRow,
  type ItemStatus,
  type Kind,
  type Listing,
  listItems,
  type NewItem,
  writeItem,
} from './store.ts';

/** The verbs of memory that work is built on, handed in by app.ts. */
export interface Memories {
  readonly remember: typeof remember;
  readonly archive: typeof archive;
}

/** Who writes, and with what. */
export interface Writing {
  readonly deps: Deps;
  readonly memories: Memories;
  readonly principal: Principal;
  readonly agent: Agent;
}

export async function store(
  { deps, memories, principal, agent }: Writing,
  input: RememberInput,
  item: NewItem,
  after?: Alongside,
): Promise<ItemRow> {
  const written = await memories.remember(deps, principal, agent, input, async (tx, space, { seq, ...rest }) => {
    await writeItem(tx, space, seq, item);
    await after?.(tx, space, { seq, ...rest });
  });
  return read(deps, principal, item.kind, written.id);
}

/** @throws ApiError not_found */
async function read(deps: Deps, principal: Principal, kind: Kind, id: string): Promise<ItemRow> {
  const spaces = await findSpaces(deps.db, spacesOf(principal));
  const row = await deps.db.transaction({ spaces, readOnly: true }, (tx) =>
    findItem(tx, { spaces, boundary: principal, now: deps.now() }, kind, id),
  );
  if (!row) throw new ApiError('not_found', `no such ${kind} is visible to this token`);
  return row;
}

export interface ListRequest extends Listing {
  readonly team: string | undefined;
  readonly asOf: Date | undefined;
}

export async function list(
  deps: Deps,
  principal: Principal,
  request: ListRequest,
): Promise<{ rows: ItemRow[]; total: number }> {
  const spaces = await findSpaces(deps.db, spacesOf(principal, request.team));
  return deps.db.transaction({ spaces, readOnly: true }, (tx) =>
    listItems(tx, { spaces, boundary: principal, now: deps.now(), asOf: request.asOf }, request),
  );
}

export interface CloseRequest {
  readonly id: string;
  readonly kind: 'reminder' | 'decision';
  readonly status: Exclude<ItemStatus, 'open'>;
  readonly bucket: string | undefined;
  readonly scope: string | undefined;
  /** Kept in the memory's metadata. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Closes a reminder or a decision, and takes it out of packs. Closing it again changes nothing. @throws ApiError not_found */
export async function close(
  deps: Deps,
  memories: Memories,
  principal: Principal,
  request: CloseRequest,
): Promise<ItemRow> {
  const { id, kind, status, bucket, scope } = request;
  const there = await read(deps, principal, kind, id);
  if ((bucket !== undefined && bucket !== there.bucket) || (scope !== undefined && scope !== there.scope)) {
    throw new ApiError('not_found', `no such ${kind} is visible to this token`);
  }
  await memories.archive(deps, principal, id, async (tx, { space_id, seq }) =>
    (await closeItem(tx, space_id, seq, status, deps.now())) ? request.metadata : undefined,
  );
  return read(deps, principal, kind, id);
}

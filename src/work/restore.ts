/** Takes up the work again: from a snapshot, or from the present state when there is none or it is newer. */
import { spacesOf } from '../db/boundary.ts';
import type { Tx } from '../db/db.ts';
import { findSpaces } from '../db/spaces.ts';
import type { Filters } from '../db/visible.ts';
import { store, type Writing } from './items.ts';
import { writeState } from './state.ts';
import { type Frozen, findItem, type ItemRow, itemsBySeq, listItems, type Reading } from './store.ts';

export interface RestoreInput {
  /** Undefined: the latest that fits. */
  readonly snapshotId: string | undefined;
  readonly stateKey: string;
  readonly from: Filters;
  readonly team: string | undefined;
  readonly targetSession: string | undefined;
  readonly restoreState: boolean;
  readonly recordEvent: boolean;
  /** Given: the new end of the state. */
  readonly expiresAt: Date | null | undefined;
  readonly source: string | null;
}

export interface Restored {
  /** Undefined: the present state was taken. */
  readonly snapshot: ItemRow | undefined;
  readonly state: ItemRow | undefined;
  /** The state as the snapshot holds it; null: as it is now. */
  readonly frozen: Frozen | null;
  readonly items: readonly ItemRow[];
  /** The present state after the restore. */
  readonly present: ItemRow | undefined;
  readonly event: ItemRow | undefined;
  readonly at: Date;
}

/** Undefined when there is nothing to take up. */
export async function restore(writing: Writing, input: RestoreInput): Promise<Restored | undefined> {
  const { deps, principal } = writing;
  const spaces = await findSpaces(deps.db, spacesOf(principal, input.team));
  const at = deps.now();
  const reading = { spaces, boundary: principal, now: at };
  const found = await deps.db.transaction({ spaces, readOnly: true }, (tx) => find(tx, reading, input));
  if (!found) return undefined;
  const { state, frozen } = found;
  // In a transaction of its own, so that it is decided once: a repeated request must not write what the first one had no reason to.
  const changes = await deps.db.transaction({ spaces }, async () => input.restoreState && isChanged(found, input));
  const present = changes && state ? await makePresent(writing, input, state, frozen) : state;
  const event = input.recordEvent ? await recordRestore(writing, input, found.snapshot ?? state!) : undefined;
  return { ...found, present, event, at };
}

function isChanged({ state, frozen }: Found, { expiresAt }: RestoreInput): boolean {
  return state !== undefined && ((frozen !== null && frozen.version !== state.version) || expiresAt !== undefined);
}

type Found = Pick<Restored, 'snapshot' | 'state' | 'frozen' | 'items'>;

async function find(tx: Tx, reading: Reading, input: RestoreInput): Promise<Found | undefined> {
  const { stateKey, from, snapshotId } = input;
  const latest = async (kind: 'snapshot' | 'state', filters: Filters) => {
    const listing = { filters, items: { kind, stateKey }, page: { limit: 1, offset: 0 } };
    return (await listItems(tx, reading, listing)).rows[0];
  };
  const snapshot =
    snapshotId === undefined ? await latest('snapshot', from) : await findItem(tx, reading, 'snapshot', snapshotId);
  if (snapshotId !== undefined && !snapshot) return undefined;
  const present =
    snapshotId === undefined
      ? await latest('state', { ...from, sessionId: undefined, statuses: ['active'] })
      : undefined;
  if (!snapshot) return present && { snapshot: undefined, state: present, frozen: null, items: [] };
  const beside = { ...reading, spaces: [snapshot.space_id] };
  const items = await itemsBySeq(tx, beside, snapshot.refs);
  if (present && isNewer(present, snapshot)) return { snapshot, state: present, frozen: null, items };
  // A state that was forgotten or has expired since is gone from its snapshots too.
  const [state] = snapshot.state_seq === null ? [] : await itemsBySeq(tx, beside, [snapshot.state_seq]);
  return { snapshot, state, frozen: state ? snapshot.frozen : null, items };
}

/** By version where it is the same memory: two writes may share an instant. */
function isNewer(present: ItemRow, snapshot: ItemRow): boolean {
  if (present.seq === snapshot.state_seq) return present.version > (snapshot.frozen?.version ?? 0);
  return present.updated_at > snapshot.created_at;
}

function makePresent(writing: Writing, input: RestoreInput, state: ItemRow, frozen: Frozen | null) {
  const ends = frozen ? frozen.expires_at && new Date(frozen.expires_at) : state.expires_at;
  return writeState(writing, state.state_key ?? input.stateKey, {
    team: state.team_id ?? undefined,
    bucket: state.bucket,
    scope: state.scope,
    path: frozen ? frozen.path : state.path,
    source: frozen ? frozen.source : state.source,
    content: frozen?.content ?? state.content,
    metadata: frozen?.metadata ?? state.metadata,
    sessionId: input.targetSession,
    expiresAt: input.expiresAt === undefined ? ends || null : input.expiresAt,
  });
}

function recordRestore(writing: Writing, input: RestoreInput, of: ItemRow) {
  const label =
    of.kind === 'snapshot' && typeof of.metadata.label === 'string' ? ` from the snapshot "${of.metadata.label}"` : '';
  return store(
    writing,
    {
      content: `Work on "${of.state_key}" was taken up again${label}.`,
      team: of.team_id ?? undefined,
      bucket: of.bucket,
      scope: of.scope,
      path: 'work/timeline',
      memoryType: 'episodic',
      source: input.source,
      sessionId: input.targetSession,
      occurredAt: writing.deps.now(),
      metadata: { restored_from: of.id },
    },
    { kind: 'event', eventType: 'restore' },
  );
}

/** Keeps where the work stands: the state as it is, and which events, reminders and decisions stood beside it. */
import { spacesOf } from '../db/boundary.ts';
import { findSpaces } from '../db/spaces.ts';
import type { Filters } from '../db/visible.ts';
import type { RememberInput } from '../memory/remember.ts';
import { store, type Writing } from './items.ts';
import { type Frozen, type ItemFilters, type ItemRow, listItems, putAside } from './store.ts';

export interface SnapshotInput extends Omit<RememberInput, 'content' | 'memoryType'> {
  readonly label: string | undefined;
  readonly stateKey: string;
  /** What it takes from. */
  readonly from: Filters;
  readonly limits: { readonly events: number; readonly reminders: number; readonly decisions: number };
}

export interface Snapshot {
  readonly row: ItemRow;
  readonly counts: {
    readonly state: number;
    readonly events: number;
    readonly reminders: number;
    readonly decisions: number;
  };
}

export async function takeSnapshot(writing: Writing, input: SnapshotInput): Promise<Snapshot> {
  const { label, stateKey, from, limits, metadata, ...rest } = input;
  const standing = await collect(writing, input);
  const state = standing.state[0];
  const row = await store(
    writing,
    {
      ...rest,
      path: rest.path ?? 'work/snapshots',
      memoryType: 'working',
      content: label === undefined ? 'Restart snapshot' : `Restart snapshot: ${label}`,
      metadata: { ...metadata, ...(label !== undefined && { label }) },
    },
    {
      kind: 'snapshot',
      stateKey,
      stateSeq: state?.seq,
      frozen: state && freeze(state),
      refs: [...standing.events, ...standing.reminders, ...standing.decisions].map((item) => item.seq),
    },
    (tx, space, { seq }) => putAside(tx, space, seq),
  );
  return {
    row,
    counts: {
      state: standing.state.length,
      events: standing.events.length,
      reminders: standing.reminders.length,
      decisions: standing.decisions.length,
    },
  };
}

/** From the one space that the snapshot lies in: its references are keys of that space. */
async function collect({ deps, principal }: Writing, { from, stateKey, limits, team }: SnapshotInput) {
  const spaces = (await findSpaces(deps.db, spacesOf(principal, team))).slice(0, 1);
  const reading = { spaces, boundary: principal, now: deps.now() };
  return deps.db.transaction({ spaces, readOnly: true }, async (tx) => {
    const take = async (items: ItemFilters, limit: number) => {
      if (limit === 0) return [];
      const listing = { filters: from, items, page: { limit, offset: 0 } };
      return (await listItems(tx, reading, listing)).rows;
    };
    return {
      state: await take({ kind: 'state', stateKey }, 1),
      events: await take({ kind: 'event' }, limits.events),
      reminders: await take({ kind: 'reminder', itemStatus: 'open' }, limits.reminders),
      decisions: await take({ kind: 'decision', itemStatus: 'open' }, limits.decisions),
    };
  });
}

function freeze(state: ItemRow): Frozen {
  return {
    content: state.content,
    metadata: state.metadata,
    path: state.path,
    source: state.source,
    version: state.version,
    updated_at: state.updated_at.toISOString(),
    expires_at: state.expires_at?.toISOString() ?? null,
  };
}

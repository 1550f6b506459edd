/** How often a memory was of use. Counters of their own: they are no part of a version. */
import { spacesOf } from '../db/boundary.ts';
import type { Tx } from '../db/db.ts';
import { findSpaces } from '../db/spaces.ts';
import { sql } from '../db/sql.ts';
import { visible } from '../db/visible.ts';
import type { Deps } from '../deps.ts';
import { ApiError } from '../errors.ts';
import type { Principal } from '../types.ts';
import { lockMemory } from './lock.ts';
import { touchSpace } from './store.ts';

export interface Usage {
  readonly used: number;
  /** Times that it was written again in the same words. */
  readonly reinforced: number;
  /** 0..1 */
  readonly standing: number;
  readonly last_at: Date | null;
}

/** What a memory was used for, in the words of one owner. */
export interface UseContext {
  readonly owner: string;
  /** RFC 3339 */
  readonly at: string;
  readonly context: string;
}

/** Of all owners together: the latest say most, and a row is bounded. */
const KEPT_CONTEXTS = 20;

const UNUSED: Usage = { used: 0, reinforced: 0, standing: 0, last_at: null };

/** Doublings up to the highest standing, 31 uses: what is used daily must not drown what is needed once. */
const STEPS = 5;

/** floor(log2(1 + n)) / 5, at most 1. In few steps, since each of them may change the packs of everybody who reads the memory. */
function standingOf(n: number): number {
  return Math.min(STEPS, Math.floor(Math.log2(1 + n))) / STEPS;
}

/** One use; the same tracking id twice in a row counts once. @throws ApiError not_found */
export async function markUsed(
  deps: Deps,
  principal: Principal,
  id: string,
  { trackingId, context }: { readonly trackingId: string | null; readonly context: string | null },
): Promise<Usage> {
  const spaces = await findSpaces(deps.db, spacesOf(principal));
  const now = deps.now();
  return deps.db.transaction({ spaces }, async (tx) => {
    const row = await lockMemory(tx, spaces, id, visible(principal, now));
    if (!row) throw new ApiError('not_found');
    const usage = await count(tx, row.space_id, row.seq, { kind: 'used', trackingId }, now);
    if (context !== null) {
      const said: UseContext = { owner: principal.owner, at: now.toISOString(), context };
      await keepContext(tx, row.space_id, row.seq, said);
    }
    return usage;
  });
}

/** One more time that the same was written. The caller holds the memory. */
export function reinforce(tx: Tx, space: number, seq: string, now: Date): Promise<Usage> {
  return count(tx, space, seq, { kind: 'reinforced', trackingId: null }, now);
}

type Event = { readonly kind: 'used' | 'reinforced'; readonly trackingId: string | null };

/** Raises the version of the space only when the standing changes: nothing else of this can be seen in a pack. */
async function count(tx: Tx, space: number, seq: string, { kind, trackingId }: Event, now: Date): Promise<Usage> {
  await tx.query(
    sql`insert into memory_usage (space_id, seq, last_at) values (${space}, ${seq}, ${now}) on conflict do nothing`,
  );
  const [before] = await tx.query<Usage & { last_tracking_id: string | null }>(sql`
    select used, reinforced, standing, last_at, last_tracking_id from memory_usage where space_id = ${space} and seq = ${seq} for update`);
  const { last_tracking_id, ...known } = before!;
  if (trackingId !== null && trackingId === last_tracking_id) return known;
  const after = { ...known, [kind]: known[kind] + 1, last_at: now };
  const standing = standingOf(after.used + after.reinforced);
  await tx.query(sql`
    update memory_usage set used = ${after.used}, reinforced = ${after.reinforced}, standing = ${standing},
      last_tracking_id = coalesce(${trackingId}, last_tracking_id), last_at = ${now}
    where space_id = ${space} and seq = ${seq}`);
  if (standing !== Math.round(known.standing * STEPS) / STEPS) {
    await tx.query(
      sql`insert into standings (space_id, seq, at, standing) values (${space}, ${seq}, ${now}, ${standing}) on conflict do nothing`,
    );
    await touchSpace(tx, space, { memories: 0, terms: 0 });
  }
  return { ...after, standing };
}

export async function usageOf(tx: Tx, space: number, seq: string): Promise<Usage> {
  const [row] = await tx.query<Usage>(
    sql`select used, reinforced, standing, last_at from memory_usage where space_id = ${space} and seq = ${seq}`,
  );
  return row ? { ...row, standing: Math.round(row.standing * STEPS) / STEPS } : UNUSED;
}

async function keepContext(tx: Tx, space: number, seq: string, said: UseContext): Promise<void> {
  const one = sql`space_id = ${space} and seq = ${seq}`;
  const [row] = await tx.query<{ contexts: UseContext[] }>(sql`select contexts from memory_usage where ${one}`);
  const contexts = [said, ...(row?.contexts ?? [])].slice(0, KEPT_CONTEXTS);
  await tx.query(sql`update memory_usage set contexts = ${JSON.stringify(contexts)}::jsonb where ${one}`);
}

/** Those of one owner: in a team's space others read the memory, and not what it was used for. */
export async function contextsOf(tx: Tx, space: number, seq: string, owner: string): Promise<UseContext[]> {
  const [row] = await tx.query<{ contexts: UseContext[] }>(
    sql`select contexts from memory_usage where space_id = ${space} and seq = ${seq}`,
  );
  return (row?.contexts ?? []).filter((said) => said.owner === owner);
}

/** What it was used for may quote the text that is redacted. */
export async function redactContexts(tx: Tx, space: number, seq: string): Promise<void> {
  await tx.query(sql`update memory_usage set contexts = '[]' where space_id = ${space} and seq = ${seq}`);
}

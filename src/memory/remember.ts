/** Stores a memory: its text, words and vectors in one transaction. */
import { v7 as uuidv7 } from 'uuid';
import { audit } from '../db/audit.ts';
import { spaceToWrite } from '../db/boundary.ts';
import type { Tx } from '../db/db.ts';
import { ensureModel, ensureSpace } from '../db/spaces.ts';
import { sql } from '../db/sql.ts';
import type { Deps } from '../deps.ts';
import { ApiError } from '../errors.ts';
import { ANALYSER, analyse } from '../text/analyse.ts';
import { ownTerms } from '../text/indexed.ts';
import { LONGEST_COMPARED, nearDuplicate } from '../text/near-duplicate.ts';
import { type Agent, type MemoryType, type Principal, TEMPORARY_MEMORIES } from '../types.ts';
import { classify } from './classify.ts';
import { type Conflict, findConflicts } from './conflicts.ts';
import { keepPassages, writePassages } from './passage-store.ts';
import { embedPassages } from './passages.ts';
import { recalledText } from './recalled.ts';
import {
  countMemories,
  findSame,
  findSimilar,
  hashOf,
  insertMemory,
  lockBySemanticKey,
  lockSpace,
  type NewMemory,
  placeOf,
  replaceMemory,
  touchSpace,
  type Written,
} from './store.ts';
import { reinforce } from './usage.ts';
import { keepVersions } from './versions.ts';
import { besides, indexWords, lockSessions } from './words.ts';

/** What a caller asks to store; checked and normalised, boundaries included. What is absent is not known, or not wanted. */
export interface RememberInput {
  readonly content: string;
  readonly team: string | undefined;
  readonly bucket: string;
  readonly scope: string | null;
  readonly path: string | null;
  /** `auto`: the service decides. */
  readonly memoryType: MemoryType | 'auto';
  readonly semanticKey?: string | undefined;
  readonly dedupe?: boolean;
  readonly importance?: number | undefined;
  readonly confidence?: number | undefined;
  readonly source?: string | null | undefined;
  readonly author?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly position?: number | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  readonly provenance?: Readonly<Record<string, unknown>> | undefined;
  readonly occurredAt?: Date | undefined;
  readonly expiresAt?: Date | null | undefined;
  /** Store it although it is one of our own answers. */
  readonly allowRecalled?: boolean;
  readonly detectConflicts?: boolean;
}

/** created; updated: a new version under its semantic key; unchanged: the very same was there; merged: with one that says it in nearly the same words. */
export const OUTCOMES = ['created', 'updated', 'unchanged', 'merged'] as const;
export type Outcome = (typeof OUTCOMES)[number];

export interface Remembered extends Written {
  readonly outcome: Outcome;
  readonly memoryType: MemoryType;
  /** Only when they were asked for. */
  readonly conflicts?: readonly Conflict[] | undefined;
}

/** Writes what another capability keeps beside the memory, in the same transaction. */
export type Alongside = (tx: Tx, space: number, written: Written) => Promise<void>;

/** @throws ApiError recalled_text */
export async function remember(
  deps: Deps,
  principal: Principal,
  agent: Agent,
  input: RememberInput,
  alongside?: Alongside,
): Promise<Remembered> {
  const recalled = input.allowRecalled ? undefined : recalledText(input.content);
  if (recalled)
    throw new ApiError('recalled_text', `content: ${recalled}; say allow_recalled=true to store it all the same`);
  const memory = toMemory(deps, principal, agent, input);
  const space = await ensureSpace(deps.db, spaceToWrite(principal, input.team));
  const passages = await embedPassages(deps, memory);
  const model = await ensureModel(deps.db, deps.embedder);
  return deps.db.transaction({ spaces: [space], owner: principal.owner }, async (tx) => {
    await lockSessions(tx, space, [memory.session_id]);
    if (principal.agentSpace !== undefined) await lockSpace(tx, space); // behind the sessions, as where totals are written
    const twin = input.dedupe && memory.semantic_key === null ? await findTwin(tx, space, memory) : undefined;
    if (twin) {
      await reinforce(tx, space, twin.seq, memory.now);
      const action = twin.outcome === 'merged' ? 'memory.merge' : 'memory.reinforce';
      await audit(tx, principal, { action, target: twin.id, place: memory, at: memory.now });
      return { ...twin, memoryType: memory.memory_type };
    }
    const { written, outcome, beside } = await write(tx, space, memory);
    await alongside?.(tx, space, written);
    if (outcome === 'unchanged') return { ...written, outcome, memoryType: memory.memory_type };
    await writePassages(tx, space, written.seq, model, passages, ownTerms(memory).length);
    const affected = new Set([written.seq, ...beside, ...(await besides(tx, space, [written.seq]))]);
    const totals = await indexWords(tx, space, [...affected]);
    const said = { ...memory, seq: written.seq };
    const conflicts = input.detectConflicts ? await findConflicts(tx, space, said, principal, memory.now) : undefined;
    if (principal.agentSpace !== undefined) await assertRoom(tx, space);
    await audit(tx, principal, { action: 'memory.remember', target: written.id, at: memory.now });
    await touchSpace(tx, space, totals);
    return { ...written, outcome, memoryType: memory.memory_type, conflicts };
  });
}

/** What a temporary agent may hold. Counted after the write, under the lock of the space, so that a new version at the limit still fits. */
async function assertRoom(tx: Tx, space: number): Promise<void> {
  if ((await countMemories(tx, space)) > TEMPORARY_MEMORIES) {
    throw new ApiError('conflict', `a temporary agent holds at most ${TEMPORARY_MEMORIES} memories; claim it to go on`);
  }
}

function toMemory(deps: Deps, principal: Principal, agent: Agent, input: RememberInput): NewMemory {
  const id = uuidv7();
  const now = deps.now();
  const { position = null, occurredAt: occurred_at = null } = input;
  const agentId = principal.boundAgent ?? agent.id ?? null;
  return {
    id,
    owner_id: principal.owner,
    bucket: input.bucket,
    scope: input.scope,
    path: input.path,
    memory_type: input.memoryType === 'auto' ? classify(input) : input.memoryType,
    content: input.content,
    content_hash: hashOf(input.content),
    semantic_key: input.semanticKey ?? null,
    importance: input.importance ?? null,
    confidence: input.confidence ?? null,
    source: input.source ?? null,
    author: input.author ?? agentId,
    agent_id: agentId,
    agent_instance: agent.instance ?? null,
    session_id: input.sessionId ?? null,
    position,
    place: placeOf({ id, position, occurred_at, created_at: now }),
    metadata: input.metadata ?? {},
    provenance: input.provenance ?? {},
    occurred_at,
    expires_at: input.expiresAt ?? null,
    analyser: ANALYSER,
    now,
  };
}

/** The memory that a repetition is merged with. */
async function findTwin(
  tx: Tx,
  space: number,
  memory: NewMemory,
): Promise<(Written & { outcome: Outcome }) | undefined> {
  // Two writers of the same words would both find nothing: they take turns.
  await tx.query(sql`select pg_advisory_xact_lock(${space}::int, hashtext(${`dedupe ${memory.bucket}`}))`);
  const same = await findSame(tx, space, memory);
  const twin =
    same ??
    (memory.content.length > LONGEST_COMPARED
      ? []
      : await findSimilar(tx, space, memory, analyse(memory.content))
    ).find(({ content }) => nearDuplicate(content, memory.content));
  if (!twin) return undefined;
  const [held] = await tx.query<Written>(sql`
    select seq, id, version, created_at, updated_at from memories
    where space_id = ${space} and seq = ${twin.seq} and status = 'active' for update`);
  return held && { ...held, outcome: same ? 'unchanged' : 'merged' }; // forgotten this very moment: then it is stored anew
}

interface Placed {
  readonly written: Written;
  readonly outcome: Outcome;
  /** Memories that stood beside an earlier version, in a session that this one may have left. */
  readonly beside: readonly string[];
}

async function write(tx: Tx, space: number, memory: NewMemory): Promise<Placed> {
  const inserted = await insertMemory(tx, space, memory);
  if (inserted) return { written: inserted, outcome: 'created', beside: [] };
  // Another writer holds the key: its row is committed (the insert waited for it), so it can be locked and replaced.
  const held = await lockBySemanticKey(tx, space, memory);
  if (!held) return write(tx, space, memory);
  if (held.unchanged) return { written: held, outcome: 'unchanged', beside: [] };
  if (held.session_id !== memory.session_id) await lockSessions(tx, space, [held.session_id]);
  const beside = await besides(tx, space, [held.seq]);
  await keepVersions(tx, space, [held.seq], memory.now);
  await keepPassages(tx, space, held.seq, held.version);
  const place = placeOf({ ...memory, id: held.id, created_at: held.created_at });
  const written = await replaceMemory(
    tx,
    space,
    held.seq,
    { ...memory, place },
    { action: 'remember', status: 'active' },
  );
  return { written, outcome: 'updated', beside };
}

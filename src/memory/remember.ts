/** Stores a memory: its text, words and vectors in one transaction. */
import { createHash } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { audit } from '../db/audit.ts';
import { spaceToWrite } from '../db/boundary.ts';
import type { Tx } from '../db/db.ts';
import { ensureModel, ensureSpace } from '../db/spaces.ts';
import type { Deps } from '../deps.ts';
import { ApiError } from '../errors.ts';
import { ANALYSER } from '../text/analyse.ts';
import { ownTerms } from '../text/indexed.ts';
import { type Agent, type MemoryType, type Principal, TEMPORARY_MEMORIES } from '../types.ts';
import { classify } from './classify.ts';
import { embedPassages } from './passages.ts';
import {
  countMemories,
  findSame,
  insertMemory,
  lockBySemanticKey,
  lockSpace,
  type NewMemory,
  placeOf,
  replaceMemory,
  touchSpace,
  type Written,
  writePassages,
} from './store.ts';
import { besides, indexWords, lockSession } from './words.ts';

/** What a caller asks to store; checked and normalised, boundaries included. */
export interface RememberInput {
  readonly content: string;
  readonly team: string | undefined;
  readonly bucket: string;
  readonly scope: string | null;
  readonly path: string | null;
  /** `auto`: the service decides. */
  readonly memoryType: MemoryType | 'auto';
  readonly semanticKey: string | null;
  readonly dedupe: boolean;
  readonly importance: number | null;
  readonly confidence: number | null;
  readonly source: string | null;
  readonly author: string | null;
  readonly sessionId: string | null;
  readonly position: number | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly provenance: Readonly<Record<string, unknown>>;
  readonly occurredAt: Date | null;
  readonly expiresAt: Date | null;
}

export interface Remembered extends Written {
  /** `created`; `updated`: a new version under its semantic key; `unchanged`: the very same text was there. */
  readonly outcome: 'created' | 'updated' | 'unchanged';
  readonly memoryType: MemoryType;
}

export async function remember(
  deps: Deps,
  principal: Principal,
  agent: Agent,
  input: RememberInput,
): Promise<Remembered> {
  const memory = toMemory(deps, principal, agent, input);
  const space = await ensureSpace(deps.db, spaceToWrite(principal, input.team));
  const passages = await embedPassages(deps, memory);
  const model = await ensureModel(deps.db, deps.embedder);
  return deps.db.transaction({ spaces: [space], owner: principal.owner }, async (tx) => {
    if (principal.agentSpace !== undefined) await lockSpace(tx, space);
    await lockSession(tx, space, memory.session_id);
    const same = input.dedupe && memory.semantic_key === null ? await findSame(tx, space, memory) : undefined;
    if (same) return { ...same, outcome: 'unchanged', memoryType: memory.memory_type };
    const { written, beside, created } = await write(tx, space, memory);
    await writePassages(tx, space, written.seq, model, passages, ownTerms(memory).length);
    const affected = new Set([written.seq, ...beside, ...(await besides(tx, space, written.seq))]);
    await touchSpace(tx, space, await indexWords(tx, space, [...affected]));
    if (principal.agentSpace !== undefined) await assertRoom(tx, space);
    await audit(tx, principal, { action: 'memory.remember', target: written.id, at: memory.now });
    return { ...written, outcome: created ? 'created' : 'updated', memoryType: memory.memory_type };
  });
}

/** What a temporary agent may hold. Counted after the write, under the lock of the space, so that a new version at the limit still fits. */
async function assertRoom(tx: Tx, space: number): Promise<void> {
  if ((await countMemories(tx, space)) > TEMPORARY_MEMORIES) {
    throw new ApiError('conflict', `a temporary agent holds at most ${TEMPORARY_MEMORIES} memories; claim it to go on`);
  }
}

function toMemory(deps: Deps, principal: Principal, agent: Agent, input: RememberInput): NewMemory {
  const agentId = principal.boundAgent ?? agent.id ?? null;
  const id = uuidv7();
  return {
    id,
    owner_id: principal.owner,
    bucket: input.bucket,
    scope: input.scope,
    path: input.path,
    memory_type: input.memoryType === 'auto' ? classify(input) : input.memoryType,
    content: input.content,
    content_hash: createHash('sha256').update(input.content).digest(),
    semantic_key: input.semanticKey,
    importance: input.importance,
    confidence: input.confidence,
    source: input.source,
    author: input.author ?? agentId,
    agent_id: agentId,
    agent_instance: agent.instance ?? null,
    session_id: input.sessionId,
    position: input.position,
    place: placeOf({ id, position: input.position, occurred_at: input.occurredAt, created_at: deps.now() }),
    metadata: input.metadata,
    provenance: input.provenance,
    occurred_at: input.occurredAt,
    expires_at: input.expiresAt,
    analyser: ANALYSER,
    now: deps.now(),
  };
}

interface Placed {
  readonly written: Written;
  readonly created: boolean;
  /** Memories that stood beside an earlier version, in a session that this one may have left. */
  readonly beside: readonly string[];
}

async function write(tx: Tx, space: number, memory: NewMemory): Promise<Placed> {
  const inserted = await insertMemory(tx, space, memory);
  if (inserted) return { written: inserted, created: true, beside: [] };
  // Another writer holds the key: its row is committed (the insert waited for it), so it can be locked and replaced.
  const held = await lockBySemanticKey(tx, space, memory);
  if (!held) return write(tx, space, memory);
  const beside = await besides(tx, space, held.seq);
  const place = placeOf({ ...memory, id: held.id, created_at: held.created_at });
  return { written: await replaceMemory(tx, space, held.seq, { ...memory, place }), created: false, beside };
}

/** The statements of a memory's life. Every one names its space. */
import { createHash } from 'node:crypto';
import type { Tx } from '../db/db.ts';
import type { Action, MemoryRow, VersionColumns } from '../db/memories.ts';
import { type Sql, sql } from '../db/sql.ts';
import { ANALYSER } from '../text/analyse.ts';
import type { MemoryStatus } from '../types.ts';
import type { ImportedMemory } from './lines.ts';

/** What a memory is written with. */
export interface NewMemory extends Omit<VersionColumns, 'action' | 'reason'> {
  readonly id: string;
  readonly owner_id: string;
  readonly content_hash: Buffer;
  /** Order inside the session, see placeOf. */
  readonly place: string;
  readonly analyser: string;
  readonly now: Date;
}

/**
 * Where a memory stands in its session: by position where given, then by when it happened, then by arrival (ids are made in order). One text
 * column and not a row of three: under row-level security the planner reads an index by one comparison, not by that of a row.
 */
export function placeOf(m: Pick<NewMemory, 'id' | 'position' | 'occurred_at'> & { readonly created_at: Date }): string {
  const happened = (m.occurred_at ?? m.created_at).getTime() + FIRST_INSTANT;
  return `${String(m.position ?? 0).padStart(10, '0')}${String(happened).padStart(17, '0')}${m.id}`;
}

/** Milliseconds that make every time of a Date positive (ECMA-262, 21.4.1.1). */
const FIRST_INSTANT = 8.64e15;

/** What a new version may change. */
export type Columns = Omit<NewMemory, 'id' | 'owner_id'>;

/** The columns of a memory as they stand, to be changed in part; a new version made `now`. */
export function toColumns(row: MemoryRow, now: Date): Columns {
  const {
    space_id,
    space_kind,
    seq,
    id,
    owner_id,
    team_id,
    status,
    created_at,
    updated_at,
    version,
    action,
    reason,
    ...columns
  } = row;
  return { ...columns, place: placeOf(row), content_hash: hashOf(row.content), analyser: ANALYSER, now };
}

export const hashOf = (content: string): Buffer => createHash('sha256').update(content).digest();

export type Written = Pick<MemoryRow, 'seq' | 'id' | 'version' | 'created_at' | 'updated_at'>;

const RETURNED: Sql = sql`seq, id, version, created_at, updated_at`;

/** Undefined when another writer holds the semantic key. */
export async function insertMemory(tx: Tx, space: number, m: NewMemory): Promise<Written | undefined> {
  const [row] = await tx.query<Written>(sql`
    insert into memories (space_id, id, owner_id, bucket, scope, path, memory_type, content, content_hash, semantic_key, importance, confidence,
      source, author, agent_id, agent_instance, session_id, position, place, metadata, provenance, occurred_at, created_at, updated_at, expires_at,
      analyser)
    values (${space}, ${m.id}, ${m.owner_id}, ${m.bucket}, ${m.scope}, ${m.path}, ${m.memory_type}, ${m.content}, ${m.content_hash},
      ${m.semantic_key}, ${m.importance}, ${m.confidence}, ${m.source}, ${m.author}, ${m.agent_id}, ${m.agent_instance}, ${m.session_id},
      ${m.position}, ${m.place}, ${JSON.stringify(m.metadata)}::jsonb, ${JSON.stringify(m.provenance)}::jsonb, ${m.occurred_at}, ${m.now}, ${m.now},
      ${m.expires_at}, ${m.analyser})
    on conflict (space_id, bucket, scope, semantic_key) where semantic_key is not null and status <> 'deleted' do nothing
    returning ${RETURNED}`);
  return row;
}

/** A new version: same id and time of arrival, every other column as given. The caller has kept the earlier one. */
export async function replaceMemory(
  tx: Tx,
  space: number,
  seq: string,
  m: Columns,
  made: { readonly action: Action; readonly reason?: string | null; readonly status: MemoryStatus },
): Promise<Written> {
  const [row] = await tx.query<Written>(sql`
    update memories set bucket = ${m.bucket}, scope = ${m.scope}, semantic_key = ${m.semantic_key}, path = ${m.path}, memory_type = ${m.memory_type}, content = ${m.content}, content_hash = ${m.content_hash},
      importance = ${m.importance}, confidence = ${m.confidence}, source = ${m.source}, author = ${m.author}, agent_id = ${m.agent_id},
      agent_instance = ${m.agent_instance}, session_id = ${m.session_id}, position = ${m.position}, place = ${m.place},
      metadata = ${JSON.stringify(m.metadata)}::jsonb, provenance = ${JSON.stringify(m.provenance)}::jsonb, occurred_at = ${m.occurred_at},
      updated_at = greatest(updated_at, ${m.now}), expires_at = ${m.expires_at}, analyser = ${m.analyser}, status = ${made.status},
      deleted_at = null, action = ${made.action}, reason = ${made.reason ?? null}, version = version + 1
    where space_id = ${space} and seq = ${seq} returning ${RETURNED}`);
  return row!;
}

/** A memory as an import tells it, times and version included; arrives last. Undefined when another one holds its semantic key. */
export async function insertImported(
  tx: Tx,
  space: number,
  owner: string,
  m: ImportedMemory,
  analyser: string,
): Promise<string | undefined> {
  const [row] = await tx.query<{ seq: string }>(sql`
    insert into memories (space_id, id, owner_id, bucket, scope, path, memory_type, status, content, content_hash, semantic_key, importance,
      confidence, source, author, agent_id, agent_instance, session_id, position, place, metadata, provenance, occurred_at, created_at, updated_at,
      expires_at, version, action, reason, analyser)
    values (${space}, ${m.id}, ${owner}, ${m.bucket}, ${m.scope}, ${m.path}, ${m.memory_type}, ${m.status}, ${m.content}, ${hashOf(m.content)},
      ${m.semantic_key}, ${m.importance}, ${m.confidence}, ${m.source}, ${m.author}, ${m.agent_id}, ${m.agent_instance}, ${m.session_id},
      ${m.position}, ${placeOf(m)}, ${JSON.stringify(m.metadata)}::jsonb, ${JSON.stringify(m.provenance)}::jsonb, ${m.occurred_at}, ${m.created_at},
      ${m.updated_at}, ${m.expires_at}, ${m.version}, ${m.action}, ${m.reason}, ${analyser})
    on conflict (space_id, bucket, scope, semantic_key) where semantic_key is not null and status <> 'deleted' do nothing
    returning seq`);
  return row?.seq;
}

export type Held = Written & Pick<MemoryRow, 'session_id' | 'owner_id'> & { readonly unchanged: boolean };

/** The memory that holds a semantic key, locked until commit, and whether it says the same already. An expired one still holds it: writing revives it. */
export async function lockBySemanticKey(tx: Tx, space: number, m: NewMemory): Promise<Held | undefined> {
  const [row] = await tx.query<Held>(sql`
    select ${RETURNED}, session_id, owner_id,
      (content_hash = ${m.content_hash} and memory_type = ${m.memory_type} and metadata = ${JSON.stringify(m.metadata)}::jsonb
        and provenance = ${JSON.stringify(m.provenance)}::jsonb and status = 'active' and (expires_at is null or expires_at > ${m.now})
        and (path, importance, confidence, source, author, session_id, position, occurred_at, expires_at) is not distinct from
          (${m.path}::text, ${m.importance}::real, ${m.confidence}::real, ${m.source}::text, ${m.author}::text, ${m.session_id}::text,
            ${m.position}::int, ${m.occurred_at}::timestamptz, ${m.expires_at}::timestamptz)) as unchanged
    from memories
    where space_id = ${space} and bucket = ${m.bucket} and scope is not distinct from ${m.scope} and semantic_key = ${m.semantic_key}
      and status <> 'deleted' for update`);
  return row;
}

/** The very same text, type and author under the same boundaries, oldest first: what `dedupe` merges with. */
export async function findSame(tx: Tx, space: number, m: NewMemory): Promise<Written | undefined> {
  const [row] = await tx.query<Written>(sql`
    select ${RETURNED} from memories
    where space_id = ${space} and content_hash = ${m.content_hash} and content = ${m.content} and bucket = ${m.bucket}
      and scope is not distinct from ${m.scope} and path is not distinct from ${m.path} and memory_type = ${m.memory_type}
      and author is not distinct from ${m.author} and session_id is not distinct from ${m.session_id}
      and occurred_at is not distinct from ${m.occurred_at} and status = 'active' and (expires_at is null or expires_at > ${m.now})
    order by seq limit 1`);
  return row;
}

/** Rare terms that a text of nearly the same words must hold, at least in part. */
const RARE_TERMS = 6;
const NEAR_CANDIDATES = 30;

/** Memories that share rare words with a text, most of them first. `predicate` speaks of the alias m. The caller compares the texts. */
export async function findSharing(
  tx: Tx,
  space: number,
  terms: readonly string[],
  predicate: Sql,
): Promise<(Written & { content: string })[]> {
  return tx.query(sql`
    with rare as (
      select t.term from unnest(${[...new Set(terms)].sort()}::text[]) as t(term),
        lateral (select count(*) as df from postings p where p.space_id = ${space} and p.term = t.term) d
      where df > 0 order by df, t.term limit ${RARE_TERMS}),
    hits as (select p.seq, count(*) as n from rare join postings p on p.space_id = ${space} and p.term = rare.term group by 1)
    select m.seq, m.id, m.version, m.created_at, m.updated_at, m.content
    from hits h join memories m on m.space_id = ${space} and m.seq = h.seq
    where ${predicate} order by h.n desc, m.seq limit ${NEAR_CANDIDATES}`);
}

/** The same boundaries, type, author, path, session and time: what a near-duplicate is among. */
export const findSimilar = (tx: Tx, space: number, m: NewMemory, terms: readonly string[]) =>
  findSharing(
    tx,
    space,
    terms,
    sql`m.bucket = ${m.bucket} and m.scope is not distinct from ${m.scope} and m.path is not distinct from ${m.path}
      and m.memory_type = ${m.memory_type} and m.author is not distinct from ${m.author} and m.session_id is not distinct from ${m.session_id}
      and m.occurred_at is not distinct from ${m.occurred_at} and m.status = 'active' and (m.expires_at is null or m.expires_at > ${m.now})`,
  );

/**
 * Raises the version of a space, the visible state that caches ask for, and moves its BM25 totals. Last in every writing transaction:
 * its lock holds until commit.
 */
export async function touchSpace(tx: Tx, space: number, change: { memories: number; terms: number }): Promise<void> {
  await tx.query(sql`
    update spaces set memories = memories + ${change.memories}, terms = terms + ${change.terms}, version = version + 1 where id = ${space}`);
}

/** Makes writers of one space wait for each other. */
export async function lockSpace(tx: Tx, space: number): Promise<void> {
  await tx.query(sql`select from spaces where id = ${space} for update`);
}

export async function countMemories(tx: Tx, space: number): Promise<number> {
  const [row] = await tx.query<{ n: number }>(
    sql`select count(*)::int as n from memories where space_id = ${space} and status <> 'deleted'`,
  );
  return row!.n;
}

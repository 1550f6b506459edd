/** Earlier versions of a memory. Every change keeps the row as it was, in the transaction of the change. */
import type { Tx } from '../db/db.ts';
import { type MemoryRow, versioned } from '../db/memories.ts';
import { type Sql, sql } from '../db/sql.ts';
import { inside } from '../db/visible.ts';
import type { Boundary } from '../types.ts';
import type { ImportedMemory } from './lines.ts';
import { placeOf } from './store.ts';

/** A version with its validity; `valid_to` null: the present one. */
export interface Version extends MemoryRow {
  readonly valid_from: Date;
  readonly valid_to: Date | null;
}

const KEPT = versioned();

/** Copies the present rows. Call it before the change; `now` ends their validity, and is never before it began. */
export async function keepVersions(tx: Tx, space: number, seqs: readonly string[], now: Date): Promise<void> {
  await tx.query(sql`
    insert into memory_versions (space_id, seq, version, valid_from, valid_to, ${KEPT})
    select space_id, seq, version, updated_at, greatest(updated_at, ${now}), ${KEPT} from memories
    where space_id = ${space} and seq = any (${seqs}::bigint[])`);
}

/** The text and the vectors of every version of a memory go; that there was a version, and when, stays. */
export async function redactVersions(tx: Tx, space: number, seq: string, replacement: string): Promise<void> {
  await tx.query(sql`
    update memory_versions set content = ${replacement}, metadata = '{}', reason = null where space_id = ${space} and seq = ${seq}`);
  await tx.query(sql`delete from passage_versions where space_id = ${space} and seq = ${seq}`);
}

export interface VersionPage {
  readonly limit: number;
  /** Only versions below this number. */
  readonly before: number | undefined;
}

/** Versions of one memory that the caller has found visible, newest first, the present one among them; those of another boundary are left out. */
export async function listVersions(
  tx: Tx,
  row: Pick<MemoryRow, 'space_id' | 'seq'>,
  boundary: Boundary,
  { limit, before }: VersionPage,
): Promise<Version[]> {
  return tx.query<Version>(sql`
    select * from (${versionsOf(row)}) m
    where ${inside(boundary)}${before === undefined ? sql`` : sql` and m.version < ${before}`} order by m.version desc limit ${limit}`);
}

/** One version of a memory, as a row. */
export async function findVersion(
  tx: Tx,
  row: Pick<MemoryRow, 'space_id' | 'seq'>,
  boundary: Boundary,
  version: number,
): Promise<Version | undefined> {
  const [found] = await tx.query<Version>(
    sql`select * from (${versionsOf(row)}) m where ${inside(boundary)} and m.version = ${version}`,
  );
  return found;
}

/** All earlier versions of many memories, oldest first, by seq. */
export async function earlierVersions(
  tx: Tx,
  rows: readonly Pick<MemoryRow, 'space_id' | 'seq'>[],
  boundary: Boundary,
): Promise<Map<string, Version[]>> {
  const [first] = rows;
  if (!first) return new Map();
  const versions = await tx.query<Version>(sql`
    select * from (${keptOf(
      first.space_id,
      rows.map((row) => row.seq),
    )}) m where ${inside(boundary)} order by m.seq, m.version`);
  const bySeq = new Map<string, Version[]>(rows.map((row) => [row.seq, []]));
  for (const version of versions) bySeq.get(version.seq)?.push(version);
  return bySeq;
}

/** Versions as they came, with an import; the values in the order of `versioned`. */
export async function insertVersions(
  tx: Tx,
  space: number,
  seq: string,
  memory: Pick<ImportedMemory, 'id' | 'created_at' | 'versions'>,
): Promise<void> {
  for (const v of memory.versions) {
    await tx.query(sql`
      insert into memory_versions (space_id, seq, version, valid_from, valid_to, ${KEPT})
      values (${space}, ${seq}, ${v.version}, ${v.valid_from}, ${v.valid_to}, ${v.action}, ${v.reason}, ${v.bucket}, ${v.scope}, ${v.path}, ${v.memory_type},
        ${v.status}, ${v.content}, ${v.semantic_key}, ${v.importance}, ${v.confidence}, ${v.source}, ${v.author}, ${v.agent_id},
        ${v.agent_instance}, ${v.session_id}, ${v.position}, ${placeOf({ ...memory, ...v })}, ${JSON.stringify(v.metadata)}::jsonb, ${JSON.stringify(v.provenance)}::jsonb,
        ${v.occurred_at}, ${v.expires_at})`);
  }
}

function versionsOf({ space_id, seq }: Pick<MemoryRow, 'space_id' | 'seq'>): Sql {
  return sql`
    select m.space_id, s.kind as space_kind, m.seq, m.id, m.owner_id, case s.kind when 'team' then s.name end as team_id, ${versioned('m')}, m.created_at, m.updated_at,
      m.version, m.updated_at as valid_from, null::timestamptz as valid_to
    from memories m join spaces s on s.id = m.space_id where m.space_id = ${space_id} and m.seq = ${seq}
    union all ${keptOf(space_id, [seq])}`;
}

function keptOf(space: number, seqs: readonly string[]): Sql {
  return sql`
    select m.space_id, s.kind as space_kind, m.seq, m.id, m.owner_id, case s.kind when 'team' then s.name end as team_id, ${versioned('v')}, m.created_at,
      v.valid_from as updated_at, v.version, v.valid_from, v.valid_to
    from memory_versions v join memories m on m.space_id = v.space_id and m.seq = v.seq join spaces s on s.id = m.space_id
    where v.space_id = ${space} and v.seq = any (${seqs}::bigint[])`;
}

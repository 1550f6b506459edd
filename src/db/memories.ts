/** A memory as it stands in the database, and how it is read by id. Both `memory` and `recall` stand on this. */
import type { Boundary, MemoryStatus, MemoryType } from '../types.ts';
import type { Tx } from './db.ts';
import type { SpaceKind } from './spaces.ts';
import { Sql, sql } from './sql.ts';
import { visible } from './visible.ts';

/** What makes a version of a memory. */
export const ACTIONS = ['remember', 'update', 'forget', 'restore', 'redact'] as const;
export type Action = (typeof ACTIONS)[number];

/** What each version of a memory has of its own. */
export interface VersionColumns {
  readonly bucket: string;
  readonly scope: string | null;
  readonly path: string | null;
  readonly memory_type: MemoryType;
  readonly content: string;
  readonly semantic_key: string | null;
  readonly importance: number | null;
  readonly confidence: number | null;
  readonly source: string | null;
  readonly author: string | null;
  readonly agent_id: string | null;
  /** A hash. */
  readonly agent_instance: string | null;
  readonly session_id: string | null;
  readonly position: number | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly provenance: Readonly<Record<string, unknown>>;
  readonly occurred_at: Date | null;
  readonly expires_at: Date | null;
  /** What made this version. */
  readonly action: Action;
  /** Why, in the words of who made it. */
  readonly reason: string | null;
}

export interface MemoryRow extends VersionColumns {
  readonly space_id: number;
  readonly space_kind: SpaceKind;
  /** bigint, as text. */
  readonly seq: string;
  readonly id: string;
  readonly owner_id: string;
  readonly team_id: string | null;
  readonly status: MemoryStatus;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly version: number;
}

/** The columns of MemoryRow, of `memories m` joined with `spaces s`. */
export const COLUMNS: Sql = sql`m.space_id, s.kind as space_kind, m.seq, m.id, m.owner_id, case s.kind when 'team' then s.name end as team_id, m.bucket, m.scope, m.path,
  m.memory_type, m.status, m.content, m.semantic_key, m.importance, m.confidence, m.source, m.author, m.agent_id, m.agent_instance,
  m.session_id, m.position,
  m.metadata, m.provenance, m.occurred_at, m.created_at, m.updated_at, m.expires_at, m.version, m.action, m.reason`;

const VERSIONED =
  `action reason bucket scope path memory_type status content semantic_key importance confidence source author agent_id
  agent_instance session_id position place metadata provenance occurred_at expires_at`.split(/\s+/);

/** The columns that an earlier version keeps, of `memories` or `memory_versions`, under an alias or bare. */
export const versioned = (alias?: 'm' | 'v'): Sql =>
  new Sql([VERSIONED.map((column) => (alias ? `${alias}.${column}` : column)).join(', ')], []);

/** An id may stand in a team's space too, imported there: then the caller's own is meant. Of `memories m` joined with `spaces s`. */
export const OWN_FIRST: Sql = sql`order by s.kind = 'team', m.space_id limit 1`;

/** One visible memory, or undefined: an id of another owner and an id that never existed are the same. */
export async function findById(
  tx: Tx,
  spaces: readonly number[],
  id: string,
  boundary: Boundary,
  now: Date,
  extra?: Sql,
): Promise<MemoryRow | undefined> {
  const rows = await tx.query<MemoryRow>(
    sql`select ${COLUMNS} from memories m join spaces s on s.id = m.space_id
        where m.space_id = any (${spaces}::int[]) and m.id = ${id} and ${visible(boundary, now)}${extra ? sql` and ${extra}` : sql``} ${OWN_FIRST}`,
  );
  return rows[0];
}

/**
 * Memories by their short keys, in no order. The caller has checked that they are visible, in the same transaction.
 * `past`: see db/past.
 */
export async function loadBySeq(
  tx: Tx,
  spaces: readonly number[],
  seqs: readonly string[],
  past?: Sql,
): Promise<Map<string, MemoryRow>> {
  if (seqs.length === 0) return new Map();
  const rows = await tx.query<MemoryRow>(
    sql`${past ? sql`with ${past} ` : sql``}select ${COLUMNS} from memories m join spaces s on s.id = m.space_id
        where m.space_id = any (${spaces}::int[]) and m.seq = any (${seqs}::bigint[])`,
  );
  return new Map(rows.map((row) => [row.seq, row]));
}

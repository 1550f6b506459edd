/** Memories that say the opposite of one that was just written. */
import type { Tx } from '../db/db.ts';
import { sql } from '../db/sql.ts';
import { visible } from '../db/visible.ts';
import { analyse } from '../text/analyse.ts';
import { contradictionOf, toStatement } from '../text/contradiction.ts';
import type { Boundary } from '../types.ts';
import { findSharing, type Written } from './store.ts';

/** `semantic_key`: the same fact under another bucket or scope, with another text. The others: see text/contradiction. */
export const CONFLICT_REASONS = ['semantic_key', 'negation', 'date', 'number', 'value'] as const;

/** Holds no text: it is kept with the reply of a repeated request. */
export interface Conflict {
  readonly id: string;
  readonly memory_id: string;
  readonly reason: (typeof CONFLICT_REASONS)[number];
  readonly version: number;
  readonly updated_at: string;
}

interface Said {
  readonly seq: string;
  readonly content: string;
  readonly semantic_key: string | null;
  readonly bucket: string;
  readonly scope: string | null;
}

/** Newest first. Looks among active memories of the same bucket and scope, and for the key in all that the token may see. */
export async function findConflicts(
  tx: Tx,
  space: number,
  said: Said,
  boundary: Boundary,
  now: Date,
): Promise<Conflict[]> {
  const readable = sql`${visible(boundary, now)} and m.status = 'active' and m.seq <> ${said.seq}`;
  const within = sql`${readable} and m.bucket = ${said.bucket} and m.scope is not distinct from ${said.scope}`;
  const statement = toStatement(said.content);
  const says = statement.words.length > 0; // a book says nothing that could be contradicted, and has a hundred thousand terms
  const sharing = says ? await findSharing(tx, space, analyse(said.content), within) : [];
  const opposed = sharing.flatMap(({ content, ...row }) => {
    const reason = contradictionOf(toStatement(content), statement);
    return reason ? [toConflict(row, reason)] : [];
  });
  const keyed =
    said.semantic_key === null
      ? []
      : await tx.query<Written>(sql`
          select m.seq, m.id, m.version, m.created_at, m.updated_at from memories m
          where m.space_id = ${space} and m.semantic_key = ${said.semantic_key} and m.content <> ${said.content} and ${readable}`);
  const all = [...keyed.map((row) => toConflict(row, 'semantic_key')), ...opposed];
  const byId = new Map(all.map((conflict) => [conflict.id, conflict]));
  return [...byId.values()].sort((a, b) =>
    a.updated_at < b.updated_at ? 1 : a.updated_at > b.updated_at ? -1 : a.id < b.id ? 1 : -1,
  );
}

const toConflict = ({ id, version, updated_at }: Written, reason: Conflict['reason']): Conflict => ({
  id,
  memory_id: id,
  reason,
  version,
  updated_at: updated_at.toISOString(),
});

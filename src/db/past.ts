/**
 * The memories as they stood at an instant: what was known then, less what has been forgotten or has expired since. A statement that begins
 * with this reads the past where it says `memories`; predicates on the alias `m` are then those of the version of that time.
 */
import type { Boundary } from '../types.ts';
import { versioned } from './memories.ts';
import { type Sql, sql } from './sql.ts';
import { inside, visible } from './visible.ts';

/**
 * A common table expression, to stand behind `with`. `boundary` and `now` are about the present row: it must be visible still. `in_reach` says
 * whether `reader` may see the present row.
 */
export function memoriesAt(
  spaces: readonly number[],
  at: Date,
  boundary: Boundary,
  now: Date,
  reader: Boundary = boundary,
): Sql {
  return sql`
    memories as not materialized (
      select m.space_id, m.seq, m.id, m.owner_id, m.created_at, m.updated_at, m.version, m.content_hash, m.length,
        ${inside(reader)} as in_reach, ${versioned('m')}
      from memories m where m.space_id = any (${spaces}::int[]) and m.updated_at <= ${at} and ${visible(boundary, now)}
      union all
      select m.space_id, m.seq, m.id, m.owner_id, m.created_at, v.valid_from, v.version, sha256(convert_to(v.content, 'UTF8')),
        0::real, ${inside(reader)}, ${versioned('v')}
      from memory_versions v join memories m on m.space_id = v.space_id and m.seq = v.seq
      where v.space_id = any (${spaces}::int[]) and v.valid_from <= ${at} and v.valid_to > ${at} and ${visible(boundary, now)})`;
}

/** Puts common table expressions before a statement that has none. */
export const withPast = (past: Sql | undefined, statement: Sql): Sql =>
  past ? sql`with ${past} ${statement}` : statement;

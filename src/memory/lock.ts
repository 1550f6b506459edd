/** Finds a memory and holds it, and its session, until commit: what is decided about it stays true while it is changed. */
import type { Tx } from '../db/db.ts';
import { COLUMNS, type MemoryRow, OWN_FIRST } from '../db/memories.ts';
import { type Sql, sql } from '../db/sql.ts';
import { lockSessions } from './words.ts';

/** `predicate` speaks of the alias m. `alsoSession`: one that the memory is about to join. */
export async function lockMemory(
  tx: Tx,
  spaces: readonly number[],
  id: string,
  predicate: Sql,
  alsoSession: string | null = null,
): Promise<MemoryRow | undefined> {
  for (;;) {
    const [found] = await tx.query<MemoryRow>(sql`
      select ${COLUMNS} from memories m join spaces s on s.id = m.space_id
      where m.space_id = any (${spaces}::int[]) and m.id = ${id} and ${predicate} ${OWN_FIRST}`);
    if (!found) return undefined;
    await lockSessions(tx, found.space_id, [found.session_id, alsoSession]);
    const [held] = await tx.query<{ version: number }>(sql`
      select version from memories where space_id = ${found.space_id} and seq = ${found.seq} for update`);
    // Another writer was between the two statements: look again, its session may be another one now.
    if (held?.version === found.version) return found;
  }
}

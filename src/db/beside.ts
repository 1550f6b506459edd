/** Which memories of a session speak for the ones beside them: with their words in the index, and with their tokens in late interaction. */
import { type Sql, sql } from './sql.ts';

/**
 * A memory `n` that speaks for `m`: only one that every reader of `m` can read too, in the same space, bucket and scope, active, and never one
 * that expires, since it would go on speaking through its neighbour after its last instant.
 */
const SPEAKS = sql`n.space_id = m.space_id and n.session_id = m.session_id and n.bucket = m.bucket and n.scope is not distinct from m.scope
  and n.status = 'active' and n.status <> 'deleted' and n.expires_at is null`;

/** What follows `from memories n where`: the nearest one on either side of `m`. */
export const NEAREST: Readonly<Record<'before' | 'after', Sql>> = {
  before: sql`${SPEAKS} and n.place < m.place order by n.place desc limit 1`,
  after: sql`${SPEAKS} and n.place > m.place order by n.place limit 1`,
};

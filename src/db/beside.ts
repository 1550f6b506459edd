/** Which memories of a session speak for the ones beside them: with their words in the index, and with their tokens in late interaction. */
import { type Sql, sql } from './sql.ts';

/**
 * A memory `a` or `b` that speaks for `m`: only one that every reader of `m` can read too, in the same space, bucket and scope, active, and never
 * one that expires, since it would go on speaking through its neighbour after its last instant.
 */
export const BESIDE: Readonly<Record<'a' | 'b', Sql>> = {
  a: sql`a.space_id = m.space_id and a.session_id = m.session_id and a.bucket = m.bucket and a.scope is not distinct from m.scope
    and a.status = 'active' and a.status <> 'deleted' and a.expires_at is null`,
  b: sql`b.space_id = m.space_id and b.session_id = m.session_id and b.bucket = m.bucket and b.scope is not distinct from m.scope
    and b.status = 'active' and b.status <> 'deleted' and b.expires_at is null`,
};

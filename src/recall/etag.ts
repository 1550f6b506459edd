/**
 * The name of an answer before it is made: a hash of the request, of who asks, and of the state that they see. The state is the versions of
 * their spaces, which every writing transaction raises last and under a lock, and the newest expiry that has passed, since expiring writes
 * nothing. It must be read before the answer's own snapshot: then a name may be too old, and cost a 304, but never too new.
 */
import { createHash } from 'node:crypto';
import { spacesOf } from '../db/boundary.ts';
import { findSpaces } from '../db/spaces.ts';
import { sql } from '../db/sql.ts';
import type { Deps } from '../deps.ts';
import { canonicalJson } from '../text/json.ts';
import type { Agent, Principal } from '../types.ts';

/** Raise it when the same state may give other bytes than before: ranking, packing, the wire. */
const REVISION = 4;

export interface Asked {
  readonly route: string;
  /** Spaces that are searched beside those of the principal: knowledge. */
  readonly also: readonly number[];
  /** Validated, defaults filled in. */
  readonly input: object;
  readonly team: string | undefined;
  /** The text profile. */
  readonly text: boolean;
  readonly warnings: readonly string[];
}

/** A weak tag, quotes included: `W/"…"`. */
export async function etagOf(deps: Deps, principal: Principal, agent: Agent, asked: Asked): Promise<string> {
  const spaces = [...(await findSpaces(deps.db, spacesOf(principal, asked.team))), ...asked.also];
  const state = await deps.db.transaction({ spaces, readOnly: true }, (tx) =>
    tx.query(sql`
      select s.id, s.version, (
        select max(m.expires_at) from memories m where m.space_id = s.id and m.expires_at <= ${deps.now()}) as expired
      from spaces s where s.id = any (${spaces}::int[]) order by s.id`),
  );
  const { owner, teams, buckets, scopes } = principal;
  const { id, degraded } = deps.embedder;
  const named = [REVISION, asked, owner, teams, buckets, scopes, agent.id, id, degraded, state];
  return `W/"${createHash('sha256').update(canonicalJson(named)).digest('base64url').slice(0, 27)}"`;
}

/** Whether If-None-Match names the tag; both are weak. */
export function isNamed(header: string | undefined, etag: string): boolean {
  const bare = (tag: string) => tag.trim().replace(/^W\//, '');
  return (header ?? '').split(',').some((tag) => bare(tag) === bare(etag));
}

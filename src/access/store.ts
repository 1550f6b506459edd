/** What authentication reads: before a token is verified there is no owner, so it runs as the connecting role, by id or by owner. */
import type { Db, Tx } from '../db/db.ts';
import { sql } from '../db/sql.ts';
import { cached } from './cache.ts';

export interface TokenRow {
  readonly id: string;
  readonly owner: string;
  readonly name: string;
  readonly secret_hash: Buffer;
  readonly scopes: readonly string[];
  readonly teams: readonly string[] | null;
  readonly buckets: readonly string[] | null;
  readonly memory_scopes: readonly string[] | null;
  readonly agent_id: string | null;
  readonly profile: 'public' | null;
  readonly created_at: Date;
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
  readonly last_used_at: Date | null;
}

export const TOKEN_COLUMNS = sql`id, owner, name, secret_hash, scopes, teams, buckets, memory_scopes, agent_id, profile, created_at, expires_at, revoked_at, last_used_at`;

export const findToken = (db: Db, id: string): Promise<TokenRow | undefined> =>
  cached(db, `token ${id}`, () =>
    db.admin(async (tx) => (await tx.query<TokenRow>(sql`select ${TOKEN_COLUMNS} from tokens where id = ${id}`))[0]),
  );

export interface AgentRow {
  readonly id: string;
  readonly owner: string | null;
  readonly token_hash: Buffer;
  readonly client_name: string | null;
  readonly created_at: Date;
  readonly idle_ends_at: Date;
  readonly ends_at: Date;
  readonly claimed_at: Date | null;
  /** Set while an owner waits for the agent to confirm. */
  readonly pending_confirmation: string | null;
}

export const AGENT_COLUMNS = sql`id, owner, token_hash, client_name, created_at, idle_ends_at, ends_at, claimed_at, pending_confirmation`;

export const findAgent = (db: Db, id: string): Promise<AgentRow | undefined> =>
  cached(db, `agent ${id}`, () =>
    db.admin(async (tx) => (await tx.query<AgentRow>(sql`select ${AGENT_COLUMNS} from agents where id = ${id}`))[0]),
  );

/** How an owner stands now, whatever the token says. */
export interface Standing {
  /** This signed token was revoked. */
  readonly revoked: boolean;
  /** The operator shut the owner out: no token of it works. */
  readonly shutOut: boolean;
  readonly memberships: readonly string[];
  readonly claimedAgents: readonly string[];
}

/** Stands in revoked_jwts for every token of the owner, opaque ones too. */
export const EVERY_TOKEN = '*';

export async function standingOf(db: Db, owner: string, jti?: string): Promise<Standing> {
  const standing = await cached(db, `owner ${JSON.stringify([owner, jti])}`, () =>
    db.admin(async (tx) => {
      const [row] = await tx.query<Standing>(sql`
        select
          exists (select from revoked_jwts where owner = ${owner} and jti = ${jti ?? EVERY_TOKEN}) as revoked,
          exists (select from revoked_jwts where owner = ${owner} and jti = ${EVERY_TOKEN}) as "shutOut",
          array(select team_id from team_members where owner = ${owner} and joined_at is not null order by 1) as memberships,
          array(select id from agents where owner = ${owner} order by claimed_at, id) as "claimedAgents"`);
      return row;
    }),
  );
  if (!standing) throw new Error('a statement without a table has no row');
  return standing;
}

/** Longer than any clock is off: a token that ended before needs no row. */
const SLACK_MS = 86_400_000;

/** Rows of tokens that have ended by themselves. */
export async function sweepRevokedJwts(tx: Tx, now: Date): Promise<void> {
  await tx.query(sql`delete from revoked_jwts where until < ${new Date(now.getTime() - SLACK_MS)}`);
}

/** Refuses a signed token until it ends by itself. */
export async function revokeJwt(tx: Tx, owner: string, jti: string, until: Date): Promise<void> {
  await tx.query(sql`
    insert into revoked_jwts (owner, jti, until) values (${owner}, ${jti}, ${until}) on conflict (owner, jti) do nothing`);
}

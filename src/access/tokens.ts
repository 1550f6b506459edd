/** The life of an opaque token: made, listed, rotated, revoked. The secret is in the answer of making and rotating, and nowhere else. */
import { type Actor, audit } from '../db/audit.ts';
import type { Tx } from '../db/db.ts';
import { type Sql, sql } from '../db/sql.ts';
import type { Deps } from '../deps.ts';
import { ApiError } from '../errors.ts';
import type { Principal } from '../types.ts';
import { clearCache } from './cache.ts';
import type { Rights } from './rights.ts';
import { hashOf, makeId, makeToken } from './secrets.ts';
import { EVERY_TOKEN, revokeJwt, sweepRevokedJwts, TOKEN_COLUMNS, type TokenRow } from './store.ts';

/** Tokens of one owner that work. */
const MAX_TOKENS = 200;
/** Of a list; beyond them are only those that have expired. */
const MAX_LISTED = 500;
/** An access token of OAuth is renewed under its id, long after it expired; a row that ended so long ago is nobody's. */
const KEPT_MS = 180 * 86_400_000;

export interface NewToken extends Rights {
  readonly name: string;
  /** null: never, which only the operator may ask for. */
  readonly expiresAt: Date | null;
}

export interface Shown {
  readonly row: TokenRow;
  readonly token: string;
}

type Needs = Pick<Deps, 'db' | 'now'>;

const NOT_FOUND = 'no such token is visible to this token';

const asOwner = <T>(deps: Needs, actor: Actor, work: (tx: Tx) => Promise<T>): Promise<T> =>
  deps.db.transaction({ spaces: [], owner: actor.owner }, work);

/** @throws ApiError conflict when the owner has too many */
export async function createToken(deps: Needs, actor: Actor, wanted: NewToken): Promise<Shown> {
  return asOwner(deps, actor, (tx) => insertToken(tx, actor, wanted, deps.now()));
}

/** The same inside a transaction that was opened for the owner, or is the connecting role's. */
export async function insertToken(tx: Tx, actor: Actor, wanted: NewToken, now: Date): Promise<Shown> {
  const [held] = await tx.query<{ n: number }>(
    sql`select count(*)::int as n from tokens where owner = ${actor.owner} and revoked_at is null and (expires_at is null or expires_at > ${now})`,
  );
  if (held!.n >= MAX_TOKENS) throw new ApiError('conflict', `the owner has ${MAX_TOKENS} tokens; revoke one first`);
  const id = makeId('tok');
  const token = makeToken(id);
  const [row] = await tx.query<TokenRow>(sql`
    insert into tokens (id, owner, name, secret_hash, scopes, teams, buckets, memory_scopes, agent_id, profile, made_by, created_at, expires_at)
    values (${id}, ${actor.owner}, ${wanted.name}, ${hashOf(token)}, ${wanted.scopes}::text[], ${wanted.teams}::text[], ${wanted.buckets}::text[],
      ${wanted.memoryScopes}::text[], ${wanted.agentId}, ${wanted.profile}, ${actor.tokenId ?? null}, ${now}, ${wanted.expiresAt})
    returning ${TOKEN_COLUMNS}`);
  await audit(tx, actor, { action: 'token.create', target: id, at: now });
  return { row: row!, token };
}

/** A new secret, end and scopes under the same id, in the caller's transaction; undefined when it was revoked. Afterwards: clearCache. */
export async function renewToken(
  tx: Tx,
  actor: Actor,
  id: string,
  { scopes, expiresAt }: Pick<Rights, 'scopes'> & { readonly expiresAt: Date },
  now: Date,
): Promise<string | undefined> {
  const token = makeToken(id);
  const changed = await tx.query(sql`
    update tokens set secret_hash = ${hashOf(token)}, scopes = ${scopes}::text[], expires_at = ${expiresAt}
    where owner = ${actor.owner} and id = ${id} and revoked_at is null returning id`);
  if (changed.length === 0) return undefined;
  await audit(tx, actor, { action: 'token.renew', target: id, at: now });
  return token;
}

/** False when it is revoked already. In the caller's transaction; afterwards: clearCache. */
export async function endToken(tx: Tx, actor: Actor, id: string, at: Date): Promise<boolean> {
  const gone = await tx.query(revokeStatement(actor.owner, id, at));
  if (gone.length === 0) return false;
  await audit(tx, actor, { action: 'token.revoke', target: id, at });
  return true;
}

/** Those that are not revoked: what works, newest first, and then what has expired. */
export async function listTokens(deps: Needs, owner: string): Promise<TokenRow[]> {
  return deps.db.transaction({ spaces: [], owner, readOnly: true }, (tx) =>
    tx.query<TokenRow>(sql`
      select ${TOKEN_COLUMNS} from tokens where owner = ${owner} and revoked_at is null
      order by coalesce(expires_at <= ${deps.now()}, false), created_at desc, id limit ${MAX_LISTED}`),
  );
}

/** Tokens that were revoked or expired long ago, and what says that a signed one was revoked which has ended since. */
export async function sweepTokens({ db, now }: Needs): Promise<void> {
  const at = now();
  const before = new Date(at.getTime() - KEPT_MS);
  await db.admin(async (tx) => {
    await tx.query(sql`delete from tokens where expires_at < ${before} or revoked_at < ${before}`);
    await sweepRevokedJwts(tx, at);
  });
}

/**
 * A new secret under the same id; the old one is dead with the reply. `check` may refuse, seeing what the token can do.
 * @throws ApiError not_found
 */
export async function rotateToken(
  deps: Needs,
  actor: Actor,
  id: string,
  check: (row: TokenRow) => void = () => {},
): Promise<Shown> {
  const now = deps.now();
  const token = makeToken(id);
  const shown = await asOwner(deps, actor, async (tx) => {
    const one = sql`owner = ${actor.owner} and id = ${id} and revoked_at is null`;
    const [found] = await tx.query<TokenRow>(sql`select ${TOKEN_COLUMNS} from tokens where ${one} for update`);
    if (!found) throw new ApiError('not_found', NOT_FOUND);
    check(found);
    const [changed] = await tx.query<TokenRow>(
      sql`update tokens set secret_hash = ${hashOf(token)} where ${one} returning ${TOKEN_COLUMNS}`,
    );
    await audit(tx, actor, { action: 'token.rotate', target: id, at: now });
    return { row: changed!, token };
  });
  clearCache(deps.db);
  return shown;
}

/** @throws ApiError not_found, also for one that is revoked already */
export async function revokeToken(deps: Needs, actor: Actor, id: string): Promise<Date> {
  const now = deps.now();
  const at = await asOwner(deps, actor, async (tx) => {
    if (!(await endToken(tx, actor, id, now))) throw new ApiError('not_found', NOT_FOUND);
    return now;
  });
  clearCache(deps.db);
  return at;
}

const revokeStatement = (owner: string, id: string, at: Date): Sql =>
  sql`update tokens set revoked_at = ${at} where owner = ${owner} and id = ${id} and revoked_at is null returning id`;

/** Ends the token that asks. @throws ApiError conflict for a signed one that has no id of its own */
export async function revokeSelf(deps: Needs, principal: Principal): Promise<{ id: string; at: Date }> {
  const { tokenId: id, owner, expiresAt } = principal;
  if (id === undefined) {
    throw new ApiError(
      'conflict',
      'the token carries no id (jti), so it cannot be told from others; it ends by itself',
    );
  }
  const at = deps.now();
  await asOwner(deps, principal, async (tx) => {
    const opaque = await tx.query(revokeStatement(owner, id, at));
    if (opaque.length === 0) await revokeJwt(tx, owner, id, expiresAt ?? FOR_GOOD);
    await audit(tx, principal, { action: 'token.revoke', target: id, at });
  });
  clearCache(deps.db);
  return { id, at };
}

/** The last day that a Date and the database both know. */
const FOR_GOOD = new Date('9999-12-31T00:00:00Z');

/** No token of the owner works from now on, signed ones included and those made later. For the operator; taking the row out of revoked_jwts undoes it. */
export async function shutOutOwner(deps: Needs, owner: string): Promise<void> {
  const at = deps.now();
  await asOwner(deps, { owner }, async (tx) => {
    await revokeJwt(tx, owner, EVERY_TOKEN, FOR_GOOD);
    await audit(tx, { owner }, { action: 'owner.shut_out', target: owner, at });
  });
  clearCache(deps.db);
}

/** The life of an approval (OAuth 2.1): a code, exchanged once; one access token; refresh tokens that rotate. What is used twice ends it all. */
import { type Actor, audit } from '../../db/audit.ts';
import type { Tx } from '../../db/db.ts';
import type { Sql } from '../../db/sql.ts';
import type { Deps } from '../../deps.ts';
import type { Principal, TokenScope } from '../../types.ts';
import { hashOf } from '../codes.ts';
import { assertMayGrant, heldOf, toGranted } from '../granting.ts';
import type { TokenLinks } from '../links.ts';
import type { Refusal } from './refusal.ts';
import type { AuthorizeRequest } from './request.ts';
import { grantOf, makeCode, makeGrantId, makeRefreshToken, proves, sameHash } from './secrets.ts';
import { byCode, byId, byToken, type GrantRow, insertGrant, lockGrant, setEnded, setTokens } from './store.ts';

const CODE_MS = 300_000;
const ACCESS_SECONDS = 3_600;
/** A code that nobody exchanged is known for so long as expired. */
const UNUSED_MS = 86_400_000;
/** Of a refresh token, from its last use. */
const REFRESH_MS = 90 * 86_400_000;

/** A code for the program, in the name of the owner. @throws ApiError insufficient_scope */
export async function approve(deps: Deps, principal: Principal, request: AuthorizeRequest): Promise<string> {
  assertMayGrant(principal);
  const now = deps.now();
  const code = makeCode();
  const grant = {
    id: makeGrantId(),
    client_id: request.client.id,
    granted: toGranted(principal, heldOf(principal, request.scopes)),
    redirect_uri: request.redirectUri,
    challenge: request.challenge,
    code_hash: hashOf(code),
    code_ends_at: after(now, CODE_MS),
    ends_at: after(now, UNUSED_MS),
  };
  await deps.db.admin(async (tx) => {
    await insertGrant(tx, grant, now);
    await audit(tx, principal, { action: 'oauth.approve', target: grant.client_id, at: now });
  });
  return code;
}

export interface Issued {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly expiresIn: number;
  readonly scopes: readonly TokenScope[];
}

export interface Needs {
  readonly deps: Deps;
  readonly tokens: TokenLinks;
  readonly requestId: string;
}

const GONE: Refusal = { refused: 'invalid_grant', why: 'it is not known, was used, has expired or was revoked' };

export function exchangeCode(
  needs: Needs,
  asked: { readonly code: string; readonly clientId: string; readonly verifier: string; readonly redirectUri?: string },
): Promise<Issued | Refusal> {
  return withGrant(needs, byCode(hashOf(asked.code)), asked.clientId, async (tx, grant, now) => {
    if (grant.refresh_hash !== null) return endGrant(needs, tx, grant, 'oauth.code_reused', now);
    if (grant.code_ends_at <= now) return GONE;
    if (asked.redirectUri !== undefined && asked.redirectUri !== grant.redirect_uri)
      return { refused: 'invalid_grant', why: 'redirect_uri is not the one that the code was asked with' };
    if (!proves(asked.verifier, grant.challenge))
      return { refused: 'invalid_grant', why: 'code_verifier is not the one of the code_challenge' };
    const { granted } = grant;
    const name = grant.client_name ?? grant.client_id;
    const expiresAt = after(now, ACCESS_SECONDS * 1_000);
    const { id, token } = await needs.tokens.insert(tx, actorOf(needs, grant), granted, { name, expiresAt });
    return issue(tx, grant, { id, token, scopes: granted.scopes }, now);
  });
}

export async function refresh(
  needs: Needs,
  asked: { readonly refreshToken: string; readonly clientId: string; readonly scopes?: readonly string[] },
): Promise<Issued | Refusal> {
  const id = grantOf(asked.refreshToken);
  if (id === undefined) return GONE;
  return withGrant(needs, byId(id), asked.clientId, async (tx, grant, now) => {
    if (grant.ends_at <= now || grant.token_id === null) return GONE;
    if (!sameHash(hashOf(asked.refreshToken), grant.refresh_hash))
      return endGrant(needs, tx, grant, 'oauth.refresh_reused', now);
    const scopes = asked.scopes ? grant.granted.scopes.filter((s) => asked.scopes!.includes(s)) : grant.granted.scopes;
    if (scopes.length === 0 || asked.scopes?.some((scope) => !(scopes as readonly string[]).includes(scope)))
      return { refused: 'invalid_scope', why: 'scope: more than the owner approved' };
    const expiresAt = after(now, ACCESS_SECONDS * 1_000);
    const token = await needs.tokens.renew(tx, actorOf(needs, grant), grant.token_id, { scopes, expiresAt });
    if (token === undefined) return endGrant(needs, tx, grant, undefined, now); // the owner revoked the token in the list of tokens
    return issue(tx, grant, { id: grant.token_id, token, scopes }, now);
  });
}

/** Ends what a refresh token or an access token belongs to. Says nothing of tokens that are none. */
export async function revoke(
  needs: Needs,
  asked: { readonly token: string; readonly clientId: string | undefined },
  tokenIdOf: (token: string) => Promise<string | undefined>,
): Promise<void> {
  const id = grantOf(asked.token);
  const tokenId = id === undefined ? await tokenIdOf(asked.token) : undefined;
  if (id === undefined && tokenId === undefined) return;
  await withGrant(needs, id ? byId(id) : byToken(tokenId!), asked.clientId, async (tx, grant, now) => {
    if (id !== undefined && !sameHash(hashOf(asked.token), grant.refresh_hash)) return GONE;
    return endGrant(needs, tx, grant, 'oauth.revoke', now);
  });
}

/** `clientId` undefined: of whatever program. */
async function withGrant<T>(
  { deps, tokens }: Needs,
  by: Sql,
  clientId: string | undefined,
  work: (tx: Tx, grant: GrantRow, now: Date) => Promise<T | Refusal>,
): Promise<T | Refusal> {
  const done = await deps.db.admin(async (tx) => {
    const grant = await lockGrant(tx, by);
    if (!grant || grant.ended || (clientId !== undefined && grant.client_id !== clientId)) return undefined;
    return { answer: await work(tx, grant, deps.now()) };
  });
  if (!done) return GONE; // who has made something up changes nothing, and must not empty the cache of tokens
  tokens.changed();
  return done.answer;
}

async function issue(
  tx: Tx,
  grant: GrantRow,
  { id, token, scopes }: { readonly id: string; readonly token: string; readonly scopes: readonly TokenScope[] },
  now: Date,
): Promise<Issued> {
  const refreshToken = makeRefreshToken(grant.id);
  const made = { refresh_hash: hashOf(refreshToken), token_id: id, ends_at: after(now, REFRESH_MS) };
  await setTokens(tx, grant, made, now);
  return { accessToken: token, refreshToken, expiresIn: ACCESS_SECONDS, scopes };
}

/** The program may be in two hands: nothing of the grant works any more. */
async function endGrant(needs: Needs, tx: Tx, grant: GrantRow, action: string | undefined, at: Date): Promise<Refusal> {
  const actor = actorOf(needs, grant);
  await setEnded(tx, grant.id);
  if (grant.token_id !== null) await needs.tokens.revoke(tx, actor, grant.token_id);
  if (action !== undefined) await audit(tx, actor, { action, target: grant.client_id, at });
  return GONE;
}

const actorOf = ({ requestId }: Needs, { granted }: GrantRow): Actor => ({ owner: granted.owner, requestId });

const after = (now: Date, ms: number): Date => new Date(now.getTime() + ms);

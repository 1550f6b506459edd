/** From a credential to a principal: opaque tokens by their id, everything else as a signed one. */
import type { Deps } from '../deps.ts';
import { ApiError } from '../errors.ts';
import { type Principal, TOKEN_SCOPES, type TokenScope } from '../types.ts';
import { hasEnded } from './agents.ts';
import type { VerifyJwt } from './jwt.ts';
import type { LastUse } from './last-use.ts';
import { hashOf, isManagedTeam, isOpaque, type Parsed, parseToken, sameHash } from './secrets.ts';
import { findAgent, findToken, type Standing, standingOf } from './store.ts';

/** @throws ApiError invalid_token, token_expired or token_revoked */
export type Authenticate = (token: string) => Promise<Principal>;

const TEMPORARY: readonly TokenScope[] = ['temporary:read', 'temporary:write'];

/** What tokens of owners may carry: the temporary scopes are those of temporary agents alone. */
export const GRANTABLE_SCOPES = TOKEN_SCOPES.filter((scope) => !scope.startsWith('temporary:'));
const GRANTABLE: ReadonlySet<string> = new Set(GRANTABLE_SCOPES);

/** Compared with when there is no such token, so that a wrong id and a wrong secret take the same time. */
const NO_HASH = hashOf('');

export function makeAuthenticate(deps: Deps, verifyJwt: VerifyJwt, lastUse: LastUse): Authenticate {
  return async (token) => {
    if (!isOpaque(token)) return ofJwt(deps, verifyJwt, token);
    const parsed = parseToken(token);
    if (!parsed) throw new ApiError('invalid_token');
    return parsed.kind === 'agt' ? ofAgent(deps, lastUse, parsed, token) : ofToken(deps, lastUse, parsed, token);
  };
}

async function ofToken(deps: Deps, lastUse: LastUse, { id }: Parsed, token: string): Promise<Principal> {
  const row = await findToken(deps.db, id);
  if (!sameHash(hashOf(token), row?.secret_hash ?? NO_HASH) || !row) throw new ApiError('invalid_token');
  const standing = await standingOf(deps.db, row.owner);
  if (row.revoked_at || standing.shutOut) throw new ApiError('token_revoked');
  if (row.expires_at && row.expires_at <= deps.now()) throw new ApiError('token_expired');
  lastUse.noteToken(id);
  return {
    ...OWNER,
    owner: row.owner,
    tokenId: id,
    tokenScopes: grantable(row.scopes),
    ...teamsOf(row.teams ?? undefined, standing),
    buckets: row.buckets ?? undefined,
    scopes: row.memory_scopes ?? undefined,
    boundAgent: row.agent_id ?? undefined,
    profile: row.profile ?? undefined,
    expiresAt: row.expires_at ?? undefined,
  };
}

async function ofJwt(deps: Deps, verifyJwt: VerifyJwt, token: string): Promise<Principal> {
  const c = await verifyJwt(token);
  const standing = await standingOf(deps.db, c.sub, c.jti);
  if (standing.revoked || standing.shutOut) throw new ApiError('token_revoked');
  const granted = [c.scope, c.scopes].flat().flatMap((text) => text?.split(/[\s,]+/) ?? []);
  return {
    ...OWNER,
    owner: c.sub,
    tokenId: c.jti,
    tokenScopes: grantable(granted),
    ...teamsOf(c.teams, standing),
    buckets: c.buckets,
    scopes: c.memory_scopes,
    boundAgent: c.agent_id,
    profile: c.profile,
    expiresAt: new Date(c.exp * 1_000),
  };
}

/** A temporary agent is its own owner, under a name that nobody can have. Once claimed it may only read what it wrote, and fetch its token. */
async function ofAgent(deps: Deps, lastUse: LastUse, { id }: Parsed, token: string): Promise<Principal> {
  const row = await findAgent(deps.db, id);
  if (!sameHash(hashOf(token), row?.token_hash ?? NO_HASH) || !row) throw new ApiError('invalid_token');
  if (row.owner !== null && (await standingOf(deps.db, row.owner)).shutOut) throw new ApiError('token_revoked');
  if (hasEnded(row, deps.now())) throw new ApiError('token_expired');
  lastUse.noteAgent(id);
  return {
    ...OWNER,
    owner: id,
    tokenId: id,
    tokenScopes: new Set(row.owner === null ? TEMPORARY : ['temporary:read']),
    teams: [],
    allTeams: false,
    claimedAgents: [],
    agentSpace: id,
    pendingBinding: row.pending_confirmation ?? undefined,
    expiresAt: row.ends_at,
  };
}

const OWNER = {
  agentSpace: undefined,
  buckets: undefined,
  scopes: undefined,
  boundAgent: undefined,
  profile: undefined,
  requestId: undefined,
} as const;

const grantable = (scopes: readonly string[]): ReadonlySet<TokenScope> =>
  new Set(scopes.filter((scope): scope is TokenScope => GRANTABLE.has(scope)));

/** The teams that a token names are taken at its word, but those that are managed here only while the owner is a member. */
function teamsOf(named: readonly string[] | undefined, standing: Standing) {
  const { memberships, claimedAgents } = standing;
  const teams = named?.filter((team) => !isManagedTeam(team) || memberships.includes(team)) ?? memberships;
  return { teams, allTeams: named === undefined, claimedAgents };
}

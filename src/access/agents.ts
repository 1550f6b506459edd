/**
 * Temporary agents: a program that has no owner yet registers itself and gets a token for a space of its own, small and short-lived. An
 * owner who is told the claim code claims it: the space is then read with the owner's own, and the agent fetches a lasting token, once.
 * Refused or run out, everything of it is erased.
 */
import { type Actor, audit } from '../db/audit.ts';
import type { Tx } from '../db/db.ts';
import { sql } from '../db/sql.ts';
import type { Deps } from '../deps.ts';
import { ApiError } from '../errors.ts';
import type { Principal, TokenScope } from '../types.ts';
import { clearCache } from './cache.ts';
import type { Rights } from './rights.ts';
import { hashOf, hashOfClaimCode, makeClaimCode, makeConfirmation, makeId, makeToken } from './secrets.ts';
import { AGENT_COLUMNS, type AgentRow } from './store.ts';
import { insertToken, type Shown } from './tokens.ts';

const DAY_MS = 86_400_000;
/** An unclaimed agent that is not used ends after this. */
export const AGENT_IDLE_MS = 14 * DAY_MS;
/** However busy it is. */
export const AGENT_LIFETIME_MS = 30 * DAY_MS;
/** Of the token that a claimed agent gets. */
const FORMAL_TOKEN_MS = 365 * DAY_MS;
/** Agents of one owner: each is a space that every read of it goes through. */
const MAX_CLAIMED = 50;
/** Agents that ran out and are erased in one transaction. */
const ERASED_AT_ONCE = 5;
/** A claimed agent goes on as a program that stores and asks; never with more than the claiming token may do. */
const FORMAL_SCOPES: readonly TokenScope[] = ['memory:read', 'memory:write'];

export function hasEnded(agent: AgentRow, now: Date): boolean {
  return agent.ends_at <= now || (agent.owner === null && agent.idle_ends_at <= now);
}

export interface Registered {
  readonly id: string;
  readonly token: string;
  readonly claimCode: string;
  readonly endsAt: Date;
}

export async function registerAgent(deps: Deps, clientName: string | null): Promise<Registered> {
  const now = deps.now();
  const id = makeId('agt');
  const [token, claimCode] = [makeToken(id), makeClaimCode()];
  const endsAt = new Date(now.getTime() + AGENT_LIFETIME_MS);
  await deps.db.admin(async (tx) => {
    await tx.query(sql`
      insert into agents (id, token_hash, claim_hash, client_name, created_at, idle_ends_at, ends_at)
      values (${id}, ${hashOf(token)}, ${hashOfClaimCode(claimCode)}, ${clientName}, ${now}, ${new Date(now.getTime() + AGENT_IDLE_MS)}, ${endsAt})`);
    await eraseSome(tx, now);
  });
  return { id, token, claimCode, endsAt };
}

/** Those that ran out, also where no other one registers, and what one wrote at the very moment in which it was erased. */
export async function sweepAgents({ db, now }: Deps): Promise<void> {
  while ((await db.admin((tx) => eraseSome(tx, now()))) === ERASED_AT_ONCE);
  await db.admin((tx) =>
    tx.query(sql`
      select erase_space(s.id) from spaces s
      where s.kind = 'agent' and s.memories > 0 and not exists (select from agents a where a.id = s.name)`),
  );
}

/** How many of those that ran out were erased. */
async function eraseSome(tx: Tx, now: Date): Promise<number> {
  const ended = await tx.query<{ id: string }>(sql`
    select id from agents where owner is null and (idle_ends_at <= ${now} or ends_at <= ${now}) limit ${ERASED_AT_ONCE} for update skip locked`);
  for (const agent of ended) await erase(tx, agent.id);
  return ended.length;
}

/** Everything that it stored, and the agent itself. */
async function erase(tx: Tx, id: string): Promise<void> {
  await tx.query(sql`select erase_space(id) from spaces where kind = 'agent' and name = ${id}`);
  await tx.query(sql`delete from agents where id = ${id}`);
}

export interface Status {
  readonly agent: AgentRow;
  readonly memories: number;
  /** The lasting token of a claimed agent: in the first answer after the claim, and never again. */
  readonly formal: Shown | undefined;
}

/** For the agent itself. @throws ApiError not_found when it was refused a moment ago */
export async function agentStatus(deps: Deps, principal: Principal): Promise<Status> {
  const id = principal.agentSpace;
  const now = deps.now();
  return deps.db.admin(async (tx) => {
    const [agent] = await tx.query<AgentRow & { claimed_rights: Rights | null; memories: number }>(sql`
      select ${AGENT_COLUMNS}, claimed_rights, (select count(*)::int from memories m join spaces s on s.id = m.space_id
        where s.kind = 'agent' and s.name = agents.id and m.status <> 'deleted') as memories
      from agents where id = ${id} for update`);
    if (!agent) throw new ApiError('not_found', 'there is no such agent');
    const { owner, claimed_rights: rights, memories } = agent;
    if (owner === null || rights === null) return { agent, memories, formal: undefined };
    await tx.query(sql`update agents set claimed_rights = null where id = ${id}`);
    const formal = await insertToken(
      tx,
      { owner, requestId: principal.requestId, tokenId: id },
      { ...rights, name: agent.client_name ?? agent.id, expiresAt: new Date(now.getTime() + FORMAL_TOKEN_MS) },
      now,
    );
    return { agent, memories, formal };
  });
}

/** Gives the agent and its memories to the owner who asks. @throws ApiError not_found for a code that is wrong, used or run out; conflict */
export async function claimAgent(deps: Deps, principal: Principal, code: string): Promise<AgentRow> {
  const now = deps.now();
  const claimed = await deps.db.admin(async (tx) => {
    const { id } = await lockByCode(tx, code, now);
    return give(tx, { id, owner: principal.owner, rights: rightsOf(principal) }, principal, now);
  });
  clearCache(deps.db);
  return claimed;
}

/** The first of two steps: the agent is asked whether it belongs to this owner. The last owner who asks counts. @throws ApiError not_found */
export async function askAgent(deps: Deps, principal: Principal, code: string): Promise<AgentRow> {
  const now = deps.now();
  const asked = await deps.db.admin(async (tx) => {
    const { id } = await lockByCode(tx, code, now);
    const [row] = await tx.query<AgentRow>(sql`
      update agents set pending_owner = ${principal.owner}, pending_rights = ${JSON.stringify(rightsOf(principal))}::jsonb,
        pending_confirmation = ${makeConfirmation()} where id = ${id} returning ${AGENT_COLUMNS}`);
    await audit(tx, principal, { action: 'agent.ask', target: id, at: now });
    return row!;
  });
  clearCache(deps.db);
  return asked;
}

/** The second: the agent says yes, with its own token and to the very claim that it was shown. @throws ApiError not_found, conflict */
export async function confirmBinding(deps: Deps, principal: Principal, confirmation: string): Promise<AgentRow> {
  const now = deps.now();
  const claimed = await deps.db.admin(async (tx) => {
    const agent = await lockById(tx, principal.agentSpace);
    const [pending] = await tx.query<{ owner: string; rights: Rights }>(sql`
      select pending_owner as owner, pending_rights as rights from agents where id = ${agent.id} and pending_confirmation = ${confirmation}`);
    if (!pending) throw new ApiError('not_found', 'no claim waits under this confirmation_token');
    const by = { owner: pending.owner, requestId: principal.requestId };
    return give(tx, { id: agent.id, ...pending }, by, now);
  });
  clearCache(deps.db);
  return claimed;
}

async function give(
  tx: Tx,
  { id, owner, rights }: { readonly id: string; readonly owner: string; readonly rights: Rights },
  by: Actor,
  now: Date,
): Promise<AgentRow> {
  const [row] = await tx.query<AgentRow>(sql`
    update agents set owner = ${owner}, claimed_at = ${now}, claimed_rights = ${JSON.stringify(rights)}::jsonb,
      pending_owner = null, pending_rights = null, pending_confirmation = null
    where id = ${id} returning ${AGENT_COLUMNS}`);
  const [held] = await tx.query<{ n: number }>(sql`select count(*)::int as n from agents where owner = ${owner}`);
  if (held!.n > MAX_CLAIMED) throw new ApiError('conflict', `an owner has at most ${MAX_CLAIMED} claimed agents`);
  await audit(tx, by, { action: 'agent.claim', target: id, at: now });
  return row!;
}

function rightsOf(principal: Principal): Rights {
  return {
    scopes: FORMAL_SCOPES.filter((scope) => principal.tokenScopes.has(scope)),
    teams: principal.allTeams ? null : principal.teams,
    buckets: principal.buckets ?? null,
    memoryScopes: principal.scopes ?? null,
    agentId: principal.boundAgent ?? null,
    profile: principal.profile ?? null,
  };
}

/**
 * For an owner who holds its code: the agent and everything of it is erased. For the agent itself: the claim that waits is turned down, and the
 * agent stays, also when none waits: a repetition does no harm. @throws ApiError not_found
 */
export async function denyAgent(deps: Deps, principal: Principal, code: string | undefined): Promise<string> {
  const now = deps.now();
  const id = await deps.db.admin(async (tx) => {
    const agent =
      principal.agentSpace === undefined
        ? await lockByCode(tx, code ?? '', now)
        : await lockById(tx, principal.agentSpace);
    if (principal.agentSpace === undefined) await erase(tx, agent.id);
    else await turnDown(tx, agent.id);
    await audit(tx, principal, { action: 'agent.deny', target: agent.id, at: now });
    return agent.id;
  });
  clearCache(deps.db);
  return id;
}

async function turnDown(tx: Tx, id: string): Promise<void> {
  await tx.query(sql`
    update agents set pending_owner = null, pending_rights = null, pending_confirmation = null where id = ${id}`);
}

async function lockByCode(tx: Tx, code: string, now: Date): Promise<AgentRow> {
  const [agent] = await tx.query<AgentRow>(
    sql`select ${AGENT_COLUMNS} from agents where claim_hash = ${hashOfClaimCode(code)} and owner is null for update`,
  );
  if (!agent || hasEnded(agent, now)) throw new ApiError('not_found', 'no agent waits under this code');
  return agent;
}

async function lockById(tx: Tx, id: string | undefined): Promise<AgentRow> {
  const [agent] = await tx.query<AgentRow>(
    sql`select ${AGENT_COLUMNS} from agents where id = ${id ?? null} and owner is null for update`,
  );
  if (!agent) throw new ApiError('not_found', 'there is no such agent');
  return agent;
}

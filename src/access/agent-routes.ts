/** HTTP of temporary agents. */
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { Deps } from '../deps.ts';
import { invalid } from '../errors.ts';
import { principalOf } from '../http/auth.ts';
import { baseUrlOf } from '../http/base-url.ts';
import { once } from '../http/idempotency.ts';
import type { Limit } from '../http/limits.ts';
import { CANONICAL_MOUNT } from '../http/openapi.ts';
import { TEMPORARY_MEMORIES } from '../types.ts';
import {
  AGENT_IDLE_MS,
  AGENT_LIFETIME_MS,
  agentStatus,
  askAgent,
  claimAgent,
  confirmBinding,
  denyAgent,
  registerAgent,
} from './agents.ts';
import {
  agentStatusReply,
  bindBody,
  claimedReply,
  confirmBody,
  deniedReply,
  denyBody,
  pendingReply,
  registerBody,
  registerReply,
  wellKnownReply,
} from './schema.ts';
import type { AgentRow } from './store.ts';

const TAGS = ['agents'];

export const agentRoutes =
  (deps: Deps, registrations: Limit): FastifyPluginAsyncZod =>
  async (app) => {
    app.post('/agents/register', {
      config: { open: true },
      schema: {
        operationId: 'registerAgent',
        tags: TAGS,
        summary: 'Register a temporary agent',
        description: `Needs no token. The agent gets a store of its own: ${TEMPORARY_MEMORIES} memories, 14 days without use, 30 days at most. Limited per address.`,
        security: [],
        body: registerBody,
        response: { 201: registerReply },
      },
      preHandler: registrations,
      handler: async (request, reply) => {
        const made = await registerAgent(deps, request.body.client_name ?? null);
        return reply.code(201).send({
          id: made.id,
          agent_id: made.id,
          temporary_token: made.token,
          claim_code: made.claimCode,
          bind_url: `${baseUrlOf(deps.config, request)}/agents/bind?code=${made.claimCode}`,
          status: 'unclaimed',
          expires_at: made.endsAt.toISOString(),
          ...warned(request),
        });
      },
    });

    app.get('/agents/status', {
      config: { scopes: ['temporary:read'], whileBinding: true },
      schema: {
        operationId: 'agentStatus',
        tags: TAGS,
        summary: 'Has the agent been claimed',
        description: 'For the temporary agent itself.',
        response: { 200: agentStatusReply },
      },
      handler: async (request) => {
        const { agent, memories, formal } = await agentStatus(deps, principalOf(request));
        const end = agent.owner === null && agent.idle_ends_at < agent.ends_at ? agent.idle_ends_at : agent.ends_at;
        return {
          id: agent.id,
          agent_id: agent.id,
          status: statusOf(agent),
          memories,
          max_items: TEMPORARY_MEMORIES,
          expires_at: end.toISOString(),
          ...(formal && { formal_token: formal.token }),
          ...(agent.pending_confirmation !== null && { confirmation_token: agent.pending_confirmation }),
        };
      },
    });

    app.post('/agents/bind', {
      config: { scopes: ['memory:write'] },
      schema: {
        operationId: 'askAgent',
        tags: TAGS,
        summary: 'Ask a temporary agent whether it is yours',
        description:
          'With the token of an owner and the claim code. The agent is told at its next call (428) and confirms with its own token. The page /agents/bind does the same for people.',
        body: bindBody,
        response: { 200: pendingReply },
      },
      handler: (request, reply) =>
        once(
          deps,
          request,
          reply,
          (deps) => askAgent(deps, principalOf(request), request.body.claim_code),
          ({ id }) => ({ status: 200, body: { id, agent_id: id, status: 'pending_bind_confirmation' as const } }),
          { door: 'admin' },
        ),
    });

    app.post('/agents/bind/confirm-current-user', {
      config: { scopes: ['memory:write', 'temporary:write'], whileBinding: true },
      schema: {
        operationId: 'claimAgent',
        tags: TAGS,
        summary: 'Claim a temporary agent',
        description:
          'With the token of an owner and the claim code; or with the temporary token and the confirmation_token of a claim that waits. The memories of the agent are then in the reads of the owner; it may write no more with its temporary token, and gets a lasting one, with at most the rights of the token that claimed it, from agents/status.',
        body: confirmBody,
        response: { 200: claimedReply },
      },
      handler: async (request, reply) => {
        const principal = principalOf(request);
        const { confirmation_token, claim_code } = request.body;
        const code = principal.agentSpace === undefined ? (claim_code ?? confirmation_token) : confirmation_token;
        if (code === undefined) {
          const field = principal.agentSpace === undefined ? 'claim_code' : 'confirmation_token';
          throw invalid('body', field, 'is missing');
        }
        const claim = principal.agentSpace === undefined ? claimAgent : confirmBinding;
        return once(
          deps,
          request,
          reply,
          (deps) => claim(deps, principal, code),
          ({ id, claimed_at }) => ({
            status: 200,
            body: { id, agent_id: id, status: 'claimed' as const, claimed_at: claimed_at!.toISOString() },
          }),
          { door: 'admin' },
        );
      },
    });

    app.post('/agents/bind/deny-current-user', {
      config: { scopes: ['temporary:write', 'memory:write'], whileBinding: true },
      schema: {
        operationId: 'denyAgent',
        tags: TAGS,
        summary: 'Refuse a temporary agent',
        description:
          'With its own temporary token: the claim that waits is turned down, and the agent stays, also when none waits. With an owner’s token and the claim code: the agent and everything that it stored is erased.',
        body: denyBody,
        response: { 200: deniedReply },
      },
      handler: (request, reply) =>
        once(
          deps,
          request,
          reply,
          (deps) => denyAgent(deps, principalOf(request), request.body.claim_code),
          (id) => ({ status: 200, body: { id, agent_id: id, status: 'denied' as const } }),
          { door: 'admin' },
        ),
    });
  };

/** At the root of the service, for clients that look before they register. */
export const agentDiscovery =
  (deps: Deps): FastifyPluginAsyncZod =>
  async (app) => {
    app.get('/.well-known/xmemo-agent.json', {
      config: { open: true },
      schema: { operationId: 'agentDiscovery', tags: TAGS, security: [], response: { 200: wellKnownReply } },
      handler: async (request) => {
        const base = `${baseUrlOf(deps.config, request)}${CANONICAL_MOUNT}`;
        return {
          temporary_token: {
            limits: {
              max_items: TEMPORARY_MEMORIES,
              ttl_seconds: AGENT_IDLE_MS / 1_000,
              max_lifetime_seconds: AGENT_LIFETIME_MS / 1_000,
            },
            scopes: ['temporary:read' as const, 'temporary:write' as const],
          },
          urls: { register: `${base}/agents/register`, status: `${base}/agents/status`, docs: base },
        };
      },
    });
  };

const statusOf = ({ owner, pending_confirmation }: AgentRow): 'claimed' | 'pending_bind_confirmation' | 'unclaimed' =>
  owner !== null ? 'claimed' : pending_confirmation !== null ? 'pending_bind_confirmation' : 'unclaimed';

const warned = ({ warnings }: FastifyRequest) => (warnings.length > 0 ? { warnings } : {});

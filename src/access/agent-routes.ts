/** HTTP of temporary agents. */
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { Deps } from '../deps.ts';
import { invalid } from '../errors.ts';
import { principalOf } from '../http/auth.ts';
import { once } from '../http/idempotency.ts';
import type { Limit } from '../http/limits.ts';
import { CANONICAL_MOUNT } from '../http/openapi.ts';
import { TEMPORARY_MEMORIES } from '../types.ts';
import { AGENT_IDLE_MS, AGENT_LIFETIME_MS, agentStatus, claimAgent, denyAgent, registerAgent } from './agents.ts';
import {
  agentStatusReply,
  claimedReply,
  confirmBody,
  deniedReply,
  denyBody,
  registerBody,
  registerReply,
  wellKnownReply,
} from './schema.ts';

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
          bind_url: `${originOf(request)}${CANONICAL_MOUNT}`,
          status: 'unclaimed',
          expires_at: made.endsAt.toISOString(),
          ...warned(request),
        });
      },
    });

    app.get('/agents/status', {
      config: { scopes: ['temporary:read'] },
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
          status: agent.owner === null ? ('unclaimed' as const) : ('claimed' as const),
          memories,
          max_items: TEMPORARY_MEMORIES,
          expires_at: end.toISOString(),
          ...(formal && { formal_token: formal.token }),
        };
      },
    });

    app.post('/agents/bind/confirm-current-user', {
      config: { scopes: ['memory:write'] },
      schema: {
        operationId: 'claimAgent',
        tags: TAGS,
        summary: 'Claim a temporary agent',
        description:
          'With the token of an owner and the claim code of the agent. Its memories are then in the reads of the owner; it may write no more with its temporary token, and gets a lasting one, with at most the rights of the token that claimed it, from agents/status.',
        body: confirmBody,
        response: { 200: claimedReply },
      },
      handler: async (request, reply) => {
        const code = request.body.claim_code ?? request.body.confirmation_token;
        if (code === undefined) throw invalid('body', 'claim_code', 'is missing');
        return once(
          deps,
          request,
          reply,
          (deps) => claimAgent(deps, principalOf(request), code),
          ({ id, claimed_at }) => ({
            status: 200,
            body: { id, agent_id: id, status: 'claimed' as const, claimed_at: claimed_at!.toISOString() },
          }),
          { door: 'admin' },
        );
      },
    });

    app.post('/agents/bind/deny-current-user', {
      config: { scopes: ['temporary:write', 'memory:write'] },
      schema: {
        operationId: 'denyAgent',
        tags: TAGS,
        summary: 'Refuse a temporary agent',
        description:
          'With its own temporary token, or with an owner’s token and the claim code. Everything that it stored is erased.',
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
export const agentDiscovery = (): FastifyPluginAsyncZod => async (app) => {
  app.get('/.well-known/xmemo-agent.json', {
    config: { open: true },
    schema: { operationId: 'agentDiscovery', tags: TAGS, security: [], response: { 200: wellKnownReply } },
    handler: async (request) => {
      const base = `${originOf(request)}${CANONICAL_MOUNT}`;
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

/** As the caller reached the service. It comes back to that caller alone. */
const originOf = (request: FastifyRequest): string => `${request.protocol}://${request.host}`;

const warned = ({ warnings }: FastifyRequest) => (warnings.length > 0 ? { warnings } : {});

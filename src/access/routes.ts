/** HTTP of tokens. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import type { Deps } from '../deps.ts';
import { ApiError, invalid } from '../errors.ts';
import { principalOf } from '../http/auth.ts';
import { idParams, toDate } from '../http/fields.ts';
import { once } from '../http/idempotency.ts';
import { withWarnings } from '../http/wire.ts';
import { type Principal, TOKEN_SCOPES, type TokenScope } from '../types.ts';
import { GRANTABLE_SCOPES } from './authenticate.ts';
import { within } from './rights.ts';
import { createTokenBody, emptyBody, revokedReply, tokenReply, tokensReply, validateReply } from './schema.ts';
import type { TokenRow } from './store.ts';
import { createToken, listTokens, revokeSelf, revokeToken, rotateToken, type Shown } from './tokens.ts';

const DAY_MS = 86_400_000;
const DEFAULT_LIFE_MS = 90 * DAY_MS;
const MAX_LIFE_MS = 366 * DAY_MS;

export const accessRoutes =
  (deps: Deps): FastifyPluginAsyncZod =>
  async (app) => {
    const manage = { scopes: ['tokens:manage' as const] };
    const anyScope = { scopes: GRANTABLE_SCOPES };
    const tags = ['access'];

    app.get('/auth/token/validate', {
      config: anyScope,
      schema: {
        operationId: 'validateToken',
        tags,
        summary: 'What this token may do',
        response: { 200: validateReply },
      },
      handler: async (request) => toValidity(principalOf(request)),
    });

    app.post('/auth/token/revoke-self', {
      config: anyScope,
      schema: {
        operationId: 'revokeSelf',
        tags,
        summary: 'Revoke the token that is sent',
        description: 'It is refused from the reply on; by other replicas of the service within two seconds.',
        body: emptyBody,
        response: { 200: revokedReply },
      },
      handler: async (request) => withWarnings(request, toRevoked(await revokeSelf(deps, principalOf(request)))),
    });

    app.post('/tokens', {
      config: manage,
      schema: {
        operationId: 'createToken',
        tags,
        summary: 'Make a token',
        description: 'For the same owner, with the rights of the token that asks or fewer.',
        body: createTokenBody,
        response: { 201: tokenReply },
      },
      handler: async (request, reply) => {
        const principal = principalOf(request);
        const { body } = request;
        const rights = within(principal, {
          scopes: [...new Set(body.scopes)],
          teams: body.teams,
          buckets: body.buckets,
          memoryScopes: body.memory_scopes,
          agentId: body.agent_id,
          profile: body.profile,
        });
        const wanted = { ...rights, name: body.name, expiresAt: expiryOf(deps, body) };
        return showOnce(request, reply, 201, (deps) => createToken(deps, principal, wanted));
      },
    });

    app.get('/tokens', {
      config: manage,
      schema: {
        operationId: 'listTokens',
        tags,
        summary: 'List the tokens of the owner',
        description:
          'Those that work, newest first, then expired ones; revoked ones are left out. Signed tokens (JWT) are not known here.',
        response: { 200: tokensReply },
      },
      handler: async (request) => {
        const rows = await listTokens(deps, principalOf(request).owner);
        return { tokens: rows.map((row) => toWire(deps, row)) };
      },
    });

    app.post('/tokens/:id/rotate', {
      config: manage,
      schema: {
        operationId: 'rotateToken',
        tags,
        summary: 'Give a token a new secret',
        description: 'Same id and rights. Only a token that itself may do as much can ask for it.',
        params: idParams,
        body: emptyBody,
        response: { 200: tokenReply },
      },
      handler: (request, reply) => {
        const principal = principalOf(request);
        const check = (row: TokenRow) => within(principal, toRights(row));
        return showOnce(request, reply, 200, (deps) => rotateToken(deps, principal, request.params.id, check));
      },
    });

    app.delete('/tokens/:id', {
      config: manage,
      schema: {
        operationId: 'revokeToken',
        tags,
        summary: 'Revoke a token',
        description: 'It is refused from the reply on; by other replicas of the service within two seconds.',
        params: idParams,
        response: { 200: revokedReply },
      },
      handler: (request, reply) => {
        const { id } = request.params;
        return once(
          deps,
          request,
          reply,
          (deps) => revokeToken(deps, principalOf(request), id),
          (at) => ({ status: 200, body: toRevoked({ id, at }) }),
        );
      },
    });

    /**
     * A secret is not kept, in clear or otherwise, so its reply cannot be told again. A repeated request makes nothing and is told what the
     * first one made: that token can be rotated, if the reply was lost. To derive the secret from the key would show it to whoever learns
     * the key, a value that clients log.
     */
    async function showOnce(
      request: FastifyRequest,
      reply: FastifyReply,
      status: number,
      make: (deps: Deps) => Promise<Shown>,
    ) {
      let shown: Shown | undefined;
      const { id } = await once(
        deps,
        request,
        reply,
        async (deps) => {
          shown = await make(deps);
          return shown;
        },
        ({ row }) => ({ status, body: { id: row.id } }),
      );
      if (!shown)
        throw new ApiError(
          'secret_shown',
          `the first request with this key did it; the secret of ${id} was in its answer alone: rotate the token with another key for a new one`,
        );
      return withWarnings(request, { ...toWire(deps, shown.row), token: shown.token });
    }
  };

function expiryOf(deps: Deps, body: z.infer<typeof createTokenBody>): Date {
  const now = deps.now().getTime();
  const end = toDate(body.expires_at) ?? new Date(now + DEFAULT_LIFE_MS);
  if (end.getTime() <= now) throw invalid('body', 'expires_at', 'is in the past');
  if (end.getTime() > now + MAX_LIFE_MS) throw invalid('body', 'expires_at', 'is more than 366 days ahead');
  return end;
}

const KNOWN: ReadonlySet<string> = new Set(TOKEN_SCOPES);
const scopesOf = (scopes: readonly string[]) => scopes.filter((scope): scope is TokenScope => KNOWN.has(scope));
const list = (names: readonly string[] | null | undefined): string[] | null => (names ? [...names] : null);
const iso = (date: Date | null | undefined): string | null => date?.toISOString() ?? null;

const toRights = (row: TokenRow) => ({
  scopes: scopesOf(row.scopes),
  teams: row.teams,
  buckets: row.buckets,
  memoryScopes: row.memory_scopes,
  agentId: row.agent_id,
  profile: row.profile,
});

function toWire(deps: Deps, row: TokenRow): z.infer<typeof tokensReply>['tokens'][number] {
  return {
    id: row.id,
    name: row.name,
    scopes: scopesOf(row.scopes),
    teams: list(row.teams),
    buckets: list(row.buckets),
    memory_scopes: list(row.memory_scopes),
    agent_id: row.agent_id,
    profile: row.profile,
    status: row.expires_at && row.expires_at <= deps.now() ? 'expired' : 'active',
    created_at: row.created_at.toISOString(),
    expires_at: iso(row.expires_at),
    last_used_at: iso(row.last_used_at),
  };
}

const toRevoked = (done: { id: string; at: Date }) => ({
  id: done.id,
  status: 'revoked' as const,
  revoked_at: done.at.toISOString(),
});

const toValidity = (principal: Principal): z.infer<typeof validateReply> => ({
  status: 'valid',
  scopes: [...principal.tokenScopes],
  setup_state: 'setup_completed',
  owner: principal.owner,
  token_id: principal.tokenId ?? null,
  teams: [...principal.teams],
  buckets: list(principal.buckets),
  memory_scopes: list(principal.scopes),
  agent_id: principal.boundAgent ?? null,
  profile: principal.profile ?? null,
  expires_at: iso(principal.expiresAt),
});

/** Who asks: reads the credential, makes the principal, checks the scope that the route names. Closed by default. */
import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../errors.ts';
import type { Agent, Principal, TokenScope } from '../types.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The token needs one of these. A route has this or `open`, else the service does not start. */
    scopes?: readonly TokenScope[];
    /** Also for a temporary agent whose claim waits for its own word. */
    whileBinding?: true;
    /** Needs no token. */
    open?: true;
  }
  interface FastifyRequest {
    principal: Principal | null;
  }
  interface FastifyInstance {
    /** Every route that was registered, with what it asks for. */
    routeTable: RouteNeeds[];
  }
}

export interface RouteNeeds {
  readonly method: string;
  readonly url: string;
  /** Empty: open. */
  readonly scopes: readonly TokenScope[];
}

export interface Authentication {
  /** @throws ApiError of status 401 */
  authenticate(token: string): Promise<Principal>;
  /** The part of a token that names it and is no secret. */
  idOf(token: string): string | undefined;
}

export function registerAuth(app: FastifyInstance, { authenticate, idOf }: Authentication): void {
  app.decorateRequest('principal', null);
  app.decorate('routeTable', []);
  app.addHook('onRoute', (route) => {
    const { scopes = [], open } = route.config ?? {};
    if (!open && scopes.length === 0 && !(route.method === 'HEAD' || route.method === 'OPTIONS')) {
      throw new Error(`route ${String(route.method)} ${route.url} names no scope and is not open`);
    }
    for (const method of [route.method].flat()) app.routeTable.push({ method, url: route.url, scopes });
  });
  app.addHook('onRequest', async (request) => {
    const { scopes, whileBinding } = request.routeOptions.config;
    if (!scopes) return;
    const begun = performance.now();
    const token = credentialOf(request);
    try {
      const principal = await authenticate(token);
      request.principal = { ...principal, requestId: request.id };
    } catch (error) {
      if (error instanceof ApiError)
        request.log.warn(
          { event: 'authentication_failed', code: error.code, token_id: idOf(token) },
          'authentication failed',
        );
      throw error;
    }
    request.stages.set('auth', performance.now() - begun);
    const { tokenScopes } = principalOf(request);
    if (!scopes.some((scope) => tokenScopes.has(scope))) {
      throw lacking(principalOf(request), scopes);
    }
    const { pendingBinding } = principalOf(request);
    if (pendingBinding !== undefined && !whileBinding) {
      const errorType = 'binding_confirmation_required';
      throw new ApiError(errorType, undefined, { detail: { errorType, confirmation_token: pendingBinding } });
    }
  });
}

/** @throws ApiError missing_credentials or invalid_token */
export function credentialOf(request: FastifyRequest): string {
  const key = request.headers['x-api-key'];
  const bearer = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1];
  if (Array.isArray(key)) throw new ApiError('invalid_token', 'X-API-Key was sent more than once');
  const given = key?.trim() || undefined;
  if (!given && !bearer) {
    throw request.headers.authorization
      ? new ApiError('invalid_token', 'the Authorization header is not of the form Bearer TOKEN')
      : new ApiError('missing_credentials');
  }
  if (given && bearer && given !== bearer)
    throw new ApiError('invalid_token', 'X-API-Key and Authorization carry different tokens');
  return given ?? bearer!;
}

/** The principal of a route that names scopes. */
export function principalOf(request: FastifyRequest): Principal {
  if (!request.principal) throw new Error('the route names no scope');
  return request.principal;
}

/** For a call that needs more than the one scope that its route names; one of these is enough. @throws ApiError insufficient_scope */
export function requireScope(request: FastifyRequest, ...scopes: readonly TokenScope[]): Principal {
  const principal = principalOf(request);
  if (!scopes.some((scope) => principal.tokenScopes.has(scope))) throw lacking(principal, scopes);
  return principal;
}

const UNCLAIMED = 'an agent that no owner has claimed can remember, recall and search, and nothing else';
const CLAIMED =
  'this agent was claimed and goes on with its lasting token, which agents/status has told once; this one only reads';

/** Clients look for the name of the scope before the word "scope". */
function lacking({ agentSpace, tokenScopes }: Principal, needed: readonly TokenScope[]): ApiError {
  if (agentSpace !== undefined) {
    return new ApiError('insufficient_scope', tokenScopes.has('temporary:write') ? UNCLAIMED : CLAIMED);
  }
  const has = tokenScopes.size > 0 ? `it has ${[...tokenScopes].join(', ')}` : 'it has none';
  return new ApiError('insufficient_scope', `this takes ${needed.join(' or ')}, a scope that the token lacks: ${has}`);
}

const MAX_AGENT_LENGTH = 256;

/** The agent that writes or asks: the token's own, else the header's, else the body's. Attribution only. */
export function agentOf(
  request: FastifyRequest,
  body: { agent_id?: string | undefined; agent_instance_id?: string | undefined } = {},
): Agent {
  const header = (name: string): string | undefined => {
    const value = request.headers[name];
    return (Array.isArray(value) ? value[0] : value)?.trim().slice(0, MAX_AGENT_LENGTH) || undefined;
  };
  const instance = header('x-memory-os-agent-instance-id') ?? body.agent_instance_id;
  return {
    id: request.principal?.boundAgent ?? header('x-memory-os-agent-id') ?? body.agent_id,
    instance: instance === undefined ? undefined : hashInstance(instance),
  };
}

/** An instance id identifies a machine: only its hash is stored and compared. */
export function hashInstance(instance: string): string {
  return createHash('sha256').update(instance).digest('hex').slice(0, 32);
}

/** HTTP of skill operations: an operation becomes one request to our own routes, with the caller's own credential. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import type { Deps } from '../deps.ts';
import { ApiError } from '../errors.ts';
import { credentialOf } from '../http/auth.ts';
import { asCounted } from '../http/limits.ts';
import { withWarnings } from '../http/wire.ts';
import type { Principal } from '../types.ts';
import { accountRoutes } from './account-routes.ts';
import { type Arguments, OPERATIONS, type RouteReply, toArguments, toQuery } from './operations.ts';
import { operationBody, operationReply } from './schema.ts';

/** Headers that say who asks; the credential among them is checked by the route behind. */
const FORWARDED = [
  'authorization',
  'x-api-key',
  'x-memory-os-agent-id',
  'x-memory-os-agent-instance-id',
  'idempotency-key',
  'x-idempotency-key',
] as const;

/** Of a refusal. */
const RETURNED = ['retry-after', 'www-authenticate'] as const;

export type Authenticate = (token: string) => Principal | Promise<Principal>;

export const skillRoutes =
  (deps: Deps, authenticate: Authenticate): FastifyPluginAsyncZod =>
  async (app) => {
    await app.register(accountRoutes(deps));
    // Every refusal of this route says ok: false beside the usual error.
    app.addHook('preSerialization', async (_request, reply, payload) =>
      reply.statusCode >= 400 && typeof payload === 'object' ? { ok: false, ...payload } : payload,
    );

    app.post('/skill/operations', {
      config: { open: true },
      schema: {
        operationId: 'skillOperation',
        tags: ['operation'],
        summary: 'Run an operation by name',
        description:
          'For skills: one route, flat arguments, narrow results. Needs the token and scopes of the route behind; `doctor` needs none.',
        body: operationBody,
        response: { 200: operationReply },
      },
      handler: async (request, reply) => {
        const { operation } = request.body;
        if (operation === 'doctor') return answer(request, operation, await doctor(request, authenticate));
        const { request: toRequest, result } = OPERATIONS[operation];
        const inner = toRequest(withKey(operation, request.body));
        const { status, body, headers } = await ask(app, request, request.body, inner);
        if (headers[REPLAYED] !== undefined) reply.header(REPLAYED, headers[REPLAYED]);
        if (status >= 400) return refuse(request, reply, status, body, headers);
        request.warnings.push(...(body.warnings ?? []));
        return answer(request, operation, typeof body === 'string' ? body : result(body));
      },
    });
  };

type Body = z.infer<typeof operationBody>;

const REPLAYED = 'idempotent-replayed';

/** Operations that read: their routes know no key on the canonical mount, and need none. */
const READS: ReadonlySet<Body['operation']> = new Set([
  'recall',
  'search',
  'state-restore',
  'todo-list',
  'ledger-list',
  'ledger-summary',
  'overview',
  'activity',
]);

/** The key beside the arguments or among them goes to the route behind, which does the operation once. */
function withKey(operation: Body['operation'], body: Body): Arguments {
  const { idempotency_key: among, ...args } = toArguments(body.arguments);
  const key = body.idempotency_key ?? among;
  return key === undefined || READS.has(operation) ? args : { ...args, idempotency_key: key };
}

async function ask(
  app: FastifyInstance,
  request: FastifyRequest,
  { client }: Body,
  inner: { method: 'GET' | 'POST' | 'PATCH' | 'DELETE'; path: string; input: Arguments },
) {
  const headers: Record<string, string> = { accept: 'application/json' };
  if (typeof client?.agent_id === 'string') headers['x-memory-os-agent-id'] = client.agent_id;
  if (typeof client?.agent_instance_id === 'string')
    headers['x-memory-os-agent-instance-id'] = client.agent_instance_id;
  for (const name of FORWARDED) {
    const value = request.headers[name];
    if (typeof value === 'string') headers[name] = value;
  }
  const { method, path, input } = inner;
  const asked = await asCounted(() =>
    app.inject({
      method,
      url: `${app.prefix}${path}`,
      headers,
      remoteAddress: request.ip,
      ...(method === 'GET' ? { query: toQuery(input) } : { payload: { ...input } }),
    }),
  );
  const isJson = String(asked.headers['content-type']).includes('json');
  return { status: asked.statusCode, headers: asked.headers, body: (isJson ? asked.json() : asked.body) as RouteReply };
}

/** Is the service there, and what may this token do? A bad token is an answer here, not an error. */
async function doctor(request: FastifyRequest, authenticate: Authenticate) {
  try {
    const { tokenScopes } = await authenticate(credentialOf(request));
    return { status: 'ok', auth_valid: true, scopes: [...tokenScopes] };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    return { status: 'ok', auth_valid: false, scopes: [], reason: error.code };
  }
}

function answer(request: FastifyRequest, operation: Body['operation'], result: unknown) {
  return withWarnings(request, { ok: true as const, operation, result, request_id: request.id });
}

function refuse(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  body: RouteReply,
  headers: Record<string, unknown>,
): FastifyReply {
  for (const name of RETURNED) if (headers[name] !== undefined) reply.header(name, String(headers[name]));
  const { detail, error } = body;
  const told = { ok: false, detail, error: { ...error, request_id: request.id }, request_id: request.id };
  return reply.code(status).type('application/json; charset=utf-8').serializer(JSON.stringify).send(told);
}

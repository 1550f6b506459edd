/** Answers of the routes that hand out tokens. Their errors are OAuth's: `error` is a plain string. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../deps.ts';
import { pollDevice } from './device.ts';
import type { TokenLinks } from './links.ts';

/** Life of a token that came of the device flow. */
const DEVICE_TOKEN_SECONDS = 90 * 86_400;

/** What the caller of the device flow is told, in words. */
const REFUSALS = {
  authorization_pending: 'the owner has not decided yet',
  slow_down: 'the code is polled too often; wait five seconds more between two polls',
  access_denied: 'the owner denied the request',
  expired_token: 'the code has expired; start again',
  invalid_grant: 'there is no such code, or it was used before; start again',
} as const;

/** The token of an approved device, or why there is none yet. */
export async function sendDeviceToken(
  { deps, tokens }: { readonly deps: Deps; readonly tokens: TokenLinks },
  request: FastifyRequest,
  reply: FastifyReply,
  deviceCode: string,
): Promise<FastifyReply> {
  const made = { name: 'device', expiresAt: new Date(deps.now().getTime() + DEVICE_TOKEN_SECONDS * 1_000) };
  const polled = await pollDevice(deps, deviceCode, request.ip, async (tx, granted) => {
    const { owner, scopes } = granted;
    const { token } = await tokens.insert(tx, { owner, requestId: request.id }, granted, made);
    return { owner, scopes, token };
  });
  if ('refused' in polled) return refuse(request, reply, polled.refused, REFUSALS[polled.refused]);
  const { owner, scopes, token } = polled.issued;
  const account = { id: owner, user_id: owner, display_name: owner, name: owner };
  return reply.send({
    access_token: token,
    token,
    token_type: 'Bearer' as const,
    expires_in: DEVICE_TOKEN_SECONDS,
    scope: scopes.join(' '),
    scopes: [...scopes],
    user: account,
    account,
  });
}

export function refuse(
  request: FastifyRequest,
  reply: FastifyReply,
  error: string,
  error_description: string,
): FastifyReply {
  return reply
    .code(error === 'invalid_client' ? 401 : 400)
    .header('cache-control', 'no-store')
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send({ error, error_description, detail: error_description, request_id: request.id });
}

/** Errors of the usual renderer too. */
export function errorsOfOauth(app: Pick<FastifyInstance, 'addHook'>): void {
  app.addHook('preSerialization', async (_request, reply, payload) =>
    reply.statusCode >= 400 ? toOauthError(payload) : payload,
  );
}

function toOauthError(payload: unknown): unknown {
  const body = payload as { error?: unknown; detail?: unknown; request_id?: unknown };
  if (typeof body.error !== 'object' || body.error === null) return payload;
  const { code, message } = body.error as { code: string; message: string };
  const invalidInput = code === 'validation_error' || code === 'bad_json';
  return {
    error: invalidInput ? 'invalid_request' : code,
    error_description: message,
    detail: body.detail,
    request_id: body.request_id,
  };
}

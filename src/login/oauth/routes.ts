/** HTTP of OAuth 2.1, at the root of the origin: programs that register themselves and are let in by an owner, with PKCE. */
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Deps } from '../../deps.ts';
import { ApiError } from '../../errors.ts';
import { acceptForms } from '../../http/forms.ts';
import type { Limit } from '../../http/limits.ts';
import { sendPage } from '../../http/page.ts';
import type { Authenticate, TokenLinks } from '../links.ts';
import { errorsOfOauth, refuse, sendDeviceToken } from '../replies.ts';
import { GRANT_TYPE as DEVICE_GRANT } from '../schema.ts';
import { urlsOf } from '../urls.ts';
import { registerClient } from './clients.ts';
import { approve, exchangeCode, type Issued, type Needs, refresh, revoke } from './grants.ts';
import { authorizePage, faultyPage } from './page.ts';
import { withParams } from './redirects.ts';
import type { Refusal } from './refusal.ts';
import { checkRequest, isOurs } from './request.ts';

const OPEN = { open: true as const };

const text = z.string().min(1).max(4_096);
/** Forms send what is not there as an empty text. */
const maybe = z.preprocess((value) => (value === '' || value === null ? undefined : value), text.optional());
const decision = z.object({ token: z.string().max(8_192).default(''), decision: z.enum(['approve', 'deny']) });
const common = { client_id: text, resource: maybe };
const codeBody = z.object({ ...common, code: text, code_verifier: text, redirect_uri: maybe });
const refreshBody = z.object({ ...common, refresh_token: text, scope: maybe });
const deviceBody = z.object({ device_code: text });
const revokeBody = z.object({ token: z.string().max(8_192).default(''), client_id: maybe });

export const oauthRoutes =
  (deps: Deps, tokens: TokenLinks, authenticate: Authenticate, registrations: Limit): FastifyPluginAsync =>
  async (app) => {
    acceptForms(app);
    errorsOfOauth(app);
    const needsOf = (request: FastifyRequest): Needs => ({ deps, tokens, requestId: request.id });

    app.post('/oauth/register', { config: OPEN, preHandler: registrations }, async (request, reply) => {
      const client = await registerClient(deps, request.body);
      if ('refused' in client) return refuse(request, reply, client.refused, client.why);
      return reply
        .code(201)
        .header('cache-control', 'no-store')
        .send({
          client_id: client.id,
          client_id_issued_at: Math.floor(deps.now().getTime() / 1_000),
          ...(client.name !== null && { client_name: client.name }),
          redirect_uris: client.redirect_uris,
          grant_types: ['authorization_code', 'refresh_token'],
          response_types: ['code'],
          token_endpoint_auth_method: 'none',
        });
    });

    app.get('/oauth/authorize', { config: OPEN }, async (request, reply) => {
      const checked = await checkRequest(deps, request.query as Record<string, unknown>, urlsOf(deps, request));
      if ('faulty' in checked) return sendPage(reply, 400, faultyPage(checked.faulty));
      if ('refused' in checked) return sendBack(request, reply, checked, asError(checked));
      return sendPage(reply, 200, authorizePage(checked.request));
    });

    app.post('/oauth/authorize', { config: OPEN }, async (request, reply) => {
      const body = (request.body ?? {}) as Record<string, unknown>;
      const checked = await checkRequest(deps, body, urlsOf(deps, request));
      if ('faulty' in checked) return sendPage(reply, 400, faultyPage(checked.faulty));
      if ('refused' in checked) return sendBack(request, reply, checked, asError(checked));
      const decided = decision.safeParse(body);
      if (!decided.success) return sendPage(reply, 400, authorizePage(checked.request, 'Approve it or deny it.'));
      if (decided.data.decision === 'deny')
        return sendBack(request, reply, checked.request, {
          error: 'access_denied',
          error_description: 'the owner denied it',
        });
      try {
        const code = await approve(deps, await authenticate(decided.data.token.trim()), checked.request);
        return sendBack(request, reply, checked.request, { code });
      } catch (error) {
        if (!(error instanceof ApiError) || error.status >= 500) throw error;
        return sendPage(reply, error.status, authorizePage(checked.request, error.message));
      }
    });

    app.post('/oauth/token', { config: OPEN }, async (request, reply) => {
      reply.headers({ 'cache-control': 'no-store', pragma: 'no-cache' });
      const body = (request.body ?? {}) as Record<string, unknown>;
      if (body.grant_type === 'authorization_code')
        return withBody(
          request,
          reply,
          codeBody,
          async ({ code, client_id, code_verifier, redirect_uri, resource }) => {
            if (!isOurs(resource, urlsOf(deps, request))) return refuseTarget(request, reply);
            const redirectUri = redirect_uri === undefined ? {} : { redirectUri: redirect_uri };
            const asked = { code, clientId: client_id, verifier: code_verifier, ...redirectUri };
            return sendTokens(request, reply, await exchangeCode(needsOf(request), asked));
          },
        );
      if (body.grant_type === 'refresh_token')
        return withBody(request, reply, refreshBody, async ({ refresh_token, client_id, scope, resource }) => {
          if (!isOurs(resource, urlsOf(deps, request))) return refuseTarget(request, reply);
          const scopes = scope === undefined ? {} : { scopes: scope.split(/\s+/).filter(Boolean) };
          const asked = { refreshToken: refresh_token, clientId: client_id, ...scopes };
          return sendTokens(request, reply, await refresh(needsOf(request), asked));
        });
      if (body.grant_type === DEVICE_GRANT)
        return withBody(request, reply, deviceBody, ({ device_code }) =>
          sendDeviceToken({ deps, tokens }, request, reply, device_code),
        );
      const known = `authorization_code, refresh_token or ${DEVICE_GRANT}`;
      return refuse(request, reply, 'unsupported_grant_type', `grant_type must be ${known}`);
    });

    app.post('/oauth/revoke', { config: OPEN }, (request, reply) =>
      withBody(request, reply, revokeBody, async ({ token, client_id }) => {
        await revoke(needsOf(request), { token, clientId: client_id }, tokenIdOf);
        return reply.send({ status: 'revoked' });
      }),
    );

    /** Of an access token that still works. */
    async function tokenIdOf(token: string): Promise<string | undefined> {
      try {
        return (await authenticate(token)).tokenId;
      } catch (error) {
        if (error instanceof ApiError && error.status === 401) return undefined;
        throw error;
      }
    }

    /** To the program, with what it sent as state and who answers (RFC 9207). */
    function sendBack(
      request: FastifyRequest,
      reply: FastifyReply,
      { redirectUri, state }: { readonly redirectUri: string; readonly state: string | undefined },
      answer: Readonly<Record<string, string>>,
    ): FastifyReply {
      const location = withParams(redirectUri, { ...answer, state, iss: urlsOf(deps, request).base });
      return reply
        .headers({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
        .redirect(location, request.method === 'GET' ? 302 : 303);
    }
  };

async function withBody<T>(
  request: FastifyRequest,
  reply: FastifyReply,
  schema: z.ZodType<T>,
  work: (body: T) => Promise<FastifyReply>,
): Promise<FastifyReply> {
  const parsed = schema.safeParse(request.body ?? {});
  if (parsed.success) return work(parsed.data);
  const [issue] = parsed.error.issues;
  return refuse(request, reply, 'invalid_request', `${issue!.path.join('.') || 'the body'}: ${issue!.message}`);
}

const asError = ({ refused, why }: Refusal) => ({ error: refused, error_description: why });

const refuseTarget = (request: FastifyRequest, reply: FastifyReply): FastifyReply =>
  refuse(request, reply, 'invalid_target', 'resource is not one of this service');

function sendTokens(request: FastifyRequest, reply: FastifyReply, issued: Issued | Refusal): FastifyReply {
  if ('refused' in issued) return refuse(request, reply, issued.refused, issued.why);
  return reply.send({
    access_token: issued.accessToken,
    token_type: 'Bearer',
    expires_in: issued.expiresIn,
    refresh_token: issued.refreshToken,
    scope: issued.scopes.join(' '),
  });
}

/** HTTP of login and onboarding, below a mount. What lies at the root of the origin is in root-routes.ts. */
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Deps } from '../deps.ts';
import { ApiError } from '../errors.ts';
import { principalOf } from '../http/auth.ts';
import { acceptForms } from '../http/forms.ts';
import type { Limit } from '../http/limits.ts';
import { decideDevice, startDevice } from './device.ts';
import { MCP_CLIENTS, type McpClient, mcpConfig, onboarding } from './documents.ts';
import type { TokenLinks } from './links.ts';
import { errorsOfOauth, refuse, sendDeviceToken } from './replies.ts';
import * as schema from './schema.ts';
import { urlsOf } from './urls.ts';

const OPEN = { open: true as const };
const TAGS = ['login'];
const document = z.record(z.string(), z.unknown());

/** `logins`: how many of a device one address may begin. */
export const loginRoutes =
  (deps: Deps, tokens: TokenLinks, logins: Limit): FastifyPluginAsyncZod =>
  async (app) => {
    await app.register(deviceRoutes(deps, tokens, logins));

    app.post('/auth/device/approve', {
      config: { scopes: ['tokens:manage'] },
      schema: {
        operationId: 'approveDevice',
        tags: TAGS,
        summary: 'Approve or deny a device',
        description:
          'The new token has what was asked for and the approving token holds, and its boundaries. The page /device does the same for people.',
        body: schema.approveBody,
        response: { 200: schema.approveReply },
      },
      handler: async (request) => {
        const { user_code, decision } = request.body;
        const { clientId, scopes } = await decideDevice(deps, principalOf(request), user_code, decision);
        return {
          status: decision === 'approve' ? ('approved' as const) : ('denied' as const),
          client_id: clientId,
          scopes: [...scopes],
        };
      },
    });

    app.get('/onboarding/status', {
      config: OPEN,
      schema: {
        operationId: 'onboardingStatus',
        tags: TAGS,
        summary: 'What a new client needs',
        response: { 200: document },
      },
      handler: async (request) => onboarding(urlsOf(deps, request)),
    });

    app.get('/mcp/config/:client', {
      config: OPEN,
      schema: {
        operationId: 'mcpConfig',
        tags: TAGS,
        summary: 'The MCP configuration of a client',
        description: `One of ${MCP_CLIENTS.join(', ')}. The token stays in the environment.`,
        params: schema.clientParams,
        response: { 200: document },
      },
      handler: async (request) => {
        const { client } = request.params;
        if (!(MCP_CLIENTS as readonly string[]).includes(client))
          throw new ApiError('not_found', `no such client is known; known are ${MCP_CLIENTS.join(', ')}`);
        return mcpConfig(urlsOf(deps, request), client as McpClient);
      },
    });
  };

/** Their errors are OAuth's: `error` is a plain string. */
const deviceRoutes =
  (deps: Deps, tokens: TokenLinks, logins: Limit): FastifyPluginAsyncZod =>
  async (app) => {
    acceptForms(app);
    errorsOfOauth(app);

    app.post('/auth/device/start', {
      config: OPEN,
      preHandler: logins,
      schema: {
        operationId: 'startDevice',
        tags: TAGS,
        summary: 'Begin a login on a device',
        description: 'Show user_code and verification_uri to the owner, then poll /auth/device/token.',
        body: schema.startBody,
        response: { 200: schema.startReply },
      },
      handler: async (request, reply) => {
        const { client_id, client_version, cli_version, scopes, scope } = request.body;
        const started = await startDevice(deps, {
          clientId: client_id,
          clientVersion: client_version ?? cli_version,
          scopes: [scopes ?? scope ?? []].flat().flatMap((text) => text.split(/[\s,]+/)),
        });
        const uri = `${urlsOf(deps, request).base}/device`;
        reply.header('cache-control', 'no-store');
        return {
          device_code: started.deviceCode,
          user_code: started.userCode,
          verification_uri: uri,
          verification_uri_complete: `${uri}?user_code=${started.userCode}`,
          interval: started.interval,
          expires_in: started.expiresIn,
        };
      },
    });

    app.post('/auth/device/token', {
      config: OPEN,
      schema: {
        operationId: 'deviceToken',
        tags: TAGS,
        summary: 'Take the token of an approved device',
        description:
          'Once. Until then 400 with error `authorization_pending`, `slow_down`, `access_denied`, `expired_token` or `invalid_grant`.',
        body: schema.tokenBody,
        response: { 200: schema.tokenReply },
      },
      handler: async (request, reply) => {
        reply.header('cache-control', 'no-store');
        const { device_code, grant_type } = request.body;
        if (grant_type !== schema.GRANT_TYPE)
          return refuse(request, reply, 'unsupported_grant_type', `grant_type must be ${schema.GRANT_TYPE}`);
        return sendDeviceToken({ deps, tokens }, request, reply, device_code);
      },
    });
  };

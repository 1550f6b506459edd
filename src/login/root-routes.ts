/** HTTP of discovery and of the page for owners, at the root of the origin. */
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Deps } from '../deps.ts';
import { ApiError } from '../errors.ts';
import { acceptForms } from '../http/forms.ts';
import { sendPage } from '../http/page.ts';
import { decideDevice, reviewDevice } from './device.ts';
import { agentDiscovery, authorizationServer, memoryOs, protectedResource, type Urls } from './documents.ts';
import type { Authenticate } from './links.ts';
import { devicePage } from './page.ts';
import { pageBody, pageQuery } from './schema.ts';
import { urlsOf } from './urls.ts';

const OPEN = { open: true as const };
const document = z.record(z.string(), z.unknown());

export const rootRoutes =
  (deps: Deps, authenticate: Authenticate, operations: readonly string[]): FastifyPluginAsyncZod =>
  async (app) => {
    acceptForms(app);
    const documents = {
      'memory-os.json': memoryOs,
      'agent-discovery.json': (urls: Urls) => agentDiscovery(urls, operations),
      'oauth-authorization-server': authorizationServer,
      'oauth-protected-resource': protectedResource,
      // where clients look first for a resource at /mcp (RFC 9728, 3.1)
      'oauth-protected-resource/mcp': protectedResource,
    };
    for (const [name, make] of Object.entries(documents)) {
      app.get(`/.well-known/${name}`, { config: OPEN, schema: { response: { 200: document } } }, async (request) =>
        make(urlsOf(deps, request)),
      );
    }

    app.get('/device', { config: OPEN, schema: { querystring: pageQuery } }, (request, reply) =>
      sendPage(reply, 200, devicePage({ userCode: request.query.user_code ?? '', token: '' })),
    );

    app.post('/device', { config: OPEN, schema: { body: pageBody } }, async (request, reply) => {
      const { user_code: userCode, token, decision } = request.body;
      try {
        const principal = await authenticate(token.trim());
        if (decision === 'review') {
          const asked = await reviewDevice(deps, principal, userCode);
          return sendPage(reply, 200, devicePage({ userCode, token, asked }));
        }
        await decideDevice(deps, principal, userCode, decision);
        const done = decision === 'approve' ? 'approved' : 'denied';
        return sendPage(reply, 200, devicePage({ userCode, token: '', done }));
      } catch (error) {
        if (!(error instanceof ApiError) || error.status >= 500) throw error;
        if (error.retryAfter !== undefined) reply.header('retry-after', error.retryAfter);
        return sendPage(reply, error.status, devicePage({ userCode, token: '', message: error.message }));
      }
    });
  };

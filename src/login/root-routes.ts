/** HTTP of discovery and of the page for owners, at the root of the origin. */
import type { FastifyReply } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Deps } from '../deps.ts';
import { ApiError } from '../errors.ts';
import type { Principal } from '../types.ts';
import { decideDevice, reviewDevice } from './device.ts';
import { agentDiscovery, authorizationServer, memoryOs, type Urls } from './documents.ts';
import { acceptForms } from './forms.ts';
import { PAGE_HEADERS, type PageState, renderPage } from './page.ts';
import { pageBody, pageQuery } from './schema.ts';
import { urlsOf } from './urls.ts';

/** Handed in by app.ts. */
export type Authenticate = (token: string) => Principal | Promise<Principal>;

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
    };
    for (const [name, make] of Object.entries(documents)) {
      app.get(`/.well-known/${name}`, { config: OPEN, schema: { response: { 200: document } } }, async (request) =>
        make(urlsOf(deps, request)),
      );
    }

    app.get('/device', { config: OPEN, schema: { querystring: pageQuery } }, (request, reply) =>
      page(reply, 200, { userCode: request.query.user_code ?? '', token: '' }),
    );

    app.post('/device', { config: OPEN, schema: { body: pageBody } }, async (request, reply) => {
      const { user_code: userCode, token, decision } = request.body;
      try {
        const principal = await authenticate(token.trim());
        if (decision === 'review')
          return await page(reply, 200, { userCode, token, asked: await reviewDevice(deps, principal, userCode) });
        await decideDevice(deps, principal, userCode, decision);
        return await page(reply, 200, { userCode, token: '', done: decision === 'approve' ? 'approved' : 'denied' });
      } catch (error) {
        if (!(error instanceof ApiError) || error.status >= 500) throw error;
        if (error.retryAfter !== undefined) reply.header('retry-after', error.retryAfter);
        return page(reply, error.status, { userCode, token: '', message: error.message });
      }
    });
  };

function page(reply: FastifyReply, status: number, state: PageState): FastifyReply {
  return reply
    .code(status)
    .headers(PAGE_HEADERS)
    .serializer((html: unknown) => html as string)
    .send(renderPage(state));
}

/** The page that `bind_url` leads to: an owner says that a temporary agent is theirs. The agent then confirms. */
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { Deps } from '../deps.ts';
import { ApiError } from '../errors.ts';
import { acceptForms } from '../http/forms.ts';
import { alert, escaped, type Page, sendPage } from '../http/page.ts';
import { askAgent } from './agents.ts';
import type { Authenticate } from './authenticate.ts';
import { bindPageBody, bindPageQuery } from './schema.ts';

const OPEN = { open: true as const };

export const bindPage =
  (deps: Deps, authenticate: Authenticate): FastifyPluginAsyncZod =>
  async (app) => {
    acceptForms(app);

    app.get('/agents/bind', { config: OPEN, schema: { querystring: bindPageQuery } }, (request, reply) =>
      sendPage(reply, 200, formPage(request.query.code ?? '')),
    );

    app.post('/agents/bind', { config: OPEN, schema: { body: bindPageBody } }, async (request, reply) => {
      const { code, token } = request.body;
      try {
        const principal = await authenticate(token.trim());
        if (!principal.tokenScopes.has('memory:write'))
          throw new ApiError('insufficient_scope', 'the token lacks the scope memory:write');
        const { client_name, id } = await askAgent(deps, { ...principal, requestId: request.id }, code);
        return sendPage(reply, 200, askedPage(client_name ?? id));
      } catch (error) {
        if (!(error instanceof ApiError) || error.status >= 500) throw error;
        return sendPage(reply, error.status, formPage(code, error.message));
      }
    });
  };

const TITLE = 'Claim an agent';

const formPage = (code: string, message?: string): Page => ({
  title: TITLE,
  body: `${alert(message)}<form method="post" action="/agents/bind">
<p>What the agent stored will be among your memories, and it gets a token with at most the rights of yours to read and write memories.</p>
<label>Claim code that the agent shows<input name="code" value="${escaped(code)}" autocomplete="off" required></label>
<label>Your token, with the scope memory:write<input name="token" type="password" autocomplete="off" required></label>
<button>Claim</button>
</form>`,
});

const askedPage = (name: string): Page => ({
  title: TITLE,
  body: `<p>Now tell the agent <strong>${escaped(name)}</strong> to confirm. You can close this page.</p>`,
});

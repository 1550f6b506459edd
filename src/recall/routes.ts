/** HTTP of recall: GET for curl and caches, POST for clients; text or JSON. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Deps } from '../deps.ts';
import { ApiError, invalid } from '../errors.ts';
import { agentOf, principalOf } from '../http/auth.ts';
import { filterOf } from '../http/fields.ts';
import { wantsText } from '../http/profile.ts';
import { withWarnings } from '../http/wire.ts';
import type { Principal } from '../types.ts';
import { recallContext } from './context.ts';
import { etagOf, isNamed } from './etag.ts';
import { explain } from './explain.ts';
import { recall } from './recall.ts';
import { renderResults } from './render-results.ts';
import { askingOf, assertOneTime, toSearch } from './request.ts';
import {
  type ContextInput,
  contextInput,
  contextReply,
  explainInput,
  explainReply,
  type RecallInput,
  recallInput,
  recallReply,
} from './schema.ts';
import type { SearchRequest } from './search.ts';

const TEXT = 'text/plain; charset=utf-8';

const ROUTES = {
  context: {
    operationId: 'recallContext',
    summary: 'Get a context pack',
    description:
      'The few memories that matter for a query, in rank order, inside max_items and max_tokens. Same state, same request: same bytes. `Accept: text/plain` or `profile=public` gives the text profile. Carries an ETag; with If-None-Match the same answer is a 304, which costs no search.',
  },
  recall: {
    operationId: 'recall',
    summary: 'Quick, forgiving lookup',
    description: 'The best few memories, also when none is certain. An empty list is a complete answer.',
  },
  search: {
    operationId: 'search',
    summary: 'Strict search',
    description:
      'Only what can answer the query; a weak match is not returned. A query of nothing but words of the `path` it is narrowed to gives what lies there.',
  },
} as const;

/** The spaces of the knowledge bases that a principal may see, or of one team's. */
export type KnowledgeSpaces = (principal: Principal, team: string | undefined) => Promise<readonly number[]>;

export const recallRoutes =
  (deps: Deps, knowledgeSpaces: KnowledgeSpaces): FastifyPluginAsyncZod =>
  async (app) => {
    const config = { scopes: ['memory:read' as const, 'temporary:read' as const] };
    const docs = (route: keyof typeof ROUTES, method: 'get' | 'post') => ({
      ...ROUTES[route],
      operationId: method === 'get' ? `${ROUTES[route].operationId}Get` : ROUTES[route].operationId,
      tags: ['recall'],
    });
    const contextResponse = { response: { 200: answers(contextReply) } };
    const recallResponse = { response: { 200: answers(recallReply) } };

    app.get(
      '/recall/context',
      { config, schema: { ...docs('context', 'get'), querystring: contextInput, ...contextResponse } },
      (request, reply) => context(request, reply, request.query),
    );
    app.post(
      '/recall/context',
      { config, schema: { ...docs('context', 'post'), body: contextInput, ...contextResponse } },
      (request, reply) => context(request, reply, request.body),
    );
    for (const [route, url] of [
      ['recall', '/recall'],
      ['search', '/memories/search'],
    ] as const) {
      app.get(
        url,
        { config, schema: { ...docs(route, 'get'), querystring: recallInput, ...recallResponse } },
        (request, reply) => results(request, reply, request.query, route),
      );
      app.post(
        url,
        { config, schema: { ...docs(route, 'post'), body: recallInput, ...recallResponse } },
        (request, reply) => results(request, reply, request.body, route),
      );
    }

    app.post(
      '/recall/explain',
      {
        config: { scopes: ['memory:read' as const] },
        schema: {
          operationId: 'explainRecall',
          tags: ['recall'],
          summary: 'Why is this memory in the answer, or why not',
          description:
            'Takes the fields of recall context and the id of a memory; tells its ranks, scores, what kept it out, and what became of it in the pack. Writes nothing down, with exclude_seen neither.',
          body: explainInput,
          response: { 200: explainReply },
        },
      },
      async (request) => {
        const { memory_id, ...input } = request.body;
        assertOneTime(request, input);
        const knowledge = await knowledgeOf(request, input);
        const asking = askingOf(request, input, { ...toSearch(request, input), knowledge, unsent: true });
        return withWarnings(request, await explain(deps, asking, memory_id));
      },
    );

    async function context(request: FastifyRequest, reply: FastifyReply, input: ContextInput) {
      assertOneTime(request, input);
      const knowledge = await knowledgeOf(request, input);
      return named(request, reply, input, { route: 'context', also: knowledge?.spaces ?? [] }, async (asked) => {
        const asking = askingOf(request, input, { ...asked, knowledge });
        const { text, body } = await recallContext(deps, asking, request.stages);
        if (wantsText(request, input)) reply.header('x-xmemo-pack-id', body.pack_id);
        return { body, text: () => text };
      });
    }

    async function knowledgeOf(request: FastifyRequest, input: ContextInput): Promise<SearchRequest['knowledge']> {
      if (!input.include_knowledge) return undefined;
      if (input.as_of !== undefined) {
        throw invalid('body', 'as_of', 'cannot stand beside include_knowledge: documents keep no earlier versions');
      }
      const principal = principalOf(request);
      if (!principal.tokenScopes.has('knowledge:read')) {
        throw new ApiError(
          'insufficient_scope',
          'include_knowledge takes knowledge:read, a scope that the token lacks',
        );
      }
      return { spaces: await knowledgeSpaces(principal, filterOf(input.team_id)), alone: false };
    }

    async function results(
      request: FastifyRequest,
      reply: FastifyReply,
      input: RecallInput,
      mode: 'recall' | 'search',
    ) {
      return named(request, reply, input, { route: mode, also: [] }, async (asked) => {
        const body = await recall(deps, askingOf(request, input, asked), mode, request.stages);
        return { body, text: () => renderResults(body.results) };
      });
    }

    /** Answers 304, before anything is embedded or ranked, when the caller has this answer already. */
    async function named<B extends { status: string }>(
      request: FastifyRequest,
      reply: FastifyReply,
      { idempotency_key: _, ...input }: ContextInput | RecallInput,
      seen: { readonly route: string; readonly also: readonly number[] },
      answer: (asked: SearchRequest) => Promise<{ body: B; text: () => string }>,
    ) {
      const asked = toSearch(request, input);
      const text = wantsText(request, input);
      const send = ({ body, text: rendered }: { body: B; text: () => string }) => {
        reply.header('x-xmemo-status', body.status);
        return text ? reply.type(TEXT).send(rendered()) : reply.send(withWarnings(request, body));
      };
      if (asked.session !== undefined) return send(await answer(asked)); // the same request has another answer the next time
      const { warnings } = request;
      const etag = etagOf(deps, principalOf(request), agentOf(request), {
        ...seen,
        input,
        team: 'since_pack' in input ? undefined : asked.team, // what an earlier pack held may stand in any space
        text,
        warnings,
      });
      // Its failure is met where it is awaited; the search may fail before that, and a rejection that nobody hears ends the process.
      etag.catch(() => {});
      const known = request.headers['if-none-match'];
      if (known !== undefined && isNamed(known, await etag)) {
        return reply
          .code(304)
          .headers(cacheHeaders(await etag))
          .send();
      }
      const made = await answer({ ...asked, after: etag });
      // What a passing failure made poorer must not be taken for the answer of this state.
      if (made.body.status !== 'degraded' || deps.embedder.degraded) reply.headers(cacheHeaders(await etag));
      return send(made);
    }
  };

const cacheHeaders = (etag: string) => ({
  etag,
  'cache-control': 'private, no-cache',
  vary: 'Authorization, X-API-Key, Accept, X-Memory-OS-Agent-ID',
});

/** JSON or the text profile. */
function answers<T extends z.ZodType>(schema: T) {
  return {
    description: 'The answer; an empty one is no error.',
    content: { 'application/json': { schema }, 'text/plain': { schema: z.string() } },
  };
}

/** HTTP of knowledge bases and of the search in them. */
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Deps } from '../deps.ts';
import { invalid } from '../errors.ts';
import { principalOf } from '../http/auth.ts';
import { filterOf, idParams, normalisePath } from '../http/fields.ts';
import { once } from '../http/idempotency.ts';
import { wantsText } from '../http/profile.ts';
import { targetOf } from '../http/target.ts';
import { withWarnings } from '../http/wire.ts';
import type { Principal } from '../types.ts';
import { createBase, deleteBase, listBases, readBase } from './bases.ts';
import { documentRoutes } from './document-routes.ts';
import { listSections, readSection } from './documents.ts';
import type { Engine } from './engine.ts';
import { uuidCursor, uuidOf } from './ids.ts';
import * as wire from './schema.ts';
import { searchKnowledge } from './search.ts';
import { renderItems, toBase, toItem } from './wire.ts';

const READ = { scopes: ['knowledge:read' as const] };
const WRITE = { scopes: ['knowledge:write' as const] };
const tags = ['knowledge'];

export const knowledgeRoutes =
  (deps: Deps, engine: Engine): FastifyPluginAsyncZod =>
  async (app) => {
    await app.register(documentRoutes(deps, engine));

    app.post('/knowledge-bases', {
      config: WRITE,
      schema: {
        operationId: 'createKnowledgeBase',
        tags,
        summary: 'Make a knowledge base',
        description: 'A place for documents, of its own or of a team.',
        body: wire.newBaseBody,
        response: { 201: wire.newBaseReply },
      },
      handler: async (request, reply) => {
        const principal = principalOf(request);
        const { name, description = null } = request.body;
        const { team, bucket, scope } = targetOf(principal, request.body);
        const done = await once(
          deps,
          request,
          reply,
          (deps) => createBase(deps, principal, { team, name, description, bucket, scope }),
          ({ id }) => ({ status: 201, body: { id } }),
        );
        return { ...toBase(await readBase(deps, principal, done.id)), ...done };
      },
    });

    app.get('/knowledge-bases', {
      config: READ,
      schema: {
        operationId: 'listKnowledgeBases',
        tags,
        summary: 'List knowledge bases',
        description: 'Those that the token may see, newest first.',
        querystring: wire.listBasesQuery,
        response: { 200: wire.listBasesReply },
      },
      handler: async (request) => {
        const { team_id: team, limit, cursor } = request.query;
        const page = { team: filterOf(team), before: uuidCursor(cursor), limit };
        const bases = await listBases(deps, principalOf(request), page);
        const shown = bases.map(toBase);
        const next = bases.length === limit ? bases.at(-1)!.id : null;
        return { knowledge_bases: shown, items: shown, next_cursor: next };
      },
    });

    app.get('/knowledge-bases/:id', {
      config: READ,
      schema: {
        operationId: 'getKnowledgeBase',
        tags,
        summary: 'Read a knowledge base',
        params: idParams,
        response: { 200: wire.baseSchema },
      },
      handler: async (request) => toBase(await readBase(deps, principalOf(request), uuidOf(request.params.id))),
    });

    app.delete('/knowledge-bases/:id', {
      config: WRITE,
      schema: {
        operationId: 'deleteKnowledgeBase',
        tags,
        summary: 'Delete a knowledge base',
        description: 'With every document in it. Final.',
        params: idParams,
        response: { 200: wire.deletedBase },
      },
      handler: (request, reply) => {
        const id = uuidOf(request.params.id);
        return once(
          deps,
          request,
          reply,
          (keyed) => deleteBase(keyed, engine, principalOf(request), id, deps),
          (deleted) => ({ status: 200, body: { id, status: 'deleted' as const, ...deleted } }),
        );
      },
    });

    app.get('/knowledge-bases/:id/items', {
      config: READ,
      schema: {
        operationId: 'listKnowledgeItems',
        tags,
        summary: 'List the sections of a knowledge base',
        description: 'Whole text, in the order of the documents and of the sections in each.',
        params: idParams,
        querystring: wire.listItemsQuery,
        response: { 200: wire.listItemsReply },
      },
      handler: async (request) => {
        const { document_id: document, limit, cursor } = request.query;
        if (cursor !== undefined && !/^\d{1,18}$/.test(cursor))
          throw invalid('query', 'cursor', 'is not a cursor of this list');
        const base = await readBase(deps, principalOf(request), uuidOf(request.params.id));
        const rows = await listSections(deps, base, { document, after: cursor, limit });
        return { items: rows.map(toItem), next_cursor: rows.length === limit ? rows.at(-1)!.seq : null };
      },
    });

    app.get('/knowledge-items/:id', {
      config: READ,
      schema: {
        operationId: 'getKnowledgeItem',
        tags,
        summary: 'Read one section of a document',
        params: idParams,
        response: { 200: wire.itemSchema },
      },
      handler: async (request) => toItem(await readSection(deps, principalOf(request), uuidOf(request.params.id))),
    });

    app.post('/knowledge/search', {
      config: READ,
      schema: {
        operationId: 'searchKnowledge',
        tags,
        summary: 'Search documents',
        description:
          'Sections of documents by words and by meaning, each with what to cite: document, title, headings, page and range. `Accept: text/plain` or `profile=public` gives text.',
        body: wire.searchBody,
        response: {
          200: {
            description: 'The answer; an empty one is no error.',
            content: { 'application/json': { schema: wire.searchReply }, 'text/plain': { schema: z.string() } },
          },
        },
      },
      handler: async (request, reply) => {
        const principal = principalOf(request);
        const { query, document_id: document, path, limit, cursor, mode, alpha, k } = request.body;
        const offset = cursor === undefined ? 0 : Number(/^\d{1,3}$/.exec(cursor)?.[0] ?? Number.NaN);
        if (Number.isNaN(offset)) throw invalid('body', 'cursor', 'is not a cursor of this search');
        const bases = await basesOf(deps, principal, request.body);
        const answer = await searchKnowledge(
          deps,
          engine,
          principal,
          {
            query,
            spaces: bases.map((base) => base.content_space),
            document,
            path: path === undefined || path === '%' ? undefined : normalisePath(path),
            alpha: mode === 'lexical' ? 0 : mode === 'vector' ? 1 : alpha,
            candidates: k,
            offset,
            limit,
          },
          request.stages,
        );
        const results = answer.hits.map(({ row, ...scores }) => ({ ...toItem(row), ...scores }));
        reply.header('x-xmemo-status', answer.status);
        if (wantsText(request, request.body))
          return reply.type('text/plain; charset=utf-8').send(renderItems(engine, results));
        const body = {
          status: answer.status,
          results,
          next_cursor: answer.next === undefined ? null : String(answer.next),
          coverage: { candidates: answer.candidates, returned: results.length, answerability: answer.answerability },
          degraded: [...answer.degraded],
        };
        return reply.send(withWarnings(request, body));
      },
    });
  };

/** One base that is named, or all that the token may see. @throws ApiError not_found, boundary_denied */
async function basesOf(
  deps: Deps,
  principal: Principal,
  { knowledge_base_id: id, team_id: team }: { knowledge_base_id?: string | undefined; team_id?: string | undefined },
) {
  if (id === undefined || id === '%') return listBases(deps, principal, { team: filterOf(team) });
  return [await readBase(deps, principal, uuidOf(id))];
}

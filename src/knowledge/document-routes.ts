/** HTTP of documents: the file itself as the body, or JSON with its text. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import type { Deps } from '../deps.ts';
import { ApiError, invalid } from '../errors.ts';
import { agentOf, principalOf } from '../http/auth.ts';
import { toDate } from '../http/fields.ts';
import { once } from '../http/idempotency.ts';
import { listBases, readBase } from './bases.ts';
import { deleteDocument, listDocuments, readDocumentRow } from './documents.ts';
import type { Engine } from './engine.ts';
import { uuidCursor, uuidOf } from './ids.ts';
import { ingest, type Upload } from './ingest.ts';
import { DOCUMENT_TYPES, type File, MAX_FILE } from './read/index.ts';
import * as wire from './schema.ts';
import type { Base } from './store.ts';
import { toDocument } from './wire.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The bytes of a body that is a file. */
    file: File | null;
  }
}

/** A text in JSON is longer than its bytes; beyond this it is refused unread. */
const BODY_LIMIT = 2 * MAX_FILE;

const READ = { scopes: ['knowledge:read' as const] };
const WRITE = { scopes: ['knowledge:write' as const] };
const tags = ['knowledge'];
const UPLOAD =
  'Send the file as the body, with its Content-Type (text/plain, text/markdown, text/html or application/pdf, at most 20 MB and as much text) and title, source and occurred_at in the query; or JSON with `text`. A source that is there is replaced, in one transaction. A large document (more than 200 sections, some 240,000 characters) is answered with 202 and `status: indexing`: its sections are found one after the other from then on, the earlier ones are gone by the reply.';

export const documentRoutes =
  (deps: Deps, engine: Engine): FastifyPluginAsyncZod =>
  async (app) => {
    app.decorateRequest('file', null);
    acceptFiles(app);
    const response = { 200: wire.uploadReply, 201: wire.uploadReply, 202: wire.uploadReply };

    app.post('/documents', {
      config: WRITE,
      bodyLimit: BODY_LIMIT,
      schema: {
        operationId: 'addDocument',
        tags,
        summary: 'Add or replace a document',
        description: UPLOAD,
        querystring: wire.documentQuery,
        body: wire.documentBody,
        response,
      },
      handler: async (request, reply) => {
        const id = request.body.knowledge_base_id ?? request.query.knowledge_base_id;
        if (id === undefined) throw invalid('body', 'knowledge_base_id', 'is needed: the base that takes the document');
        return take(request, reply, await readBase(deps, principalOf(request), uuidOf(id)));
      },
    });

    for (const [path, operationId] of [
      ['/knowledge-bases/:id/items', 'addKnowledgeItem'],
      ['/knowledge-bases/:id/items/from-document', 'addDocumentToKnowledgeBase'],
    ] as const) {
      app.post(path, {
        config: WRITE,
        bodyLimit: BODY_LIMIT,
        schema: {
          operationId,
          tags,
          summary: 'Add or replace a document of this base',
          description: UPLOAD,
          params: wire.idParams,
          querystring: wire.uploadQuery,
          body: wire.uploadBody,
          response,
        },
        handler: async (request, reply) =>
          take(request, reply, await readBase(deps, principalOf(request), uuidOf(request.params.id))),
      });
    }

    app.put('/documents/:id', {
      config: WRITE,
      bodyLimit: BODY_LIMIT,
      schema: {
        operationId: 'replaceDocument',
        tags,
        summary: 'Replace a document',
        description: UPLOAD,
        params: wire.idParams,
        querystring: wire.uploadQuery,
        body: wire.uploadBody,
        response,
      },
      handler: async (request, reply) => {
        const { base, document } = await readDocumentRow(deps, principalOf(request), uuidOf(request.params.id));
        return take(request, reply, base, document.id);
      },
    });

    app.get('/documents', {
      config: READ,
      schema: {
        operationId: 'listDocuments',
        tags,
        summary: 'List documents',
        description: 'Of one base or of all that the token may see, newest first.',
        querystring: wire.listDocumentsQuery,
        response: { 200: wire.listDocumentsReply },
      },
      handler: async (request) => {
        const principal = principalOf(request);
        const { knowledge_base_id: id, limit, cursor } = request.query;
        const bases =
          id === undefined || id === '%'
            ? await listBases(deps, principal)
            : [await readBase(deps, principal, uuidOf(id))];
        const found = await listDocuments(deps, bases, { before: uuidCursor(cursor), limit });
        return {
          documents: found.map(toDocument),
          next_cursor: found.length === limit ? found.at(-1)!.document.id : null,
        };
      },
    });

    app.get('/documents/:id', {
      config: READ,
      schema: {
        operationId: 'getDocument',
        tags,
        summary: 'Read what is known of a document',
        description: 'Its text is read by the items of its base.',
        params: wire.idParams,
        response: { 200: wire.documentSchema },
      },
      handler: async (request) =>
        toDocument(await readDocumentRow(deps, principalOf(request), uuidOf(request.params.id))),
    });

    app.delete('/documents/:id', {
      config: WRITE,
      schema: {
        operationId: 'deleteDocument',
        tags,
        summary: 'Delete a document',
        description: 'Nothing of it is left: no text, no word, no vector.',
        params: wire.idParams,
        response: { 200: wire.deletedDocument },
      },
      handler: (request, reply) => {
        const id = uuidOf(request.params.id);
        return once(
          deps,
          request,
          reply,
          (keyed) => deleteDocument(keyed, engine, principalOf(request), id, deps),
          (sections) => ({ status: 200, body: { id, status: 'deleted' as const, sections } }),
        );
      },
    });

    /** Answers with the document as it is now: its title and source are not kept under a key, since they go with it. */
    async function take(request: UploadRequest, reply: FastifyReply, base: Base, named?: string) {
      const principal = principalOf(request);
      const upload = toUpload(request, named);
      const { id, ...done } = await once(
        deps,
        request,
        reply,
        (keyed) => ingest(keyed, engine, principal, agentOf(request), base, upload, deps),
        ({ document, outcome }) => ({
          status: document.waiting > 0 ? 202 : outcome === 'created' ? 201 : 200,
          body: { id: document.id, outcome },
        }),
        { file: request.file?.bytes },
      );
      return { ...toDocument(await readDocumentRow(deps, principal, id)), ...done };
    }
  };

type UploadRequest = FastifyRequest & {
  readonly query: z.infer<typeof wire.uploadQuery>;
  readonly body: z.infer<typeof wire.uploadBody>;
};

function toUpload(request: UploadRequest, id: string | undefined): Upload {
  const { query, body, file } = request;
  if (!file && body.text === undefined)
    throw invalid('body', 'text', 'is needed, or the file itself as the body with its Content-Type');
  return {
    file: file ?? { type: body.content_type, bytes: Buffer.from(body.text ?? '') },
    title: body.title ?? query.title,
    source: body.source ?? query.source,
    occurredAt: toDate(body.occurred_at ?? query.occurred_at),
    id,
  };
}

/** Bodies that are files, here only. They stay out of `body`, whose fields are looked at one by one. */
function acceptFiles(app: Parameters<FastifyPluginAsyncZod>[0]): void {
  for (const type of DOCUMENT_TYPES) {
    app.addContentTypeParser(type, { parseAs: 'buffer' }, (request, bytes, done) => {
      const charset = /;\s*charset="?([\w.:-]{1,40})/i.exec(request.headers['content-type'] ?? '')?.[1];
      request.file = { type, bytes: bytes as Buffer, charset };
      done(null, {});
    });
  }
  app.addContentTypeParser('*', (_request, _payload, done) => {
    done(
      new ApiError(
        'unsupported_media_type',
        `a document is one of ${DOCUMENT_TYPES.join(', ')}, or JSON with its text`,
      ),
    );
  });
}

/** HTTP of documents: the file itself as the body, or JSON with its text. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import type { Deps } from '../deps.ts';
import { ApiError } from '../errors.ts';
import { agentOf, principalOf } from '../http/auth.ts';
import { idParams } from '../http/fields.ts';
import { once } from '../http/idempotency.ts';
import { targetOf } from '../http/target.ts';
import { withWarnings } from '../http/wire.ts';
import type { Principal } from '../types.ts';
import { listBases, readBase } from './bases.ts';
import { acceptFiles, toUpload, type UploadRequest } from './bodies.ts';
import { deleteDocument, listDocuments, readDocumentRow } from './documents.ts';
import type { Engine } from './engine.ts';
import { uuidCursor, uuidOf } from './ids.ts';
import { ingest, type Upload } from './ingest.ts';
import { MAX_FILE } from './read/index.ts';
import * as wire from './schema.ts';
import type { Base } from './store.ts';
import { deleteUpload, findUpload, keepUpload, uploadAgain } from './uploads.ts';
import { toDocument, toUploaded } from './wire.ts';

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
        if (id === undefined) return keep(request, reply);
        return take(request, reply, await readBase(deps, principalOf(request), uuidOf(id)));
      },
    });

    const toBase = {
      config: WRITE,
      bodyLimit: BODY_LIMIT,
      schema: {
        tags,
        summary: 'Add or replace a document of this base',
        description: UPLOAD,
        params: idParams,
        querystring: wire.uploadQuery,
        response,
      },
    };

    app.post('/knowledge-bases/:id/items', {
      ...toBase,
      schema: { ...toBase.schema, operationId: 'addKnowledgeItem', body: wire.uploadBody },
      handler: async (request, reply) =>
        take(request, reply, await readBase(deps, principalOf(request), uuidOf(request.params.id))),
    });

    app.post('/knowledge-bases/:id/items/from-document', {
      ...toBase,
      schema: {
        ...toBase.schema,
        operationId: 'addDocumentToKnowledgeBase',
        description: `${UPLOAD} Or name one that was sent before, by document_id.`,
        body: wire.fromDocumentBody,
      },
      handler: async (request, reply) => {
        const principal = principalOf(request);
        const base = await readBase(deps, principal, uuidOf(request.params.id));
        const { document_id: id, expected_document_version: version, title } = request.body;
        if (id === undefined) return take(request, reply, base);
        const upload = await findUpload(deps, principal, uuidOf(id));
        if (!upload) return alreadyIn(request, reply, base, uuidOf(id));
        if (version !== undefined && version !== 1) throw new ApiError('conflict', 'the document has version 1');
        const again = await uploadAgain(deps, principal, upload);
        return send(request, reply, base, { ...again, title: title ?? again.title });
      },
    });

    app.put('/documents/:id', {
      config: WRITE,
      bodyLimit: BODY_LIMIT,
      schema: {
        operationId: 'replaceDocument',
        tags,
        summary: 'Replace a document',
        description: UPLOAD,
        params: idParams,
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
        params: idParams,
        response: { 200: wire.documentSchema },
      },
      handler: async (request) => read(principalOf(request), uuidOf(request.params.id)),
    });

    app.delete('/documents/:id', {
      config: WRITE,
      schema: {
        operationId: 'deleteDocument',
        tags,
        summary: 'Delete a document',
        description: 'Nothing of it is left: no text, no word, no vector.',
        params: idParams,
        response: { 200: wire.deletedDocument },
      },
      handler: async (request, reply) => {
        const id = uuidOf(request.params.id);
        const principal = principalOf(request);
        const waits = await findUpload(deps, principal, id);
        return once(
          deps,
          request,
          reply,
          (keyed): Promise<number | boolean> =>
            waits ? deleteUpload(keyed, principal, id) : deleteDocument(keyed, engine, principal, id, deps),
          (gone) => ({
            status: 200,
            body: { id, status: 'deleted' as const, sections: typeof gone === 'number' ? gone : 0 },
          }),
        );
      },
    });

    /** One that waits for a base, or is in one. */
    async function read(principal: Principal, id: string) {
      const waiting = await findUpload(deps, principal, id);
      return waiting ? toUploaded(waiting) : toDocument(await readDocumentRow(deps, principal, id));
    }

    async function keep(request: UploadRequest & { readonly body: Into }, reply: FastifyReply) {
      const principal = principalOf(request);
      const target = targetOf(principal, request.body);
      const { id, ...done } = await once(
        deps,
        request,
        reply,
        (keyed) => keepUpload(keyed, principal, agentOf(request), target, toUpload(request)),
        ({ id }) => ({ status: 201, body: { id, outcome: 'created' as const } }),
        { file: request.file?.bytes },
      );
      return { ...(await read(principal, id)), ...done };
    }

    /** @throws ApiError not_found, conflict */
    async function alreadyIn(request: FastifyRequest, reply: FastifyReply, base: Base, id: string) {
      const placed = await readDocumentRow(deps, principalOf(request), id);
      if (placed.base.id !== base.id)
        throw new ApiError('conflict', 'the document is in another base: send the file to this one');
      return reply.send(withWarnings(request, { ...toDocument(placed), outcome: 'unchanged' as const }));
    }

    const take = (request: UploadRequest, reply: FastifyReply, base: Base, id?: string) =>
      send(request, reply, base, toUpload(request, id));

    /** Answers with the document as it is now: its title and source are not kept under a key, since they go with it. */
    async function send(request: FastifyRequest, reply: FastifyReply, base: Base, upload: Upload) {
      const principal = principalOf(request);
      const { id, ...done } = await once(
        deps,
        request,
        reply,
        (keyed) => ingest({ deps: keyed, outside: deps, engine, principal, agent: agentOf(request), base }, upload),
        ({ document, outcome }) => ({
          status: document.waiting > 0 ? 202 : outcome === 'created' ? 201 : 200,
          body: { id: document.id, outcome },
        }),
        { file: request.file?.bytes },
      );
      return { ...toDocument(await readDocumentRow(deps, principal, id)), ...done };
    }
  };

type Into = Pick<z.infer<typeof wire.documentBody>, 'team_id' | 'bucket' | 'scope'>;

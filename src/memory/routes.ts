/** HTTP of a memory's life. */
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import { assertInside, assertTeam, spacesOf } from '../db/boundary.ts';
import { findById } from '../db/memories.ts';
import { findSpaces } from '../db/spaces.ts';
import type { Deps } from '../deps.ts';
import { ApiError, invalid } from '../errors.ts';
import { agentOf, principalOf } from '../http/auth.ts';
import { assertContent, normalisePath, toDate } from '../http/fields.ts';
import { memorySchema, toWire } from '../http/wire.ts';
import { forget } from './forget.ts';
import { type RememberInput, remember } from './remember.ts';
import { forgetBody, forgetReply, idParams, rememberBody, rememberReply } from './schema.ts';

export const memoryRoutes =
  (deps: Deps): FastifyPluginAsyncZod =>
  async (app) => {
    app.post('/remember', {
      config: { scopes: ['memory:write', 'temporary:write'] },
      schema: {
        operationId: 'remember',
        tags: ['memory'],
        summary: 'Store a memory',
        description:
          'Found by every read from the moment of the reply. 201: stored. 200: a new version under its semantic key, or the same text was there.',
        body: rememberBody,
        response: { 200: rememberReply, 201: rememberReply },
      },
      handler: async (request, reply) => {
        const input = toInput(request, request.body);
        const written = await remember(deps, principalOf(request), agentOf(request, request.body), input);
        return reply.code(written.outcome === 'created' ? 201 : 200).send({
          id: written.id,
          memory_id: written.id,
          status: 'active',
          outcome: written.outcome,
          memory_type: written.memoryType,
          version: written.version,
          created_at: written.created_at.toISOString(),
          updated_at: written.updated_at.toISOString(),
          ...(request.warnings.length > 0 && { warnings: request.warnings }),
        });
      },
    });

    app.get('/memories/:id', {
      config: { scopes: ['memory:read'] },
      schema: {
        operationId: 'getMemory',
        tags: ['memory'],
        summary: 'Read one memory',
        description:
          'Whole content. 404 when there is none that this token may see: forgotten, expired and foreign ids are the same.',
        params: idParams,
        response: { 200: memorySchema },
      },
      handler: async (request) => {
        const principal = principalOf(request);
        const spaces = await findSpaces(deps.db, spacesOf(principal));
        const id = uuidOf(request.params.id);
        const row = await deps.db.transaction({ spaces, readOnly: true }, (tx) =>
          findById(tx, spaces, id, principal, deps.now()),
        );
        if (!row) throw new ApiError('not_found');
        return toWire(row, agentOf(request));
      },
    });

    app.post('/memories/:id/forget', {
      config: { scopes: ['memory:delete', 'memory:write'] },
      schema: {
        operationId: 'forget',
        tags: ['memory'],
        summary: 'Forget a memory',
        description: 'From the moment of the reply it is in no read, list or count.',
        params: idParams,
        body: forgetBody,
        response: { 200: forgetReply },
      },
      handler: async (request) => {
        const { mode, bucket, scope } = request.body;
        const any = (value: string | undefined) => (value === '%' ? undefined : value);
        const done = await forget(deps, principalOf(request), {
          id: uuidOf(request.params.id),
          mode,
          bucket: any(bucket),
          scope: any(scope),
        });
        return {
          id: done.id,
          memory_id: done.id,
          status: 'deleted' as const,
          mode: done.mode,
          forgotten_at: done.at.toISOString(),
          ...(request.warnings.length > 0 && { warnings: request.warnings }),
        };
      },
    });
  };

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Ids are opaque to callers: one that cannot be ours names no memory. @throws ApiError not_found */
function uuidOf(id: string): string {
  if (!UUID.test(id)) throw new ApiError('not_found');
  return id.toLowerCase();
}

function toInput(request: FastifyRequest, body: z.infer<typeof rememberBody>): RememberInput {
  const principal = principalOf(request);
  assertContent(body.content);
  if (body.bucket === '%') throw invalid('body', 'bucket', '% stands for all buckets and cannot be written to');
  if (body.team_id !== undefined) assertTeam(principal, body.team_id);
  assertInside(principal, body);
  if (principal.scopes && body.scope === undefined)
    throw new ApiError('boundary_denied', 'the token may only write with one of its scopes: name it in scope');
  const path = normalisePath(body.path ?? body.logic_path ?? '');
  const { device_id, device_label } = body;
  return {
    content: body.content,
    team: body.team_id,
    bucket: body.bucket,
    scope: body.scope ?? null,
    path: path === '' ? null : path,
    memoryType: body.memory_type,
    semanticKey: body.semantic_key ?? null,
    dedupe: body.dedupe,
    importance: body.importance ?? null,
    confidence: body.confidence ?? null,
    source: body.source ?? null,
    author: body.author ?? null,
    sessionId: body.session_id ?? null,
    position: body.position ?? null,
    metadata: body.metadata ?? {},
    provenance: {
      ...body.provenance,
      ...(device_id !== undefined && { device_id }),
      ...(device_label !== undefined && { device_label }),
    },
    occurredAt: toDate(body.occurred_at) ?? null,
    expiresAt: toDate(body.expires_at) ?? null,
  };
}

/** HTTP of changing memories; forgetting stands in routes-forget.ts. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import type { Deps } from '../deps.ts';
import { invalid } from '../errors.ts';
import { agentOf, principalOf } from '../http/auth.ts';
import { assertContent, idParams, normalisePath, toDate, uuidOf } from '../http/fields.ts';
import { once } from '../http/idempotency.ts';
import { ignoreEmpty } from '../http/input.ts';
import { toWire } from '../http/wire.ts';
import { memoryAt } from './explain.ts';
import { forget } from './forget.ts';
import type { MemoryLinks } from './links.ts';
import { restore } from './restore.ts';
import { toForget, toForgotten } from './routes-forget.ts';
import { patchBody, patchReply, restoreBody, restoreReply, usageBody, usageReply } from './schema-life.ts';
import { type Changes, update } from './update.ts';
import { markUsed } from './usage.ts';
import { toWireUsage } from './wire.ts';

export const changeRoutes =
  (deps: Deps, links: MemoryLinks): FastifyPluginAsyncZod =>
  async (app) => {
    const tags = ['memory'];
    ignoreEmpty(app, ['context', 'reason', 'usage_tracking_id']);

    app.patch('/memories/:id', {
      config: { scopes: ['memory:write'] },
      schema: {
        operationId: 'updateMemory',
        tags,
        summary: 'Change a memory',
        description:
          'What is not given, or null, stays. Each change is a new version. With If-Match (the ETag of the memory) it is made only if nobody was faster: 409 otherwise.',
        params: idParams,
        body: patchBody,
        response: { 200: patchReply },
      },
      handler: async (request, reply) => {
        const id = uuidOf(request.params.id);
        if (request.body.status === 'deleted') return forgetByStatus(request, reply, id, request.body);
        const changes = toChanges(request.body);
        const done = await once(
          deps,
          request,
          reply,
          (deps) => update(deps, principalOf(request), id, changes, ifMatch(request)),
          (body) => ({ status: 200, body }),
        );
        const row = await memoryAt(deps, principalOf(request), id, done.version);
        reply.header('etag', `"${row.version}"`);
        return { ...toWire(row, agentOf(request)), ...done, conflicts: done.conflicts && [...done.conflicts] };
      },
    });

    app.post('/memories/:id/restore', {
      config: { scopes: ['memory:restore', 'memory:write'] },
      schema: {
        operationId: 'restoreMemory',
        tags,
        summary: 'Take a soft deletion back',
        description:
          'The memory is as it was, as a new version. 409 when it was redacted, has expired, or its semantic key is taken by now.',
        params: idParams,
        body: restoreBody,
        response: { 200: restoreReply },
      },
      handler: async (request, reply) => {
        const id = uuidOf(request.params.id);
        const done = await once(
          deps,
          request,
          reply,
          (deps) => restore(deps, principalOf(request), id, request.body.reason ?? null),
          (body) => ({ status: 200, body }),
        );
        const row = await memoryAt(deps, principalOf(request), id, done.version);
        return { ...done, ...toWire(row, agentOf(request)) };
      },
    });

    app.post('/memories/:id/usage', {
      config: { scopes: ['memory:read', 'memory:write'] },
      schema: {
        operationId: 'markUsed',
        tags,
        summary: 'Say that a memory was of use',
        description: 'Raises its standing a little, in few steps and up to a bound; explain shows it.',
        params: idParams,
        body: usageBody,
        response: { 200: usageReply },
      },
      handler: (request, reply) => {
        const id = uuidOf(request.params.id);
        const { usage_tracking_id: trackingId = null, context = null } = request.body;
        return once(
          deps,
          request,
          reply,
          (deps) => markUsed(deps, principalOf(request), id, { trackingId, context }),
          (usage) => ({
            status: 200,
            body: { id, memory_id: id, action: 'used' as const, ...toWireUsage(usage) },
          }),
        );
      },
    });

    async function forgetByStatus(
      request: FastifyRequest,
      reply: FastifyReply,
      id: string,
      body: z.infer<typeof patchBody>,
    ) {
      const { status: _, merge_metadata, merge_provenance, detect_conflicts, idempotency_key, ...changes } = body;
      if (Object.values(changes).some((value) => value !== undefined)) {
        throw invalid('body', 'status', 'deleted stands alone: make other changes before, or none');
      }
      const { warnings } = await once(
        deps,
        request,
        reply,
        (deps) => forget(deps, links, principalOf(request), toForget(id, { mode: 'soft_delete' })),
        (receipt) => ({ status: 200, body: toForgotten(receipt) }),
      );
      return { id, memory_id: id, status: 'deleted' as const, ...(warnings && { warnings }) };
    }
  };

function toChanges(body: z.infer<typeof patchBody>): Changes {
  const {
    merge_metadata: mergeMetadata,
    merge_provenance: mergeProvenance,
    detect_conflicts: detectConflicts,
    idempotency_key: _,
    ...given
  } = body;
  if (Object.values(given).every((value) => value === undefined))
    throw invalid('body', 'body', 'names nothing to change', 'missing');
  if (given.content !== undefined) assertContent(given.content);
  if (given.bucket === '%' || given.scope === '%')
    throw invalid('body', given.bucket === '%' ? 'bucket' : 'scope', '% stands for all and cannot be written to');
  const { team_id: team, memory_type, status, path, occurred_at, expires_at, ...rest } = given;
  return {
    ...rest,
    team,
    memory_type: memory_type === 'auto' || memory_type === '%' ? undefined : memory_type,
    status: status === 'active' || status === 'archived' ? status : undefined,
    path: path === undefined ? undefined : normalisePath(path) || null,
    occurred_at: toDate(occurred_at),
    expires_at: toDate(expires_at),
    mergeMetadata,
    mergeProvenance,
    detectConflicts,
  };
}

/** The version in If-Match; `*` and nothing mean any. @throws ApiError validation_error */
function ifMatch(request: FastifyRequest): number | undefined {
  const header = request.headers['if-match'];
  if (header === undefined || header === '*') return undefined;
  const version = /^(?:W\/)?"?(\d{1,9})"?$/.exec(header)?.[1];
  if (version === undefined) throw invalid('header', 'If-Match', 'must be the ETag of the memory, like "3"');
  return Number(version);
}

/** HTTP of changing and forgetting memories. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import type { Deps } from '../deps.ts';
import { invalid } from '../errors.ts';
import { agentOf, principalOf } from '../http/auth.ts';
import { assertContent, normalisePath, toDate, toFilters, uuidOf } from '../http/fields.ts';
import { once } from '../http/idempotency.ts';
import { toWire } from '../http/wire.ts';
import { memoryAt } from './explain.ts';
import { type ForgetInput, forget } from './forget.ts';
import { forgetMany } from './forget-many.ts';
import type { RecallLinks } from './links.ts';
import { restore } from './restore.ts';
import { forgetBody, forgetReply, idParams } from './schema.ts';
import {
  forgetManyBody,
  forgetManyReply,
  patchBody,
  patchReply,
  restoreBody,
  restoreReply,
  usageBody,
  usageReply,
} from './schema-life.ts';
import { type Changes, update } from './update.ts';
import { markUsed } from './usage.ts';
import { any, toWireReceipt, toWireUsage } from './wire.ts';

export const changeRoutes =
  (deps: Deps, links: RecallLinks): FastifyPluginAsyncZod =>
  async (app) => {
    const tags = ['memory'];

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

    app.post('/memories/:id/forget', {
      config: { scopes: ['memory:delete', 'memory:write'] },
      schema: {
        operationId: 'forget',
        tags,
        summary: 'Forget a memory',
        description:
          'From the moment of the reply it is in no read, list or count. The receipt says what was checked; it is written only when no path finds the text any more.',
        params: idParams,
        body: forgetBody,
        response: { 200: forgetReply },
      },
      handler: (request, reply) => forgetOnce(request, reply, toForget(uuidOf(request.params.id), request.body)),
    });

    app.post('/memories/forget', {
      config: { scopes: ['memory:delete', 'memory:write'] },
      schema: {
        operationId: 'forgetMany',
        tags,
        summary: 'Forget all memories that match',
        description: 'All of them or none, without a cap. Each has its receipt. Try it with dry_run=true first.',
        body: forgetManyBody,
        response: { 200: forgetManyReply },
      },
      handler: (request, reply) => {
        const { all, mode, reason = null, dry_run: dryRun, team_id } = request.body;
        const input = { filters: toFilters(request.body), team: any(team_id), all, mode, reason, dryRun };
        return once(
          deps,
          request,
          reply,
          (deps) => forgetMany(deps, principalOf(request), input),
          ({ count, at }) => ({
            status: 200,
            body: {
              id: request.id,
              status: dryRun ? ('dry_run' as const) : ('deleted' as const),
              mode,
              count,
              forgotten_at: dryRun ? null : at.toISOString(),
            },
          }),
        );
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

    function forgetOnce(request: FastifyRequest, reply: FastifyReply, input: ForgetInput) {
      return once(
        deps,
        request,
        reply,
        (deps) => forget(deps, links, principalOf(request), input),
        (receipt) => ({
          status: 200,
          body: {
            id: receipt.memory_id,
            memory_id: receipt.memory_id,
            status: receipt.mode === 'redact' ? ('redacted' as const) : ('deleted' as const),
            mode: receipt.mode,
            forgotten_at: receipt.forgotten_at.toISOString(),
            receipt: toWireReceipt(receipt),
          },
        }),
      );
    }

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
      const { warnings } = (await forgetOnce(request, reply, toForget(id, { mode: 'soft_delete' }))) as {
        warnings?: string[];
      };
      return { id, memory_id: id, status: 'deleted' as const, ...(warnings && { warnings }) };
    }
  };

function toForget(
  id: string,
  body: Partial<z.infer<typeof forgetBody>> & Pick<z.infer<typeof forgetBody>, 'mode'>,
): ForgetInput {
  const { mode, reason = null, replacement_content: replacement, bucket, scope } = body;
  if (replacement !== undefined && mode !== 'redact')
    throw invalid('body', 'replacement_content', 'goes with mode redact only');
  if (replacement !== undefined) assertContent(replacement);
  return { id, mode, reason, replacement, bucket: any(bucket), scope: any(scope) };
}

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

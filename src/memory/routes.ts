/** HTTP of storing and reading memories. */
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import { assertInside, assertTeam } from '../db/boundary.ts';
import type { Deps } from '../deps.ts';
import { ApiError, invalid } from '../errors.ts';
import { agentOf, principalOf } from '../http/auth.ts';
import { assertContent, normalisePath, toDate, toFilters } from '../http/fields.ts';
import { once } from '../http/idempotency.ts';
import { memorySchema, toWire } from '../http/wire.ts';
import { explain, versionsOf, withMemory } from './explain.ts';
import type { RecallLinks } from './links.ts';
import { list } from './list.ts';
import { readReceipt } from './receipt.ts';
import { type RememberInput, remember } from './remember.ts';
import { changeRoutes } from './routes-change.ts';
import { transferRoutes } from './routes-transfer.ts';
import { idParams, receiptSchema, rememberBody, rememberReply } from './schema.ts';
import {
  explainQuery,
  explainReply,
  listQuery,
  listReply,
  statsQuery,
  statsReply,
  versionsQuery,
  versionsReply,
} from './schema-life.ts';
import { stats } from './stats.ts';
import { any, toWireReceipt, toWireUsage, toWireVersion, uuidOf } from './wire.ts';

export const memoryRoutes =
  (deps: Deps, links: RecallLinks): FastifyPluginAsyncZod =>
  async (app) => {
    const tags = ['memory'];
    const read = { scopes: ['memory:read' as const] };
    const named = (request: FastifyRequest) => (request.warnings.length > 0 ? { warnings: request.warnings } : {});

    app.post('/remember', {
      config: { scopes: ['memory:write'] },
      schema: {
        operationId: 'remember',
        tags,
        summary: 'Store a memory',
        description:
          'Found by every read from the moment of the reply. 201: stored. 200: a new version under its semantic key, or the same was there. A text that is an answer of recall is refused with `recalled_text`.',
        body: rememberBody,
        response: { 200: rememberReply, 201: rememberReply },
      },
      handler: (request, reply) =>
        once(
          deps,
          request,
          reply,
          (deps) =>
            remember(deps, principalOf(request), agentOf(request, request.body), toInput(request, request.body)),
          (written) => ({
            status: written.outcome === 'created' ? 201 : 200,
            body: {
              id: written.id,
              memory_id: written.id,
              status: 'active' as const,
              outcome: written.outcome,
              memory_type: written.memoryType,
              version: written.version,
              created_at: written.created_at.toISOString(),
              updated_at: written.updated_at.toISOString(),
            },
          }),
        ),
    });

    app.get('/memories', {
      config: read,
      schema: {
        operationId: 'listMemories',
        tags,
        summary: 'List memories',
        description: 'Newest arrival first. `next_cursor` neither skips nor repeats when others write meanwhile.',
        querystring: listQuery,
        response: { 200: listReply },
      },
      handler: async (request) => {
        const { limit, offset, cursor } = request.query;
        const asked = { filters: toFilters(request.query), team: any(request.query.team_id), limit, offset, cursor };
        const { rows, total, next } = await list(deps, principalOf(request), asked);
        const items = rows.map((row) => toWire(row, agentOf(request)));
        return { items, memories: items, total, limit, offset, next_cursor: next, ...named(request) };
      },
    });

    app.get('/memories/stats', {
      config: read,
      schema: {
        operationId: 'memoryStats',
        tags,
        summary: 'Count memories',
        description: 'What this token may see; nothing that is forgotten or expired.',
        querystring: statsQuery,
        response: { 200: statsReply },
      },
      handler: async (request) => {
        const { group_by: groupBy, top_n: topN } = request.query;
        const counted = await stats(deps, principalOf(request), {
          filters: toFilters(request.query),
          team: any(request.query.team_id),
          groupBy,
          topN,
        });
        return {
          total_count: counted.total,
          filtered_count: counted.filtered,
          scanned_count: counted.total,
          latest_at: counted.latest?.toISOString() ?? null,
          oldest_at: counted.oldest?.toISOString() ?? null,
          type_counts: counted.types,
          status_counts: counted.statuses,
          bucket_counts: counted.buckets,
          groups: counted.groups.map(({ key, count }) => ({ group_by: { [groupBy ?? '']: key }, count })),
          ...named(request),
        };
      },
    });

    app.get('/memories/:id', {
      config: read,
      schema: {
        operationId: 'getMemory',
        tags,
        summary: 'Read one memory',
        description:
          'Whole content; its version is the ETag. 404 when there is none that this token may see: forgotten, expired and foreign ids are the same.',
        params: idParams,
        response: { 200: memorySchema },
      },
      handler: async (request, reply) => {
        const row = await withMemory(
          deps,
          principalOf(request),
          { id: uuidOf(request.params.id) },
          async (_tx, row) => row,
        );
        reply.header('etag', `"${row.version}"`);
        return toWire(row, agentOf(request));
      },
    });

    app.get('/memories/:id/explain', {
      config: read,
      schema: {
        operationId: 'explainMemory',
        tags,
        summary: 'Why is it there, why was it found',
        params: idParams,
        querystring: explainQuery,
        response: { 200: explainReply },
      },
      handler: async (request) => {
        const { query, include_embedding: includeEmbedding, bucket, scope, team_id } = request.query;
        const which = { id: uuidOf(request.params.id), bucket: any(bucket), scope: any(scope), team: any(team_id) };
        const found = await explain(deps, links, principalOf(request), which, { query, includeEmbedding });
        const memory = toWire(found.row, agentOf(request));
        return {
          ...memory,
          memory,
          versions: found.versions.map((version) => toWireVersion(version, agentOf(request))),
          usage: toWireUsage(found.usage),
          match: found.match,
          embedding: found.embedding?.map((passage) => ({ ...passage, vector: [...passage.vector] })) ?? null,
          ...named(request),
        };
      },
    });

    app.get('/memories/:id/versions', {
      config: read,
      schema: {
        operationId: 'listVersions',
        tags,
        summary: 'All versions of a memory',
        description: 'What it said, and when it was so. Redaction and hard deletion reach every version.',
        params: idParams,
        querystring: versionsQuery,
        response: { 200: versionsReply },
      },
      handler: async (request) => {
        const id = uuidOf(request.params.id);
        const versions = await versionsOf(deps, principalOf(request), id, {
          limit: request.query.limit,
          before: request.query.before,
        });
        const last = versions.at(-1);
        return {
          id,
          memory_id: id,
          versions: versions.map((version) => toWireVersion(version, agentOf(request))),
          next_before: versions.length === request.query.limit && last && last.version > 1 ? last.version : null,
          ...named(request),
        };
      },
    });

    app.get('/memories/:id/receipt', {
      config: { scopes: ['memory:read', 'memory:delete', 'memory:write'] },
      schema: {
        operationId: 'forgetReceipt',
        tags,
        summary: 'The receipt of a forgotten memory',
        description: 'What was forgotten when, and that no path found it. Holds no text; outlives the memory.',
        params: idParams,
        response: { 200: receiptSchema },
      },
      handler: async (request) =>
        toWireReceipt(await readReceipt(deps, principalOf(request), uuidOf(request.params.id))),
    });

    await app.register(changeRoutes(deps, links));
    await app.register(transferRoutes(deps));
  };

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
    allowRecalled: body.allow_recalled,
  };
}

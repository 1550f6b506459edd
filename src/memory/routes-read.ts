/** HTTP of reading memories. */
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { Deps } from '../deps.ts';
import { agentOf, principalOf } from '../http/auth.ts';
import { filterOf, idParams, toDate, toFilters, uuidOf } from '../http/fields.ts';
import { memorySchema, toWire, withWarnings } from '../http/wire.ts';
import { explain, versionsOf, withMemory } from './explain.ts';
import type { RecallLinks } from './links.ts';
import { list } from './list.ts';
import { readReceipt } from './receipt.ts';
import { receiptSchema } from './schema.ts';
import { explainQuery, explainReply, versionsQuery, versionsReply } from './schema-life.ts';
import { listQuery, listReply, statsQuery, statsReply } from './schema-many.ts';
import { stats } from './stats.ts';
import { toWireContexts, toWireReceipt, toWireUsage, toWireVersion } from './wire.ts';

export const readRoutes =
  (deps: Deps, links: RecallLinks): FastifyPluginAsyncZod =>
  async (app) => {
    const tags = ['memory'];
    const read = { scopes: ['memory:read' as const] };

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
        const asked = {
          filters: toFilters(request.query),
          team: filterOf(request.query.team_id),
          ...{ limit, offset, cursor },
          asOf: toDate(request.query.as_of),
        };
        const { rows, total, next } = await list(deps, principalOf(request), asked);
        const items = rows.map((row) => toWire(row, agentOf(request)));
        return withWarnings(request, { items, memories: items, total, limit, offset, next_cursor: next });
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
          team: filterOf(request.query.team_id),
          groupBy,
          topN,
        });
        return withWarnings(request, {
          total_count: counted.total,
          filtered_count: counted.filtered,
          scanned_count: counted.total,
          latest_at: counted.latest?.toISOString() ?? null,
          oldest_at: counted.oldest?.toISOString() ?? null,
          type_counts: counted.types,
          status_counts: counted.statuses,
          bucket_counts: counted.buckets,
          groups: counted.groups.map(({ by, count }) => ({ group_by: { ...by }, count })),
        });
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
        const which = {
          id: uuidOf(request.params.id),
          bucket: filterOf(bucket),
          scope: filterOf(scope),
          team: filterOf(team_id),
        };
        const found = await explain(deps, links, principalOf(request), which, { query, includeEmbedding });
        const memory = toWire(found.row, agentOf(request));
        return withWarnings(request, {
          ...memory,
          memory,
          versions: found.versions.map((version) => toWireVersion(version, agentOf(request))),
          usage: { ...toWireUsage(found.usage), contexts: toWireContexts(found.contexts) },
          match: found.match,
          embedding: found.embedding?.map((passage) => ({ ...passage, vector: [...passage.vector] })) ?? null,
        });
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
        const { versions, next } = await versionsOf(deps, principalOf(request), id, {
          limit: request.query.limit,
          before: request.query.before,
        });
        return withWarnings(request, {
          id,
          memory_id: id,
          versions: versions.map((version) => toWireVersion(version, agentOf(request))),
          next_before: next,
        });
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
  };

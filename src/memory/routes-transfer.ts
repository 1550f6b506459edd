/** HTTP of export and import. */
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { Deps } from '../deps.ts';
import { invalid } from '../errors.ts';
import { principalOf } from '../http/auth.ts';
import { filterOf, toFilters } from '../http/fields.ts';
import { once } from '../http/idempotency.ts';
import { withWarnings } from '../http/wire.ts';
import { exportMemories } from './export.ts';
import { importMemories } from './import.ts';
import { exportBody, exportReply, importBody, importReply } from './schema-many.ts';

export const transferRoutes =
  (deps: Deps): FastifyPluginAsyncZod =>
  async (app) => {
    app.post('/memories/export', {
      config: { scopes: ['memory:read'] },
      schema: {
        operationId: 'exportMemories',
        tags: ['memory'],
        summary: 'Export memories',
        description: 'JSON lines in the order of arrival. Imported into an empty owner they give the same packs.',
        body: exportBody,
        response: { 200: exportReply },
      },
      handler: async (request) => {
        const { limit, cursor, team_id } = request.body;
        const asked = { filters: toFilters(request.body), team: filterOf(team_id), limit, cursor };
        const { jsonl, count, next } = await exportMemories(deps, principalOf(request), asked);
        return withWarnings(request, { jsonl, count, next_cursor: next });
      },
    });

    app.post('/memories/import', {
      config: { scopes: ['memory:write'] },
      schema: {
        operationId: 'importMemories',
        tags: ['memory'],
        summary: 'Import memories',
        description:
          'A page is stored whole or not at all: a broken line is a 422 that names it, an id or semantic key that is taken a 409. Follow next_cursor until it is null.',
        body: importBody,
        response: { 200: importReply },
      },
      handler: (request, reply) => {
        const { jsonl, team_id, bucket, scope = null, limit, cursor, dry_run: dryRun } = request.body;
        if (bucket === '%' || scope === '%')
          throw invalid('body', bucket === '%' ? 'bucket' : 'scope', '% stands for all and cannot be written to');
        const input = { jsonl, team: filterOf(team_id), bucket, scope, limit, cursor, dryRun };
        return once(
          deps,
          request,
          reply,
          (deps) => importMemories(deps, principalOf(request), input),
          ({ imported, skipped, next }) => ({
            status: 200,
            body: {
              id: request.id,
              status: dryRun ? ('dry_run' as const) : ('imported' as const),
              imported,
              skipped,
              next_cursor: next,
              dry_run: dryRun,
            },
          }),
          { page: cursor },
        );
      },
    });
  };

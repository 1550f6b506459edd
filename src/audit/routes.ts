/** HTTP of the audit trail. */
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import { assertInside } from '../db/boundary.ts';
import type { Deps } from '../deps.ts';
import { principalOf } from '../http/auth.ts';
import { filterOf, toDate } from '../http/fields.ts';
import { readEvents } from './events.ts';
import { CONSOLIDATIONS, consolidationQuery, consolidationReply, eventsQuery, eventsReply } from './schema.ts';

const READ = { scopes: ['audit:read', 'memory:admin'] as const };

export const auditRoutes =
  (deps: Deps): FastifyPluginAsyncZod =>
  async (app) => {
    app.get('/audit/events', {
      config: READ,
      schema: {
        operationId: 'auditEvents',
        tags: ['access'],
        summary: 'Who did what',
        description:
          'Writes, forgets, changes of tokens and teams, and denied requests of the owner, newest first, without any content. A token that is narrowed to buckets or scopes sees what it did itself.',
        querystring: eventsQuery,
        response: { 200: eventsReply },
      },
      handler: async (request) => {
        const { action, target_id, outcome } = request.query;
        const { events, next } = await readEvents(deps, principalOf(request), {
          ...toPage(request.query),
          actions: action === undefined || action === '%' ? undefined : [action],
          target: target_id,
          outcome: filterOf(outcome),
        });
        return {
          events: events.map(({ bucket: _, scope: __, ...event }) => ({
            ...event,
            created_at: event.created_at.toISOString(),
          })),
          next_cursor: next,
        };
      },
    });

    app.get('/audit/consolidation', {
      config: READ,
      schema: {
        operationId: 'auditConsolidation',
        tags: ['access'],
        summary: 'What the service did to memories of its own accord',
        description:
          'Merges of near-duplicates, and what was deleted because its time had come. Newest first, without any content. A token sees its own buckets and scopes.',
        querystring: consolidationQuery,
        response: { 200: consolidationReply },
      },
      handler: async (request) => {
        const { action_type = '%', bucket, scope } = request.query;
        assertInside(principalOf(request), { bucket: filterOf(bucket), scope: filterOf(scope) });
        const types = CONSOLIDATIONS.filter((type) => action_type === '%' || action_type === type);
        const { events, next } = await readEvents(deps, principalOf(request), {
          ...toPage(request.query),
          actions: types.map((type) => `memory.${type}`),
          target: undefined,
          outcome: 'done',
          bucket: filterOf(bucket),
          scope: filterOf(scope),
        });
        return {
          events: events.map(({ id, action, target_id, bucket, scope, created_at }) => ({
            id,
            action_type: action.slice('memory.'.length) as (typeof CONSOLIDATIONS)[number],
            action,
            target_id,
            bucket,
            scope,
            created_at: created_at.toISOString(),
          })),
          next_cursor: next,
        };
      },
    });
  };

const toPage = ({
  since,
  until,
  limit,
  cursor,
  offset,
}: Pick<z.infer<typeof eventsQuery>, 'since' | 'until' | 'limit' | 'cursor' | 'offset'>) => ({
  since: toDate(since),
  until: toDate(until),
  limit,
  cursor,
  offset,
});

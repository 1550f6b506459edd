/** HTTP of the audit trail. */
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { Deps } from '../deps.ts';
import { principalOf } from '../http/auth.ts';
import { toDate } from '../http/fields.ts';
import { readEvents } from './events.ts';
import { eventsQuery, eventsReply } from './schema.ts';

export const auditRoutes =
  (deps: Deps): FastifyPluginAsyncZod =>
  async (app) => {
    app.get('/audit/events', {
      config: { scopes: ['audit:read', 'memory:admin'] },
      schema: {
        operationId: 'auditEvents',
        tags: ['access'],
        summary: 'Who did what',
        description:
          'Writes, forgets, changes of tokens and teams, and denied requests of the owner, newest first, without any content.',
        querystring: eventsQuery,
        response: { 200: eventsReply },
      },
      handler: async (request) => {
        const { action, target_id, outcome, since, until, limit, cursor } = request.query;
        const { events, next } = await readEvents(deps, principalOf(request).owner, {
          action: action === '%' ? undefined : action,
          target: target_id,
          outcome: outcome === '%' ? undefined : outcome,
          since: toDate(since),
          until: toDate(until),
          limit,
          cursor,
        });
        return {
          events: events.map((event) => ({ ...event, created_at: event.created_at.toISOString() })),
          next_cursor: next,
        };
      },
    });
  };

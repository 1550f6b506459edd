/** HTTP of the two views on the whole account. */
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { spacesOf } from '../db/boundary.ts';
import { findSpaces } from '../db/spaces.ts';
import type { Deps } from '../deps.ts';
import { principalOf } from '../http/auth.ts';
import { activityQuery, activityReply, overviewReply } from './schema.ts';
import { latestChanges, overview } from './store.ts';

const RECENT_MS = 30 * 86_400_000;
const BYTES_A_TOKEN = 4;

/** Characters of a summary line. */
const SUMMARY = 120;

export const accountRoutes =
  (deps: Deps): FastifyPluginAsyncZod =>
  async (app) => {
    const config = { scopes: ['memory:read' as const] };

    app.get('/me/overview', {
      config,
      schema: {
        operationId: 'overview',
        tags: ['operation'],
        summary: 'Counts of the account',
        response: { 200: overviewReply },
      },
      handler: async (request) => {
        const principal = principalOf(request);
        const now = deps.now();
        const spaces = await findSpaces(deps.db, spacesOf(principal));
        const counted = await deps.db.transaction({ spaces, readOnly: true }, (tx) =>
          overview(tx, spaces, principal, now, new Date(now.getTime() - RECENT_MS)),
        );
        return {
          memories_total: counted.active + counted.archived,
          memories_active: counted.active,
          memories_archived: counted.archived,
          memories_forgotten: counted.forgotten,
          agents_active: counted.agents,
          storage_mb: Math.round(counted.bytes / 10_000) / 100,
          tokens_30d: Math.round(counted.recent_bytes / BYTES_A_TOKEN),
        };
      },
    });

    app.get('/me/activity', {
      config,
      schema: {
        operationId: 'activity',
        tags: ['operation'],
        summary: 'What changed last',
        description: 'Memories, work and, with `ledger:read`, the ledger; latest first.',
        querystring: activityQuery,
        response: { 200: activityReply },
      },
      handler: async (request) => {
        const principal = principalOf(request);
        const spaces = await findSpaces(deps.db, spacesOf(principal));
        const ledger = principal.tokenScopes.has('ledger:read');
        const { rows, total } = await deps.db.transaction({ spaces, readOnly: true }, (tx) =>
          latestChanges(tx, spaces, principal, deps.now(), ledger, request.query),
        );
        const activity = rows.map(({ ts, type, head, ref_id }) => ({
          ts: ts.toISOString(),
          type,
          summary: inOneLine(head),
          ref_id,
        }));
        return { activity, total };
      },
    });
  };

function inOneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  const characters = Array.from(line);
  return characters.length <= SUMMARY ? line : `${characters.slice(0, SUMMARY - 1).join('')}…`;
}

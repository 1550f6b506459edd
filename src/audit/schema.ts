/** The wire of the audit trail. */
import { z } from 'zod';
import { instant, name } from '../http/fields.ts';

const page = {
  since: instant.optional(),
  until: instant.optional(),
  limit: z.number().int().min(1).max(500).default(50).describe('Events, 1 to 500.'),
  offset: z.number().int().min(0).max(100_000).default(0).describe('Events to skip; a cursor is faster.'),
  cursor: z.uuid().optional().describe('`next_cursor` of the page before.'),
};
const nextCursor = z.uuid().nullable().describe('null: this was the last page.');

export const eventsQuery = z.object({
  action: name.optional().describe('Exact, as `memory.forget`. `%`: all.'),
  target_id: z.string().min(1).max(1_024).optional().describe('What it was done to.'),
  outcome: z.enum(['done', 'denied', '%']).optional(),
  ...page,
});

export const eventsReply = z.object({
  events: z.array(
    z.object({
      id: z.uuid(),
      action: z.string().describe('`thing.verb`; of a denied request its method and route.'),
      target_id: z.string().nullable(),
      outcome: z.enum(['done', 'denied']),
      code: z.string().nullable().describe('Why it was denied.'),
      token_id: z.string().nullable(),
      agent_id: z.string().nullable().describe('The agent that the token is bound to.'),
      request_id: z.string().nullable(),
      created_at: z.string(),
    }),
  ),
  next_cursor: nextCursor,
});

/** What the service does to memories of its own accord. */
export const CONSOLIDATIONS = ['merge', 'reinforce', 'expire', 'purge'] as const;

export const consolidationQuery = z.object({
  action_type: name
    .optional()
    .describe(
      '`merge`: a near-duplicate was not stored but counted for the memory that was there. `reinforce`: the same, word for word. `expire`: deleted after its expiry. `purge`: deleted for good, long after it was forgotten. `%`: all. Nothing else is done, so anything else finds nothing.',
    ),
  bucket: name.optional().describe('Exact. `%`: all.'),
  scope: name.optional().describe('Exact. `%`: all.'),
  ...page,
});

export const consolidationReply = z.object({
  events: z.array(
    z.object({
      id: z.uuid(),
      action_type: z.enum(CONSOLIDATIONS),
      action: z.string(),
      target_id: z.string().nullable().describe('The memory that is kept, or was deleted.'),
      bucket: z.string().nullable(),
      scope: z.string().nullable(),
      created_at: z.string(),
    }),
  ),
  next_cursor: nextCursor,
});

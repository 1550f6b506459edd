/** The wire of the audit trail. */
import { z } from 'zod';
import { instant, name } from '../http/fields.ts';

export const eventsQuery = z.object({
  action: name.optional().describe('Exact, as `memory.forget`. `%`: all.'),
  target_id: z.string().min(1).max(1_024).optional().describe('What it was done to.'),
  outcome: z.enum(['done', 'denied', '%']).optional(),
  since: instant.optional(),
  until: instant.optional(),
  limit: z.number().int().min(1).max(500).default(50).describe('Events, 1 to 500.'),
  cursor: z.uuid().optional().describe('`next_cursor` of the page before.'),
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
  next_cursor: z.uuid().nullable().describe('null: this was the last page.'),
});

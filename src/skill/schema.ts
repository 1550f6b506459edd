/** The wire of skill operations: one route, narrow results. */
import { z } from 'zod';
import { idempotencyKey, jsonObject } from '../http/fields.ts';
import { warningsSchema } from '../http/wire.ts';

export const OPERATION_NAMES = [
  'remember',
  'recall',
  'search',
  'update',
  'forget',
  'state-save',
  'state-restore',
  'todo-add',
  'todo-list',
  'todo-done',
  'expense-add',
  'ledger-list',
  'ledger-summary',
  'ledger-delete',
  'expense-delete',
  'overview',
  'activity',
  'doctor',
] as const;
export type OperationName = (typeof OPERATION_NAMES)[number];

export const operationBody = z.object({
  operation: z.enum(OPERATION_NAMES),
  arguments: jsonObject
    .default({})
    .describe('Those of the route behind the operation. `-` in a name is `_`; text is taken where a number is meant.'),
  client: jsonObject.optional().describe('`agent_id` and `agent_instance_id` attribute; the rest is ignored.'),
  idempotency_key: idempotencyKey,
});

export const operationReply = z.object({
  ok: z.literal(true),
  operation: z.enum(OPERATION_NAMES),
  result: z.unknown(),
  request_id: z.string(),
  warnings: warningsSchema,
});

const count = z.number().int();

export const overviewReply = z.object({
  memories_total: count.describe('Active and archived.'),
  memories_active: count,
  memories_archived: count,
  memories_forgotten: count.describe('Those that can still be restored.'),
  agents_active: count.describe('Agents that wrote within 30 days.'),
  storage_mb: z.number().describe('Text of the active and archived, in millions of bytes.'),
  tokens_30d: count.describe('Text stored within 30 days, at four bytes a token.'),
});

export const activityQuery = z.object({
  limit: z.number().int().min(1).max(100).default(20),
  offset: z.number().int().min(0).max(1_000_000).default(0),
});

export const activityReply = z.object({
  activity: z.array(
    z.object({
      ts: z.string(),
      type: z.enum(['memory', 'event', 'reminder', 'decision', 'state', 'snapshot', 'ledger']),
      summary: z.string().describe('The beginning, in one line.'),
      ref_id: z.string(),
    }),
  ),
  total: count,
});

/** The wire of storing, reading and forgetting a memory. */
import { z } from 'zod';
import { instant, name } from '../http/fields.ts';
import { warningsSchema } from '../http/wire.ts';
import { MEMORY_TYPES } from '../types.ts';

const object = z.record(z.string(), z.unknown());
const unit = z.number().min(0).max(1);

export const rememberBody = z.object({
  content: z
    .string()
    .min(1)
    .describe('The text. At most 524,288 bytes; long texts are split for search and kept whole.'),
  path: z
    .string()
    .max(1_024)
    .optional()
    .describe('A category like `projects/xmemo`. Leading, trailing and doubled slashes are dropped.'),
  bucket: name.default('public').describe('Namespace; made by its first use.'),
  scope: name.optional().describe('A narrowing tag inside the owner.'),
  team_id: name.optional().describe('Share with this team; the token must belong to it.'),
  memory_type: z
    .enum([...MEMORY_TYPES, 'auto'])
    .default('auto')
    .describe('`auto`: the service decides.'),
  semantic_key: name
    .optional()
    .describe('Stable name of one evolving fact: writing it again makes a new version under the same id.'),
  dedupe: z
    .boolean()
    .default(false)
    .describe('Return the memory that already holds the very same text instead of storing it twice.'),
  importance: unit.optional(),
  confidence: unit.optional(),
  expires_at: instant.optional().describe('From this instant on the memory is in no read.'),
  occurred_at: instant.optional().describe('When it happened; default: unknown. Part of what is searched.'),
  author: name.optional().describe('Who said or wrote it; default: the agent. Part of what is searched.'),
  session_id: name.optional().describe('Conversation or document that it belongs to: its neighbours help to find it.'),
  position: z
    .number()
    .int()
    .min(0)
    .max(2_147_483_647)
    .optional()
    .describe('Place inside the session; default: by time, then arrival.'),
  source: name.optional(),
  metadata: object.optional(),
  provenance: object.optional(),
  agent_id: name.optional().describe('Default: the header X-Memory-OS-Agent-ID.'),
  agent_instance_id: name
    .optional()
    .describe('Default: the header X-Memory-OS-Agent-Instance-ID. Only a hash is stored.'),
  device_id: name.optional().describe('Kept in provenance.'),
  device_label: name.optional().describe('Kept in provenance.'),
  logic_path: z.string().max(1_024).optional().describe('Alias of path.'),
  idempotency_key: name.optional(),
});

export const rememberReply = z.object({
  id: z.uuid(),
  memory_id: z.uuid(),
  status: z.literal('active'),
  outcome: z.enum(['created', 'updated', 'unchanged']),
  memory_type: z.enum(MEMORY_TYPES),
  version: z.number().int(),
  created_at: z.string(),
  updated_at: z.string(),
  warnings: warningsSchema,
});

export const forgetBody = z.object({
  mode: z
    .enum(['soft_delete', 'hard_delete'])
    .default('soft_delete')
    .describe('soft_delete can be restored, hard_delete is final. Neither is in any read.'),
  reason: z.string().max(1_000).optional(),
  bucket: name.optional().describe('When given and not `%`, the memory must be in it.'),
  scope: name.optional().describe('When given and not `%`, the memory must have it.'),
  idempotency_key: name.optional(),
});

export const forgetReply = z.object({
  id: z.uuid(),
  memory_id: z.uuid(),
  status: z.literal('deleted'),
  mode: z.enum(['soft_delete', 'hard_delete']),
  forgotten_at: z.string(),
  warnings: warningsSchema,
});

export const idParams = z.object({ id: z.string().min(1).max(256) });

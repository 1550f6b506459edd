/** The wire of storing, reading and forgetting a memory. */
import { z } from 'zod';
import { idempotencyKey, instant, jsonObject, name, pathText, position, reason, unit } from '../http/fields.ts';
import { warningsSchema } from '../http/wire.ts';
import { MEMORY_TYPES } from '../types.ts';
import { CONFLICT_REASONS } from './conflicts.ts';
import { FORGET_MODES } from './receipt.ts';
import { OUTCOMES } from './remember.ts';

export const detectConflicts = z
  .boolean()
  .default(false)
  .describe(
    'Answer with the memories that say otherwise: the same sentence negated, with another date, number or ending, or the same semantic_key elsewhere.',
  );

export const conflictsSchema = z
  .array(
    z.object({
      id: z.uuid(),
      memory_id: z.uuid(),
      reason: z.enum(CONFLICT_REASONS),
      version: z.number().int(),
      updated_at: z.string(),
    }),
  )
  .optional()
  .describe('With detect_conflicts=true; newest first.');

export const rememberBody = z.object({
  content: z
    .string()
    .min(1)
    .describe('The text. At most 524,288 bytes; long texts are split for search and kept whole.'),
  path: pathText
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
    .describe(
      'Merge with a memory that says the same in the same or nearly the same words, with the same type, author, path, session and time, instead of storing it twice; counts as reinforcement.',
    ),
  detect_conflicts: detectConflicts,
  allow_recalled: z.boolean().default(false).describe('Store a text although it is an answer of recall.'),
  importance: unit.optional(),
  confidence: unit.optional(),
  expires_at: instant.optional().describe('From this instant on the memory is in no read.'),
  occurred_at: instant.optional().describe('When it happened; default: unknown. Part of what is searched.'),
  author: name.optional().describe('Who said or wrote it; default: the agent. Part of what is searched.'),
  session_id: name.optional().describe('Conversation or document that it belongs to: its neighbours help to find it.'),
  position: position.optional().describe('Place inside the session; default: by time, then arrival.'),
  source: name.optional(),
  metadata: jsonObject.optional(),
  provenance: jsonObject.optional(),
  agent_id: name.optional().describe('Default: the header X-Memory-OS-Agent-ID.'),
  agent_instance_id: name
    .optional()
    .describe('Default: the header X-Memory-OS-Agent-Instance-ID. Only a hash is stored.'),
  device_id: name.optional().describe('Kept in provenance.'),
  device_label: name.optional().describe('Kept in provenance.'),
  logic_path: pathText.optional().describe('Alias of path.'),
  idempotency_key: idempotencyKey,
});

export const rememberReply = z.object({
  id: z.uuid(),
  memory_id: z.uuid(),
  status: z.literal('active'),
  outcome: z
    .enum(OUTCOMES)
    .describe(
      'updated: a new version under its semantic_key. unchanged: the very same was there. merged: with one that says it in nearly the same words.',
    ),
  memory_type: z.enum(MEMORY_TYPES),
  version: z.number().int(),
  created_at: z.string(),
  updated_at: z.string(),
  conflicts: conflictsSchema,
  warnings: warningsSchema,
});

const found = z.number().int();

/** Zeros: a forgetting that a path can still see is undone and answered with an error. */
export const receiptSchema = z.object({
  id: z.uuid(),
  memory_id: z.uuid(),
  mode: z.enum(FORGET_MODES),
  reason: z.string().nullable(),
  forgotten_at: z.string(),
  checks: z
    .object({ id: found, list: found, lexical: found, vector: found, versions: found, export: found, pack: found })
    .describe('What each path still found of the text, looked for in the transaction that forgot it.'),
  verified: z.literal(true),
});

export const forgetBody = z.object({
  mode: z
    .enum(FORGET_MODES)
    .default('soft_delete')
    .describe(
      'soft_delete can be restored. hard_delete is final, versions included, and also takes what was soft-deleted. redact overwrites the text of every version for good: with replacement_content the memory lives on with that text, without it it leaves every read.',
    ),
  reason: reason.optional(),
  replacement_content: z.string().min(1).optional().describe('With redact: what stands in place of the text.'),
  bucket: name.optional().describe('When given and not `%`, the memory must be in it.'),
  scope: name.optional().describe('When given and not `%`, the memory must have it.'),
  idempotency_key: idempotencyKey,
});

export const forgetReply = z.object({
  id: z.uuid(),
  memory_id: z.uuid(),
  status: z.enum(['deleted', 'redacted']),
  mode: z.enum(FORGET_MODES),
  forgotten_at: z.string(),
  receipt: receiptSchema.optional().describe('Not for a transaction of the ledger.'),
  warnings: warningsSchema,
});

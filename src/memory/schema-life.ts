/** The wire of what happens to a memory after it was stored: change, versions, use. */
import { z } from 'zod';
import { ACTIONS } from '../db/memories.ts';
import {
  filterShape,
  idempotencyKey,
  instant,
  jsonObject,
  MAX_QUERY_LENGTH,
  name,
  pathText,
  position,
  reason,
  unit,
} from '../http/fields.ts';
import { memorySchema, memoryShape, warningsSchema } from '../http/wire.ts';
import { MEMORY_TYPES } from '../types.ts';
import { conflictsSchema, detectConflicts } from './schema.ts';

const count = z.number().int().min(0);

export const patchBody = z.object({
  content: z.string().min(1).optional(),
  path: pathText.optional().describe('Empty: without a path.'),
  bucket: name.optional(),
  scope: name.optional(),
  team_id: name.optional().describe('Only the team that it belongs to: a memory does not move between teams.'),
  memory_type: z
    .enum([...MEMORY_TYPES, 'auto', '%'])
    .optional()
    .describe('`auto` and `%`: as it is.'),
  status: z
    .enum(['active', 'archived', 'deleted', '%'])
    .optional()
    .describe('`deleted` forgets it, as mode soft_delete does, and stands alone. `%`: as it is.'),
  importance: unit.optional(),
  confidence: unit.optional(),
  expires_at: instant.optional(),
  occurred_at: instant.optional(),
  author: name.optional(),
  session_id: name.optional(),
  position: position.optional(),
  source: name.optional(),
  semantic_key: name.optional(),
  metadata: jsonObject.optional(),
  merge_metadata: z.boolean().default(true).describe('false: metadata replaces what is there.'),
  provenance: jsonObject.optional(),
  merge_provenance: z.boolean().default(true).describe('false: provenance replaces what is there.'),
  detect_conflicts: detectConflicts,
  idempotency_key: idempotencyKey,
});

/** Whole after a change; of a forgotten memory only what names it. */
export const patchReply = memorySchema
  .partial()
  .required({ id: true, memory_id: true, status: true })
  .extend({ conflicts: conflictsSchema, warnings: warningsSchema });

const versionShape = z.object({
  ...memoryShape,
  action: z.enum(ACTIONS).describe('What made this version.'),
  reason: z.string().nullable().describe('Why, where a restore said so. A redaction empties it.'),
  valid_from: z.string(),
  valid_to: z.string().nullable().describe('null: the present version.'),
});

export const versionsQuery = z.object({
  limit: z.number().int().min(1).max(100).default(20),
  before: z.number().int().min(1).max(2_147_483_647).optional().describe('Only versions below this number.'),
});
export const versionsReply = z.object({
  id: z.uuid(),
  memory_id: z.uuid(),
  versions: z.array(versionShape).describe('Newest first. A page of very long ones ends before its limit.'),
  next_before: z.number().int().nullable(),
  warnings: warningsSchema,
});

const usageShape = z.object({
  used: count,
  reinforced: count,
  standing: z.number().min(0).max(1),
  last_at: z.string().nullable(),
});

export const explainQuery = z.object({
  query: z.string().max(MAX_QUERY_LENGTH).optional().describe('Say how this query finds the memory.'),
  include_embedding: z.boolean().default(false),
  bucket: filterShape.bucket,
  scope: filterShape.scope,
  team_id: filterShape.team_id,
});

export const explainReply = z.object({
  ...memoryShape,
  memory: memorySchema,
  versions: z.array(versionShape).describe('The newest twenty, the present one first; fewer of a very long memory.'),
  usage: usageShape.extend({
    contexts: z
      .array(z.object({ at: z.string(), context: z.string() }))
      .describe('What this owner said that it was used for, newest first.'),
  }),
  match: z
    .object({
      rank: z.number().int().nullable().describe('1 is the best; null: not among the candidates of this query.'),
      candidates: count,
      score: unit.nullable(),
      snippet: z.string().nullable(),
      explanation: z
        .object({
          fused: z.number(),
          parts: z.record(z.string(), z.number()),
          bm25: z.number(),
          cosine: z.number().nullable(),
        })
        .nullable(),
      answerability: z.number(),
    })
    .nullable()
    .describe('null: no query was given.'),
  embedding: z
    .array(z.object({ model: z.string(), start: count, end: count, vector: z.array(z.number()) }))
    .nullable()
    .describe('One entry a passage, the first ones of a very long memory; null unless include_embedding is true.'),
  warnings: warningsSchema,
});

export const restoreBody = z.object({
  reason: reason.optional().describe('Kept with the version that this makes.'),
  metadata: jsonObject.optional().describe('Taken, and not kept.'),
  idempotency_key: idempotencyKey,
});
export const restoreReply = z.object({
  ...memoryShape,
  restored: z.boolean().describe('false: it was not forgotten.'),
  warnings: warningsSchema,
});

export const usageBody = z.object({
  action: z.literal('used').default('used'),
  context: z
    .string()
    .max(4_000)
    .optional()
    .describe(
      'What for. The latest of them are kept, for this owner to read in explain, until the memory is redacted or gone.',
    ),
  usage_tracking_id: name
    .optional()
    .describe('From the answer that showed the memory; the same one twice in a row counts once.'),
  metadata: jsonObject.optional().describe('Taken, and not kept.'),
  idempotency_key: idempotencyKey,
});
export const usageReply = z.object({
  id: z.uuid(),
  memory_id: z.uuid(),
  action: z.literal('used'),
  ...usageShape.shape,
  warnings: warningsSchema,
});

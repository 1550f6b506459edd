/** The wire of many memories at once: lists, counts, bulk, transfer. */
import { z } from 'zod';
import { asOf, filterShape, idempotencyKey, name, reason } from '../http/fields.ts';
import { memorySchema, warningsSchema } from '../http/wire.ts';
import { FORGET_MODES } from './receipt.ts';

const count = z.number().int().min(0);

export const listQuery = z.object({
  ...filterShape,
  as_of: asOf,
  limit: z.number().int().min(1).max(500).default(100),
  offset: z
    .number()
    .int()
    .min(0)
    .max(10_000_000)
    .default(0)
    .describe('Live: writes between two pages move it. Better follow next_cursor.'),
  cursor: z.string().max(64).optional().describe('next_cursor of the page before, with the same filters.'),
});
export const listReply = z.object({
  items: z
    .array(memorySchema)
    .describe('Newest arrival first. A page of very long memories ends before its limit; next_cursor goes on.'),
  memories: z.array(memorySchema).describe('Alias of items.'),
  total: count,
  limit: count,
  offset: count,
  next_cursor: z.string().nullable(),
  warnings: warningsSchema,
});

export const statsQuery = z.object({
  ...filterShape,
  status: z.enum(['active', 'archived', '%']).default('%'),
  group_by: z
    .string()
    .max(300)
    .optional()
    .describe(
      '`path`, `type`, `status`, `source`, `bucket`, `day` (UTC) or `metadata:KEY`; several with commas between them: `type,status`.',
    ),
  top_n: z.number().int().min(1).max(200).default(20),
});
const counts = z.record(z.string(), count);
export const statsReply = z.object({
  total_count: count.describe('Visible to this token.'),
  filtered_count: count,
  scanned_count: count.describe('Alias of total_count: all of them were looked at.'),
  latest_at: z.string().nullable(),
  oldest_at: z.string().nullable(),
  type_counts: counts,
  status_counts: counts,
  bucket_counts: counts,
  groups: z
    .array(z.object({ group_by: z.record(z.string(), z.string().nullable()), count }))
    .describe('Largest first.'),
  warnings: warningsSchema,
});

export const forgetManyBody = z.object({
  ...filterShape,
  status: z.enum(['active', 'archived', '%']).default('%'),
  all: z.boolean().default(false).describe('Must be true when no filter is given.'),
  mode: z.enum(['soft_delete', 'hard_delete']).default('soft_delete'),
  reason: reason.optional(),
  dry_run: z.boolean().default(false).describe('Count, and forget nothing.'),
  idempotency_key: idempotencyKey,
});
export const forgetManyReply = z.object({
  id: z.string().describe('Of this request.'),
  status: z.enum(['deleted', 'dry_run']),
  mode: z.enum(FORGET_MODES),
  count: count.describe('Memories that were, or would be, forgotten: all that match.'),
  forgotten_at: z.string().nullable(),
  warnings: warningsSchema,
});

const cursor = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER).default(0);

export const exportBody = z.object({
  ...filterShape,
  team_id: name.optional().describe("This team's memories instead of the owner's own."),
  status: z.enum(['active', 'archived', '%']).default('%'),
  limit: z.number().int().min(1).max(5_000).default(500).describe('Memories a page, at most.'),
  cursor: cursor.describe('next_cursor of the page before; it grows strictly.'),
});
export const exportReply = z.object({
  jsonl: z.string().describe('One memory a line, in the order of arrival, earlier versions included.'),
  count,
  next_cursor: z.number().int().nullable(),
  warnings: warningsSchema,
});

export const importBody = z.object({
  jsonl: z.string().describe('Lines of an export. An id that is there with the same version and text is skipped.'),
  bucket: name.default('private').describe('For lines that name none.'),
  scope: name.optional().describe('For lines that name none.'),
  team_id: name.optional().describe('Into the memories of this team.'),
  limit: z.number().int().min(1).max(5_000).default(500).describe('Lines a page.'),
  cursor: cursor.describe('next_cursor of the page before: lines that were taken already.'),
  dry_run: z.boolean().default(false).describe('Check everything, store nothing.'),
  idempotency_key: idempotencyKey.describe(
    'As the header Idempotency-Key. One key may stand for all pages: each is done once.',
  ),
});
export const importReply = z.object({
  id: z.string().describe('Of this request.'),
  status: z.enum(['imported', 'dry_run']),
  imported: count,
  skipped: count,
  next_cursor: z.number().int().nullable(),
  dry_run: z.boolean(),
  warnings: warningsSchema,
});

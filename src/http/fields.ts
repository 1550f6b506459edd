/** Fields that several routes take, with their limits. Absent, null and `%` mean "no filter". */
import { z } from 'zod';
import type { Filters } from '../db/visible.ts';
import { ApiError, invalid } from '../errors.ts';
import { isBlank, utf8Length } from '../text/unicode.ts';
import { MEMORY_TYPES } from '../types.ts';
import { hashInstance } from './auth.ts';

export const MAX_QUERY_LENGTH = 4_000;
export const MAX_CONTENT_BYTES = 524_288;
const MAX_NAME = 256;
export const MAX_PATH = 1_024;

export const name = z.string().min(1).max(MAX_NAME);

/** Why something is done, in the caller's words. */
export const reason = z.string().max(1_000);

/** Before its slashes are put right: empty is none. */
export const pathText = z.string().max(MAX_PATH);

/** Importance, confidence, scores. */
export const unit = z.number().min(0).max(1);

/** Place inside a session: what an integer of the database holds. */
export const position = z.number().int().min(0).max(2_147_483_647);

export const jsonObject = z.record(z.string(), z.unknown());

export const idempotencyKey = name
  .optional()
  .describe('As the header Idempotency-Key: a repeated request is done once, for 24 hours.');

export const idParams = z.object({ id: name });

/** Other years, which an offset too may lead to, are written differently by JavaScript, the database and RFC 3339. */
export function isInYears(time: string): boolean {
  const year = new Date(time).getUTCFullYear();
  return year >= 1 && year <= 9_999;
}

export const YEARS = 'must lie in the years 0001 to 9999, in UTC';

/** RFC 3339 with an offset, or a date alone (its first instant, UTC). */
export const instant = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()], {
    error: 'expected a time in RFC 3339 with an offset (2026-05-04T12:00:00Z) or a date (2026-05-04)',
  })
  .refine(isInYears, YEARS)
  .describe('RFC 3339 with offset, or YYYY-MM-DD.');

/** What stands below `.optional()`, `.default()` and `.nullable()`. */
export function innermost(schema: z.core.$ZodType): z.core.$ZodType {
  const { def } = schema._zod;
  return 'innerType' in def ? innermost(def.innerType as z.core.$ZodType) : schema;
}

export const asOf = instant
  .optional()
  .describe(
    'What was known at this instant: earlier versions, and nothing that came later. What has been forgotten or has expired since stays gone.',
  );

export const queryText = z
  .string()
  .max(MAX_QUERY_LENGTH)
  .refine((text) => !isBlank(text), 'must hold more than white space')
  .describe('What to look for, in words. A memory id finds exactly that memory. At most 4,000 characters.');

export const filterShape = {
  bucket: name.optional().describe('Exact. `%`: all.'),
  scope: name.optional().describe('Exact. `%`: all.'),
  team_id: name.optional().describe('Only what is shared with this team; the token must belong to it.'),
  path: pathText
    .min(1)
    .optional()
    .describe('Exact, or with `%` as a wildcard (`projects/%`); every other character is literal.'),
  path_prefix: pathText
    .optional()
    .describe(
      'This path and all below it, literal in every character: `projects` finds `projects/x`, not `projects2`.',
    ),
  memory_type: z
    .enum([...MEMORY_TYPES, 'auto', '%'])
    .optional()
    .describe('`auto` and `%`: all.'),
  status: z.enum(['active', 'archived', '%']).optional().describe('Default `active`. `%`: active and archived.'),
  agent_id: name.optional().describe('Written by this agent.'),
  agent_instance_id: name.optional().describe('Written by this installation.'),
  source: name.optional(),
  session_id: name.optional(),
  provenance: jsonObject.optional().describe('JSON containment: what the memory was stored with holds this.'),
  metadata: jsonObject.optional().describe('JSON containment.'),
  since: instant.optional().describe('Happened (or, when unknown, was stored) at or after this.'),
  until: instant.optional().describe('Happened before this.'),
};

const filters = z.object(filterShape);

/** `%` is no filter. */
export const filterOf = <T extends string>(value: T | undefined): Exclude<T, '%'> | undefined =>
  value === '%' ? undefined : (value as Exclude<T, '%'> | undefined);

export function toFilters(input: z.infer<typeof filters>): Filters {
  const { memory_type, status = 'active' } = input;
  return {
    bucket: filterOf(input.bucket),
    scope: filterOf(input.scope),
    path: input.path === undefined || input.path === '%' ? undefined : normalisePath(input.path),
    pathPrefix: input.path_prefix === undefined ? undefined : normalisePath(input.path_prefix) || undefined,
    memoryType: memory_type === 'auto' || memory_type === '%' ? undefined : memory_type,
    statuses: status === '%' ? ['active', 'archived'] : [status],
    agentId: filterOf(input.agent_id),
    agentInstance:
      input.agent_instance_id === undefined || input.agent_instance_id === '%'
        ? undefined
        : hashInstance(input.agent_instance_id),
    source: filterOf(input.source),
    sessionId: filterOf(input.session_id),
    provenance: input.provenance,
    metadata: input.metadata,
    since: toDate(input.since),
    until: toDate(input.until),
  };
}

export const toDate = (text: string | undefined): Date | undefined => (text === undefined ? undefined : new Date(text));

/** Paths have no leading, trailing or doubled slash, so that `path/id` can be taken apart again. */
export function normalisePath(path: string): string {
  return path
    .trim()
    .replace(/^\[ROOT\]\/?/, '')
    .replace(/\s*\/+\s*/g, '/')
    .replace(/^\/|\/$/g, '');
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export const isUuid = (id: string): boolean => UUID.test(id);

/** Ids are opaque to callers: one that cannot be ours names nothing. @throws ApiError not_found */
export function uuidOf(id: string): string {
  if (!isUuid(id)) throw new ApiError('not_found');
  return id.toLowerCase();
}

/** @throws ApiError payload_too_large or validation_error */
export function assertContent(content: string): void {
  if (isBlank(content)) throw invalid('body', 'content', 'must hold more than white space');
  const bytes = utf8Length(content);
  if (bytes > MAX_CONTENT_BYTES) {
    throw new ApiError('payload_too_large', `content: ${bytes} bytes are more than the limit of ${MAX_CONTENT_BYTES}`);
  }
}

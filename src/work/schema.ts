/** What the routes of work take. What they answer is in replies.ts. */
import { z } from 'zod';
import { asOf, filterShape, idempotencyKey, instant, jsonObject, name, pathText, unit } from '../http/fields.ts';

const text = (max: number) => z.string().max(max);

/** Longest that a caller may keep a state or snapshot: 30 days. 0 and absent: no end. */
const MAX_TTL_SECONDS = 2_592_000;
const ttl = z
  .number()
  .int()
  .min(0)
  .max(MAX_TTL_SECONDS)
  .optional()
  .describe('Seconds until it vanishes from every read, at most 2,592,000. 0: no end.');

/** Keys are part of the semantic key `state:<key>`. */
const stateKey = text(200).min(1).default('active_task');

const target = {
  bucket: name.default('work'),
  scope: name.optional(),
  team_id: name.optional().describe('Share with this team; the token must belong to it.'),
  path: pathText.optional(),
  source: name.optional(),
  session_id: name.optional(),
  metadata: jsonObject.optional(),
  provenance: jsonObject.optional(),
  agent_id: name.optional(),
  agent_instance_id: name.optional(),
  idempotency_key: idempotencyKey,
};

const weights = { importance: unit.optional(), confidence: unit.optional() };

export const eventBody = z.object({
  content: z.string().min(1),
  event_type: name
    .default('event')
    .describe('`event`, `milestone`, `release`, `handoff`, `incident`, `validation`, `decision`, `note`, or your own.'),
  occurred_at: instant.optional().describe('Default: now.'),
  ...target,
  ...weights,
});

export const reminderBody = z.object({ content: z.string().min(1), due_at: instant.optional(), ...target, ...weights });

export const decisionBody = z.object({
  context: text(20_000).min(1).describe('What is to be decided.'),
  options: z.array(text(12_000).min(1)).max(20).default([]),
  due_at: instant.optional(),
  ...target,
  ...weights,
});

export const stateBody = z.object({
  state_key: stateKey.describe('Which state; one memory each, replaced by every call.'),
  content: z.string().optional(),
  current_task: text(12_000).optional(),
  next_action: text(12_000).optional(),
  blocked_reason: text(12_000).optional(),
  ttl_seconds: ttl,
  ...target,
});

const some = z.number().int().min(0).max(100).default(10);

export const snapshotBody = z.object({
  label: text(1_000).optional(),
  state_key: stateKey,
  timeline_limit: some,
  reminder_limit: some,
  decision_limit: some,
  ttl_seconds: ttl,
  ...target,
  bucket: name
    .optional()
    .describe('Where it is kept (default `work`), and the only bucket that it takes from. Absent or `%`: from all.'),
});

export const restoreBody = z.object({
  snapshot_id: z
    .string()
    .max(256)
    .optional()
    .describe('Default: the latest that fits, or the present state when that is newer.'),
  state_key: stateKey,
  source_session_id: name.optional().describe('Only a snapshot of this session.'),
  target_session_id: name.optional().describe('The session that goes on; default: session_id.'),
  session_id: name.optional(),
  restore_state: z.boolean().default(true).describe('Make the state of the snapshot the present one.'),
  record_restore_event: z.boolean().default(true),
  ttl_seconds: ttl,
  bucket: name.optional().describe('Absent or `%`: any.'),
  scope: name.optional().describe('Absent or `%`: any.'),
  team_id: name.optional(),
  source: name.optional(),
  path: pathText.optional(),
  metadata: jsonObject.optional(),
  agent_id: name.optional(),
  agent_instance_id: name.optional(),
  idempotency_key: idempotencyKey,
});

const { bucket, scope, team_id, path, session_id, source, agent_id, since, until, status } = filterShape;
const page = {
  limit: z.number().int().min(1).max(100).default(20),
  offset: z.number().int().min(0).max(1_000_000).default(0),
  idempotency_key: name.optional().describe('Ignored: reads change nothing.'),
};
const filters = { bucket, scope, team_id, path, session_id, source, agent_id, since, until, as_of: asOf };

export const timelineQuery = z.object({
  ...filters,
  status,
  event_type: name.optional().describe('Exact. `%`: all.'),
  ...page,
});

export const reminderQuery = z.object({
  ...filters,
  item_status: z
    .enum(['open', 'completed', 'done', 'all', '%'])
    .default('open')
    .describe('`%` and `all`: both. `done` is `completed`.'),
  due_before: instant.optional(),
  ...page,
});

export const decisionQuery = z.object({
  ...filters,
  item_status: z.enum(['open', 'resolved', 'all', '%']).default('open').describe('`%` and `all`: both.'),
  due_before: instant.optional(),
  ...page,
});

/** What a completion and a resolution may name, besides the id. */
const which = {
  bucket: name.optional().describe('When given and not `%`, it must be in it.'),
  scope: name.optional(),
  idempotency_key: idempotencyKey,
};
export const completeBody = z.object({ note: text(12_000).optional(), ...which });
export const resolveBody = z.object({ resolution: text(12_000).min(1), ...which });

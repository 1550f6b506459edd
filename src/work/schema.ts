/** The wire of events, reminders, decisions, states and restart snapshots. */
import { z } from 'zod';
import { filterShape, instant, name } from '../http/fields.ts';
import { memoryShape, warningsSchema } from '../http/wire.ts';

const object = z.record(z.string(), z.unknown());
const unit = z.number().min(0).max(1);
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
  path: text(1_024).optional(),
  source: name.optional(),
  session_id: name.optional(),
  metadata: object.optional(),
  provenance: object.optional(),
  agent_id: name.optional(),
  agent_instance_id: name.optional(),
  idempotency_key: name.optional(),
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
  options: z.array(text(1_000).min(1)).max(20).default([]),
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
  path: text(1_024).optional(),
  metadata: object.optional(),
  agent_id: name.optional(),
  agent_instance_id: name.optional(),
  idempotency_key: name.optional(),
});

const { bucket, scope, team_id, path, session_id, source, agent_id, since, until, status } = filterShape;
const page = {
  limit: z.number().int().min(1).max(100).default(20),
  offset: z.number().int().min(0).max(1_000_000).default(0),
  idempotency_key: name.optional().describe('Ignored: reads change nothing.'),
};
const filters = { bucket, scope, team_id, path, session_id, source, agent_id, since, until };

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
  idempotency_key: name.optional(),
};
export const completeBody = z.object({ note: text(12_000).optional(), ...which });
export const resolveBody = z.object({ resolution: text(12_000).min(1), ...which });

export const idParams = z.object({ id: z.string().min(1).max(256) });

const time = z.string().nullable();

export const event = z.object({ ...memoryShape, type: z.literal('event'), event_id: z.uuid(), event_type: z.string() });

const item = { due_at: time, completed_at: time };

export const reminder = z.object({
  ...memoryShape,
  type: z.literal('reminder'),
  todo_id: z.uuid(),
  status: z.enum(['open', 'completed']),
  item_status: z.enum(['open', 'completed']).describe('The same as status.'),
  note: z.string().nullable(),
  ...item,
});

export const decision = z.object({
  ...memoryShape,
  type: z.literal('decision'),
  decision_id: z.uuid(),
  status: z.enum(['open', 'resolved']),
  item_status: z.enum(['open', 'resolved']).describe('The same as status.'),
  context: z.string(),
  options: z.array(z.string()),
  resolution: z.string().nullable(),
  ...item,
});

export const eventReply = event.extend({ warnings: warningsSchema });
export const reminderReply = reminder.extend({ warnings: warningsSchema });
export const decisionReply = decision.extend({ warnings: warningsSchema });

const total = z.number().int().describe('All that match, whatever the limit.');
export const timelineReply = z.object({
  events: z.array(event),
  items: z.array(event).describe('The same as events.'),
  total,
  warnings: warningsSchema,
});
export const reminderList = z.object({
  reminders: z.array(reminder),
  items: z.array(reminder).describe('The same as reminders.'),
  total,
  warnings: warningsSchema,
});
export const decisionList = z.object({ decisions: z.array(decision), total, warnings: warningsSchema });

const receipt = {
  id: z.uuid(),
  memory_id: z.uuid(),
  state_key: z.string(),
  version: z.number().int(),
  status: z.literal('active'),
  expires_at: time,
};
export const stateReply = z.object({
  ...receipt,
  state_id: z.uuid(),
  created_at: z.string(),
  updated_at: z.string(),
  warnings: warningsSchema,
});

export const snapshotReply = z.object({
  id: z.uuid(),
  memory_id: z.uuid(),
  snapshot_id: z.uuid(),
  label: z.string().nullable(),
  state_key: z.string(),
  status: z.literal('active'),
  created_at: z.string(),
  expires_at: time,
  counts: z.object({
    state: z.number().int(),
    events: z.number().int(),
    reminders: z.number().int(),
    decisions: z.number().int(),
  }),
  warnings: warningsSchema,
});

const activeState = z.object({
  id: z.uuid(),
  memory_id: z.uuid(),
  state_key: z.string(),
  content: z.string(),
  metadata: object,
  bucket: z.string(),
  scope: z.string().nullable(),
  version: z.number().int(),
  updated_at: z.string(),
  expires_at: time,
});

export const restoreReply = z.object({
  restored: z.boolean(),
  status: z.enum(['restored', 'not_found']),
  id: z.uuid().nullable().describe('Of the snapshot, or of the state when it was restored without one.'),
  memory_id: z.uuid().nullable(),
  snapshot_id: z.uuid().nullable().describe('null: the present state was taken.'),
  restored_at: time,
  snapshot: z
    .object({
      id: z.uuid().nullable(),
      label: z.string().nullable(),
      created_at: time,
      expires_at: time,
      state_key: z.string(),
      active_state: activeState.nullable(),
      events: z.array(event),
      reminders: z.array(reminder),
      decisions: z.array(decision),
    })
    .nullable(),
  state_update: z.object(receipt).nullable().describe('The present state after the restore.'),
  event_id: z.uuid().nullable(),
  warnings: warningsSchema,
});

export type ActiveState = z.infer<typeof activeState>;

/** What the routes of work answer. */
import { z } from 'zod';
import { jsonObject } from '../http/fields.ts';
import { memoryShape, warningsSchema } from '../http/wire.ts';

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
  metadata: jsonObject,
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

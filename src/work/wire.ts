/** How work looks on the wire: the memory, and what work knows of it. */
import type { z } from 'zod';
import { toWire } from '../http/wire.ts';
import type { Agent } from '../types.ts';
import type { ActiveState, decision, event, reminder } from './replies.ts';
import type { Frozen, ItemRow } from './store.ts';

const iso = (date: Date | null): string | null => date?.toISOString() ?? null;
const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

export function toEvent(row: ItemRow, asking: Agent): z.infer<typeof event> {
  return { ...toWire(row, asking), type: 'event', event_id: row.id, event_type: row.event_type ?? 'event' };
}

export function toReminder(row: ItemRow, asking: Agent): z.infer<typeof reminder> {
  const status = row.item_status === 'open' ? 'open' : 'completed';
  return {
    ...toWire(row, asking),
    type: 'reminder',
    todo_id: row.id,
    status,
    item_status: status,
    note: textOf(row.metadata.note),
    due_at: iso(row.due_at),
    completed_at: iso(row.completed_at),
  };
}

export function toDecision(row: ItemRow, asking: Agent): z.infer<typeof decision> {
  const status = row.item_status === 'open' ? 'open' : 'resolved';
  const options = Array.isArray(row.metadata.options) ? row.metadata.options.filter((o) => typeof o === 'string') : [];
  return {
    ...toWire(row, asking),
    type: 'decision',
    decision_id: row.id,
    status,
    item_status: status,
    context: contextOf(row.content, options),
    options,
    resolution: textOf(row.metadata.resolution),
    due_at: iso(row.due_at),
    completed_at: iso(row.completed_at),
  };
}

const optionLine = (options: readonly string[]): string =>
  options.length === 0 ? '' : `\nOptions: ${options.join(' | ')}`;

/** The text of a decision's memory: the options are searched and shown in packs as well. */
export const decisionText = (context: string, options: readonly string[]): string => context + optionLine(options);

function contextOf(content: string, options: readonly string[]): string {
  const line = optionLine(options);
  return content.endsWith(line) ? content.slice(0, content.length - line.length) : content;
}

export function toActiveState(row: ItemRow, frozen: Frozen | null): ActiveState {
  return {
    id: row.id,
    memory_id: row.id,
    state_key: row.state_key ?? '',
    content: frozen?.content ?? row.content,
    metadata: frozen?.metadata ?? row.metadata,
    bucket: row.bucket,
    scope: row.scope,
    version: frozen?.version ?? row.version,
    updated_at: frozen?.updated_at ?? row.updated_at.toISOString(),
    expires_at: frozen ? frozen.expires_at : iso(row.expires_at),
  };
}

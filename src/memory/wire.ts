/** From rows to the wire, for several routes. */
import { toWire } from '../http/wire.ts';
import type { Agent } from '../types.ts';
import type { Receipt } from './receipt.ts';
import type { Usage, UseContext } from './usage.ts';
import type { Version } from './versions.ts';

export const toWireReceipt = (receipt: Receipt) => ({
  ...receipt,
  id: receipt.memory_id,
  forgotten_at: receipt.forgotten_at.toISOString(),
  verified: true as const,
});

export const toWireVersion = (version: Version, asking: Agent) => ({
  ...toWire(version, asking),
  action: version.action,
  reason: version.reason,
  valid_from: version.valid_from.toISOString(),
  valid_to: version.valid_to?.toISOString() ?? null,
});

export const toWireContexts = (contexts: readonly UseContext[]) => contexts.map(({ at, context }) => ({ at, context }));

export const toWireUsage = ({ last_at, ...usage }: Usage) => ({ ...usage, last_at: last_at?.toISOString() ?? null });

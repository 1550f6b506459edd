/** From rows to the wire, for several routes. */
import { ApiError } from '../errors.ts';
import { toWire } from '../http/wire.ts';
import type { Agent } from '../types.ts';
import type { Receipt } from './receipt.ts';
import type { Usage } from './usage.ts';
import type { Version } from './versions.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Ids are opaque to callers: one that cannot be ours names no memory. @throws ApiError not_found */
export function uuidOf(id: string): string {
  if (!UUID.test(id)) throw new ApiError('not_found');
  return id.toLowerCase();
}

export const any = (value: string | undefined): string | undefined => (value === '%' ? undefined : value);

export const toWireReceipt = (receipt: Receipt) => ({
  ...receipt,
  id: receipt.memory_id,
  forgotten_at: receipt.forgotten_at.toISOString(),
  verified: true as const,
});

export const toWireVersion = (version: Version, asking: Agent) => ({
  ...toWire(version, asking),
  action: version.action,
  valid_from: version.valid_from.toISOString(),
  valid_to: version.valid_to?.toISOString() ?? null,
});

export const toWireUsage = ({ last_at, ...usage }: Usage) => ({ ...usage, last_at: last_at?.toISOString() ?? null });

/** How a memory looks on the wire, the same on every route. */
import { z } from 'zod';
import type { MemoryRow } from '../db/memories.ts';
import { type Agent, MEMORY_STATUSES, MEMORY_TYPES } from '../types.ts';

const time = z.iso.datetime().describe('RFC 3339, UTC');

export const agentBoundary = z
  .enum(['self', 'other_agent'])
  .nullable()
  .describe(
    'self: written by the agent that asks. other_agent: by another one of the owner. null: not known. Never restricts a read.',
  );

/** The columns of a memory; items of recall add scores to them. */
export const memoryShape = {
  id: z.uuid(),
  memory_id: z.uuid().describe('The same as id.'),
  type: z.enum(['memory', 'knowledge']).describe('knowledge: a section of a document; metadata says which.'),
  content: z.string(),
  bucket: z.string(),
  scope: z.string().nullable(),
  path: z.string().nullable(),
  team_id: z.string().nullable(),
  memory_type: z.enum(MEMORY_TYPES),
  status: z.enum(MEMORY_STATUSES),
  semantic_key: z.string().nullable(),
  importance: z.number().nullable(),
  confidence: z.number().nullable(),
  source: z.string().nullable(),
  author: z.string().nullable(),
  agent_id: z.string().nullable(),
  session_id: z.string().nullable(),
  position: z.number().int().nullable(),
  metadata: z.record(z.string(), z.unknown()),
  provenance: z.record(z.string(), z.unknown()),
  occurred_at: time.nullable(),
  created_at: time,
  updated_at: time,
  expires_at: time.nullable(),
  version: z.number().int().min(1),
  agent_boundary: agentBoundary,
};

export const memorySchema = z.object(memoryShape);
export type WireMemory = z.infer<typeof memorySchema>;

const iso = (date: Date | null): string | null => date?.toISOString() ?? null;
const short = (x: number | null): number | null => (x === null ? null : Math.round(x * 1e6) / 1e6);

export function toWire(row: MemoryRow, asking: Agent): WireMemory {
  return {
    id: row.id,
    memory_id: row.id,
    type: row.space_kind === 'knowledge' ? 'knowledge' : 'memory',
    content: row.content,
    bucket: row.bucket,
    scope: row.scope,
    path: row.path,
    team_id: row.team_id,
    memory_type: row.memory_type,
    status: row.status,
    semantic_key: row.semantic_key,
    importance: short(row.importance),
    confidence: short(row.confidence),
    source: row.source,
    author: row.author,
    agent_id: row.agent_id,
    session_id: row.session_id,
    position: row.position,
    metadata: row.metadata,
    provenance: row.provenance,
    occurred_at: iso(row.occurred_at),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    expires_at: iso(row.expires_at),
    version: row.version,
    agent_boundary: boundaryOf(row, asking),
  };
}

function boundaryOf(row: Pick<MemoryRow, 'agent_id'>, asking: Agent): 'self' | 'other_agent' | null {
  if (row.agent_id === null || asking.id === undefined) return null;
  return row.agent_id.toLowerCase() === asking.id.toLowerCase() ? 'self' : 'other_agent';
}

/** The shape of every error, for the documentation. */
export const errorSchema = z.object({
  detail: z.union([
    z.string(),
    z.array(z.object({ loc: z.array(z.union([z.string(), z.number()])), msg: z.string(), type: z.string() })),
    z.object({ errorType: z.string(), confirmation_token: z.string() }),
  ]),
  error: z.object({ code: z.string(), message: z.string(), request_id: z.string() }),
  request_id: z.string(),
});

export const warningsSchema = z
  .array(z.string())
  .optional()
  .describe('Fields of the request that are not known and were dropped.');

/** Names the dropped fields of a lenient mount in its reply. */
export function withWarnings<T extends object>(
  request: { readonly warnings: string[] },
  body: T,
): T & { warnings?: string[] } {
  return request.warnings.length > 0 ? { ...body, warnings: request.warnings } : body;
}

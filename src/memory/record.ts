/** One line of an export: a memory with its earlier versions, and nothing of its owner, so that it can be imported by another one. */
import { z } from 'zod';
import { ACTIONS, type MemoryRow, type VersionColumns } from '../db/memories.ts';
import { isInYears, jsonObject, name, pathText, position, reason, unit, YEARS } from '../http/fields.ts';
import { MEMORY_TYPES } from '../types.ts';
import type { Version } from './versions.ts';

/** No longer than remember takes it: it stands in an index, and a row of that is bounded. */
const place = name.refine((given) => given !== '%', '% stands for all and cannot be written to');
const instant = z.iso.datetime({ offset: true }).refine(isInYears, YEARS);

/** The columns that a version has of its own. Absent and null are the same. */
const columns = {
  content: z.string().min(1),
  bucket: place.optional(),
  scope: place.nullish(),
  path: pathText.nullish(),
  memory_type: z.enum(MEMORY_TYPES),
  semantic_key: name.nullish(),
  importance: unit.nullish(),
  confidence: unit.nullish(),
  source: name.nullish(),
  author: name.nullish(),
  agent_id: name.nullish(),
  agent_instance_hash: z.string().max(64).nullish(),
  session_id: name.nullish(),
  position: position.nullish(),
  metadata: jsonObject.default({}),
  provenance: jsonObject.default({}),
  occurred_at: instant.nullish(),
  expires_at: instant.nullish(),
  action: z.enum(ACTIONS).default('remember'),
  reason: reason.nullish(),
};

/** Half of what the column takes: the imported memory will be changed. */
const versionNumber = z.number().int().min(1).max(1_000_000_000);

export const versionRecord = z.strictObject({
  ...columns,
  version: versionNumber,
  status: z.enum(['active', 'archived', 'deleted']),
  valid_from: instant,
  valid_to: instant,
});

export const recordSchema = z
  .strictObject({
    ...columns,
    id: z.uuid(),
    version: versionNumber.default(1),
    status: z.enum(['active', 'archived']).default('active'),
    created_at: instant.optional(),
    updated_at: instant.optional(),
    versions: z.array(versionRecord).default([]),
  })
  .refine(
    ({ version, versions }) => new Set([version, ...versions.map((v) => v.version)]).size === versions.length + 1,
    'versions: two of them have one number',
  )
  .refine(
    ({ version, versions }) => versions.every((v) => v.version < version),
    'versions: one is newer than the memory',
  );

export type MemoryRecord = z.infer<typeof recordSchema>;

/** `versions` are the earlier ones, oldest first. */
export function toRecord(row: MemoryRow, versions: readonly Version[]): z.input<typeof recordSchema> {
  return {
    id: row.id,
    version: row.version,
    status: row.status as 'active' | 'archived',
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    ...toColumns(row),
    versions: versions.map((v) => ({
      version: v.version,
      status: v.status,
      valid_from: v.valid_from.toISOString(),
      valid_to: v.valid_to!.toISOString(),
      ...toColumns(v),
    })),
  };
}

/** Without what is not known. */
function toColumns(row: VersionColumns) {
  const all = {
    content: row.content,
    bucket: row.bucket,
    scope: row.scope,
    path: row.path,
    memory_type: row.memory_type,
    semantic_key: row.semantic_key,
    importance: row.importance,
    confidence: row.confidence,
    source: row.source,
    author: row.author,
    agent_id: row.agent_id,
    agent_instance_hash: row.agent_instance,
    session_id: row.session_id,
    position: row.position,
    metadata: row.metadata,
    provenance: row.provenance,
    occurred_at: row.occurred_at?.toISOString(),
    expires_at: row.expires_at?.toISOString(),
    action: row.action,
    reason: row.reason,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value != null)) as typeof all;
}

/** Reads JSON lines of an import. Everything that can be wrong with a line is found before anything is stored, and named by its number. */
import type { z } from 'zod';
import type { VersionColumns } from '../db/memories.ts';
import { ApiError, invalid } from '../errors.ts';
import { MAX_CONTENT_BYTES, normalisePath } from '../http/fields.ts';
import { UNSTORABLE, unstorable } from '../text/json.ts';
import { isBlank, utf8Length } from '../text/unicode.ts';
import { type MemoryRecord, recordSchema, versionRecord } from './record.ts';

/** A memory as a line tells it, with columns as the database has them. */
export interface ImportedMemory extends VersionColumns {
  readonly id: string;
  readonly version: number;
  readonly status: 'active' | 'archived';
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly versions: readonly ImportedVersion[];
}

export interface ImportedVersion extends VersionColumns {
  readonly version: number;
  readonly status: 'active' | 'archived' | 'deleted';
  readonly valid_from: Date;
  readonly valid_to: Date;
}

export interface Line {
  /** From 1. */
  readonly number: number;
  readonly record: ImportedMemory;
}

export interface Defaults {
  readonly bucket: string;
  readonly scope: string | null;
}

/** The lines of one page; blank lines count, and say nothing. @throws ApiError validation_error naming the line */
export function readLines(
  input: Defaults & { readonly jsonl: string; readonly limit: number; readonly cursor: number },
  now: Date,
): { lines: Line[]; next: number | null } {
  const all = input.jsonl.split('\n');
  if (all.at(-1) === '') all.pop();
  if (input.cursor > all.length) throw invalid('body', 'cursor', `is beyond the last line, ${all.length}`);
  const end = Math.min(all.length, input.cursor + input.limit);
  const lines: Line[] = [];
  const numbers = new Map<string, number>();
  for (let at = input.cursor; at < end; at++) {
    if (isBlank(all[at]!)) continue;
    const record = readLine(all[at]!, at + 1, input, now);
    const twin = numbers.get(record.id);
    if (twin !== undefined) throw fault(at + 1, `its id stands in line ${twin} too`);
    numbers.set(record.id, at + 1);
    lines.push({ number: at + 1, record });
  }
  return { lines, next: end < all.length ? end : null };
}

function readLine(text: string, number: number, defaults: Defaults, now: Date): ImportedMemory {
  const raw = parse(text, number);
  assertParts(raw, number);
  const parsed = recordSchema.safeParse(raw);
  if (!parsed.success) throw faultOf(parsed.error, number);
  assertContents(parsed.data, number);
  const { created_at, updated_at, versions, ...record } = parsed.data;
  const created = created_at === undefined ? now : new Date(created_at);
  return {
    ...toColumns(record, defaults),
    id: record.id,
    version: record.version,
    status: record.status,
    created_at: created,
    updated_at: updated_at === undefined ? created : new Date(updated_at),
    versions: versions.map(({ valid_from, valid_to, ...version }) => ({
      ...toColumns(version, defaults),
      version: version.version,
      status: version.status,
      valid_from: new Date(valid_from),
      valid_to: new Date(valid_to),
    })),
  };
}

function parse(text: string, number: number): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw fault(number, 'is not JSON');
  }
}

/** One version after the other, before the schema sees them all: it would name every fault of thousands. What `remember` refuses is refused here too. */
function assertParts(raw: unknown, number: number): void {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return; // told by the schema
  const { versions, ...memory } = raw as { readonly versions?: unknown };
  assertStorable(memory, number);
  for (const [i, version] of (Array.isArray(versions) ? versions : []).entries()) {
    assertStorable(version, number);
    const parsed = versionRecord.safeParse(version);
    if (!parsed.success) throw faultOf(parsed.error, number, ['versions', i]);
  }
}

function assertStorable(part: unknown, number: number): void {
  const why = unstorable(part);
  if (why !== null) throw fault(number, UNSTORABLE[why][1]);
}

function assertContents({ content, versions }: MemoryRecord, number: number): void {
  for (const text of [content, ...versions.map((v) => v.content)]) {
    if (isBlank(text)) throw fault(number, 'content: must hold more than white space');
    if (utf8Length(text) > MAX_CONTENT_BYTES)
      throw new ApiError('payload_too_large', `line ${number}: content is longer than ${MAX_CONTENT_BYTES} bytes`);
  }
}

function toColumns(
  record: Omit<MemoryRecord, 'versions' | 'created_at' | 'updated_at' | 'status' | 'id'>,
  { bucket, scope }: Defaults,
): VersionColumns {
  const date = (text: string | null | undefined) => (text == null ? null : new Date(text));
  return {
    action: record.action,
    reason: record.reason ?? null,
    content: record.content,
    bucket: record.bucket ?? bucket,
    scope: record.scope ?? scope,
    path: normalisePath(record.path ?? '') || null,
    memory_type: record.memory_type,
    semantic_key: record.semantic_key ?? null,
    importance: record.importance ?? null,
    confidence: record.confidence ?? null,
    source: record.source ?? null,
    author: record.author ?? null,
    agent_id: record.agent_id ?? null,
    agent_instance: record.agent_instance_hash ?? null,
    session_id: record.session_id ?? null,
    position: record.position ?? null,
    metadata: record.metadata,
    provenance: record.provenance,
    occurred_at: date(record.occurred_at),
    expires_at: date(record.expires_at),
  };
}

function faultOf({ issues: [issue] }: z.ZodError, number: number, at: readonly PropertyKey[] = []): ApiError {
  const path = [...at, ...(issue?.path ?? [])].join('.');
  return fault(number, [path, issue?.message].filter(Boolean).join(': '));
}

const fault = (number: number, what: string): ApiError =>
  new ApiError('validation_error', `line ${number}: ${what}`, {
    faults: [{ loc: ['body', 'jsonl', number], msg: `line ${number}: ${what}`, type: 'line_invalid' }],
  });

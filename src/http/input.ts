/**
 * Makes the input of a request strict or lenient before its schema validates it. On the canonical mount an unknown field is refused, since a
 * mistyped filter must never widen a search; on the mounts of existing clients it is dropped and named in `warnings`, and small slips are
 * mended (lenient.ts).
 * Everywhere null means "not given", and so does an empty cursor; "5" and "true" are taken where a number or boolean is meant.
 */
import { closest, distance } from 'fastest-levenshtein';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { ApiError, type Fault, invalid } from '../errors.ts';
import { UNSTORABLE, unstorable } from '../text/json.ts';
import { invalidText } from '../text/unicode.ts';
import { innermost } from './fields.ts';
import { mended } from './lenient.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Unknown fields that were dropped; they stand in the reply. */
    warnings: string[];
  }
}

type Place = 'body' | 'query';

export function registerInput(app: FastifyInstance, unknownFields: 'refuse' | 'drop'): void {
  app.decorateRequest('warnings');
  app.addHook('onRequest', async (request) => {
    request.warnings = [];
  });
  app.addHook('preValidation', async (request) => {
    const { schema } = request.routeOptions;
    // no id of ours holds what cannot be stored, and the database must not be asked for it
    const ids = Object.values(request.params ?? {}) as string[];
    if (ids.some((id) => invalidText(id) !== null))
      throw new ApiError('not_found', 'nothing with this id is visible to this token');
    request.query = normalise(request, 'query', schema?.querystring, request.query);
    if (schema?.body) request.body = normalise(request, 'body', schema.body, request.body ?? {});
  });

  function normalise(request: FastifyRequest, place: Place, schema: unknown, given: unknown): unknown {
    if (typeof given !== 'object' || given === null || Array.isArray(given)) return given;
    const shape = (schema as z.ZodObject | undefined)?.shape ?? {};
    const faults: Fault[] = [];
    let unknown = 0;
    const out: Record<string, unknown> = {};
    for (const [field, sent] of Object.entries(given)) {
      const kind = shape[field];
      if (!Object.hasOwn(shape, field) || !kind) {
        if (++unknown > MAX_NAMED) continue;
        const named = field.slice(0, MAX_SHOWN);
        const text = `${named}: unknown field${suggestion(named, Object.keys(shape))}`;
        if (unknownFields === 'refuse') faults.push({ loc: [place, named], msg: text, type: 'extra_forbidden' });
        else request.warnings.push(text);
        continue;
      }
      if (sent === null || (field === 'cursor' && sent === '')) continue;
      const value = unknownFields === 'drop' ? mended(field, kind, sent, (text) => request.warnings.push(text)) : sent;
      assertStorable(place, field, value);
      out[field] = relax(place, field, kind, value);
    }
    if (faults.length > 0) throw new ApiError('validation_error', faults[0]!.msg, { faults });
    return out;
  }
}

/**
 * In these fields of a body an empty text means "not given": clients that keep a write for later send all its fields. Never to be used for a
 * filter, which would widen.
 */
export function ignoreEmpty(app: Pick<FastifyInstance, 'addHook'>, fields: readonly string[]): void {
  app.addHook('preValidation', async (request) => {
    if (typeof request.body !== 'object' || request.body === null) return;
    const given = Object.entries(request.body).filter(([field, value]) => value !== '' || !fields.includes(field));
    request.body = Object.fromEntries(given);
  });
}

/** Unknown fields that are named, and characters of each: to look for the nearest known one takes time. */
const MAX_NAMED = 20;
const MAX_SHOWN = 80;

function suggestion(field: string, known: readonly string[]): string {
  if (known.length === 0) return '; this route takes none here';
  const nearest = closest(field, known);
  return distance(field, nearest) <= Math.max(2, field.length / 2)
    ? `; did you mean ${nearest}?`
    : `; known are ${known.slice(0, 40).join(', ')}`;
}

/** @throws ApiError validation_error */
function assertStorable(place: Place, field: string, value: unknown): void {
  const why = unstorable(value);
  if (why === null) return;
  const [type, message] = UNSTORABLE[why];
  throw invalid(place, field, message, type);
}

function relax(place: Place, field: string, schema: z.core.$ZodType, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const kind = innermost(schema)._zod.def.type;
  if (kind === 'number' && /^\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*$/i.test(value)) return Number(value);
  if (kind === 'boolean' && /^(true|false)$/i.test(value)) return value.toLowerCase() === 'true';
  if (kind === 'record' || kind === 'object') return parseObject(place, field, value);
  return value;
}

function parseObject(place: Place, field: string, text: string): unknown {
  try {
    const parsed: unknown = JSON.parse(text);
    assertStorable(place, field, parsed);
    return parsed;
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw invalid(place, field, 'is not a JSON object', 'json_invalid');
  }
}

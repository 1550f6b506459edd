/**
 * What clients that are out there send and cannot be told to send otherwise: mended on their mounts alone, and named in `warnings`. A refusal
 * would cost an agent its memory for a slip that leaves no doubt of what is meant.
 */
import type { z } from 'zod';
import { wellFormed } from '../text/json.ts';
import { innermost, instant } from './fields.ts';

/** Undefined: as if the field had not been sent. */
export function mended(field: string, schema: z.core.$ZodType, value: unknown, warn: (text: string) => void): unknown {
  // a model that wants no type names an empty one; no memory has it, so that nothing is meant by it but this
  if (field === 'memory_type' && value === '') return undefined;
  if (typeof value === 'string' && innermost(schema) === instant) return readInstant(field, value, warn);
  const whole = wellFormed(value);
  if (whole !== value) warn(`${field}: holds half of a surrogate pair, which was taken for U+FFFD`);
  return whole;
}

/** ISO 8601 knows more ways to write an instant than RFC 3339. */
const ISO_8601 = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d(?:\.\d+)?)?(?:(Z)|([+-]\d\d):?(\d\d)?)?$/i;

/** Models and `datetime.isoformat()` leave the offset out. */
function readInstant(field: string, text: string, warn: (text: string) => void): string {
  const [, date, minutes, seconds = ':00', zulu, hours, rest = '00'] = ISO_8601.exec(text.trim()) ?? [];
  if (date === undefined) return text;
  if (!zulu && !hours) warn(`${field}: names no offset and was read as UTC`);
  return `${date}T${minutes}${seconds}${hours ? `${hours}:${rest}` : 'Z'}`;
}

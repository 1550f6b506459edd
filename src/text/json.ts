/** Questions about JSON values: equal ones as equal texts, and whether one comes back from the database as it went in. */
import { invalidText } from './unicode.ts';

/** JSON with sorted keys: equal values give equal texts, in whatever order they were written. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

const MAX_DEPTH = 32;
/** Keys included. More is an attack: every reader of the memory would be sent it, and each value costs several times its bytes. */
const MAX_VALUES = 10_000;

export const UNSTORABLE = {
  nul: ['nul_character', 'holds a NUL character (U+0000), which cannot be stored'],
  lone_surrogate: ['lone_surrogate', 'holds half of a surrogate pair, which is not valid Unicode'],
  too_deep: ['too_deep', `is nested deeper than ${MAX_DEPTH} levels`],
  too_many: ['too_many_values', `holds more than ${MAX_VALUES.toLocaleString('en')} values`],
  too_large: ['too_large_number', 'holds a number that is too large for JSON'],
  prototype: ['prototype_key', 'holds the key __proto__, which is not taken'],
} as const;

/** Why a value that was read from JSON cannot be stored and given back as it came; null: it can. */
export function unstorable(value: unknown): keyof typeof UNSTORABLE | null {
  let left = MAX_VALUES;
  return look(value, 0);

  function look(inner: unknown, depth: number): keyof typeof UNSTORABLE | null {
    if (left-- < 0) return 'too_many';
    if (typeof inner === 'string') return invalidText(inner);
    if (typeof inner === 'number') return Number.isFinite(inner) ? null : 'too_large'; // 1e400 is read as Infinity
    if (typeof inner !== 'object' || inner === null) return null;
    if (depth >= MAX_DEPTH) return 'too_deep';
    const names = Array.isArray(inner) ? [] : Object.keys(inner);
    const values: unknown[] = Array.isArray(inner) ? inner : Object.values(inner);
    if (values.length > left) return 'too_many';
    if (names.includes('__proto__')) return 'prototype';
    for (const next of [...names, ...values]) {
      const why = look(next, depth + 1);
      if (why) return why;
    }
    return null;
  }
}

/** With U+FFFD for every lone surrogate, as any decoder would read it; the value itself when it holds none. */
export function wellFormed(value: unknown): unknown {
  if (unstorable(value) !== 'lone_surrogate') return value;
  return mend(value, 0);

  function mend(inner: unknown, depth: number): unknown {
    if (typeof inner === 'string') return inner.replace(/\p{Surrogate}/gu, '\ufffd');
    if (typeof inner !== 'object' || inner === null || depth > MAX_DEPTH) return inner;
    if (Array.isArray(inner)) return inner.map((next) => mend(next, depth + 1));
    return Object.fromEntries(Object.entries(inner).map(([name, next]) => [name, mend(next, depth + 1)]));
  }
}

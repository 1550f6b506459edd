/**
 * The only way a value reaches SQL. Fragments nest; nobody counts `$n`; `undefined` throws,
 * so that a forgotten filter is a loud failure and not a query without that filter.
 */
export class Sql {
  readonly strings: readonly string[];
  readonly values: readonly unknown[];

  constructor(strings: readonly string[], values: readonly unknown[]) {
    this.strings = strings;
    this.values = values;
  }
}

export function sql(strings: TemplateStringsArray, ...values: unknown[]): Sql {
  const at = values.indexOf(undefined);
  if (at >= 0) throw new TypeError(`sql: value ${at} is undefined in "${strings.join('?').trim().slice(0, 80)}"`);
  return new Sql(strings, values);
}

export const EMPTY = new Sql([''], []);

/** Fragments side by side; an empty list is refused, since `a in ()` is not SQL. */
export function join(parts: readonly Sql[], separator: ', ' | ' and ' | ' or '): Sql {
  if (parts.length === 0) throw new TypeError('sql: nothing to join');
  return new Sql(['', ...Array<string>(parts.length - 1).fill(separator), ''], [...parts]);
}

export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Flattens nested fragments to text with `$1 …` and its values. */
export function compile(fragment: Sql): Statement {
  const values: unknown[] = [];
  const write = (part: Sql): string =>
    part.strings.reduce((text, piece, i) => {
      const value = part.values[i - 1];
      if (value instanceof Sql) return text + write(value) + piece;
      values.push(value);
      return `${text}$${values.length}${piece}`;
    });
  return { text: write(fragment), values };
}

/** A vector as pgvector's binary format: dimensions (uint16), 0 (uint16), float32 each, big endian. Write `${vector(v)}::vector`. */
export function vector(v: Float32Array): Buffer {
  const out = Buffer.alloc(4 + v.length * 4);
  out.writeUInt16BE(v.length, 0);
  for (let i = 0; i < v.length; i++) out.writeFloatBE(v[i]!, 4 + i * 4);
  return out;
}

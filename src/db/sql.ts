import pgvector from 'pgvector';

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

/** A vector as pgvector reads it; six decimals are more than half precision keeps. Write `${vector(v)}::halfvec`. */
export function vector(v: Float32Array): string {
  return pgvector.toSql(Array.from(v, (x) => Math.round(x * 1e6) / 1e6));
}

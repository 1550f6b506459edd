/** The token vectors that late interaction compares: of the best passage of each candidate, and of what stands before and after it. */
import { NEAREST } from '../db/beside.ts';
import type { Tx } from '../db/db.ts';
import { withPast } from '../db/past.ts';
import { type Sql, sql } from '../db/sql.ts';
import type { Candidate } from './candidates.ts';

/** Sign bits, 48 bytes a token. */
export interface PassageBits {
  readonly own: Uint8Array;
  /** Of the passages that the memory's neighbours in its session turn to it. */
  readonly beside: readonly Uint8Array[];
}

interface Row {
  readonly seq: string;
  readonly own: Buffer | null;
  readonly before: Buffer | null;
  readonly after: Buffer | null;
}

/** What stands beside is looked up for so many: it lifts nothing from further below into the first ten (docs/retrieval.md). */
const BESIDE_DEPTH = 30;

/** Of candidates, best first. By seq; without those that have no token vectors of this model. */
export async function loadTokenBits(
  tx: Tx,
  model: number,
  candidates: readonly Candidate[],
  past: Sql | undefined,
): Promise<Map<string, PassageBits>> {
  const wanted = candidates.filter((c) => c.passage !== null);
  if (wanted.length === 0) return new Map();
  const statement = sql`
    select w.seq, p.token_bits as own, ${bitsBeside(model, 'before')} as before, ${bitsBeside(model, 'after')} as after
    from unnest(${wanted.map((c) => c.space_id)}::int[], ${wanted.map((c) => c.seq)}::bigint[], ${wanted.map((c) => c.passage)}::int[],
        ${wanted.map((_, i) => i < BESIDE_DEPTH)}::boolean[]) as w(space_id, seq, ordinal, near)
      join passages p on p.space_id = w.space_id and p.model = ${model} and p.seq = w.seq and p.ordinal = w.ordinal
      join memories m on m.space_id = w.space_id and m.seq = w.seq`;
  const rows = await tx.query<Row>(withPast(past, statement));
  return new Map(
    rows.flatMap(({ seq, own, before, after }) =>
      own ? [[seq, { own, beside: [before, after].filter((bits) => bits !== null) }] as const] : [],
    ),
  );
}

/**
 * Turns of another author, and parts of the same document (same author, dated to the same instant): what one author says at different times
 * is about different things. Of several passages the one that is turned to the memory.
 */
function bitsBeside(model: number, side: 'before' | 'after'): Sql {
  const turned = side === 'before' ? sql`p.ordinal desc` : sql`p.ordinal`;
  return sql`
    case when w.near and m.session_id is not null then (
      select p.token_bits from (select n.* from memories n where ${NEAREST[side]}) n
        join passages p on p.space_id = n.space_id and p.model = ${model} and p.seq = n.seq
      where n.author is distinct from m.author or n.occurred_at = m.occurred_at order by ${turned} limit 1) end`;
}

/** The token vectors that late interaction compares: of the best passage of each candidate, and of what stands before and after it. */
import { BESIDE } from '../db/beside.ts';
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
    select w.seq, p.token_bits as own, ${lastBefore(model)} as before, ${firstAfter(model)} as after
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
 * is about different things.
 */
const lastBefore = (model: number): Sql => sql`
  case when w.near and m.session_id is not null then (
    select p.token_bits from (select b.* from memories b where ${BESIDE.b} and b.place < m.place order by b.place desc limit 1) b
      join passages p on p.space_id = b.space_id and p.model = ${model} and p.seq = b.seq
    where b.author is distinct from m.author or b.occurred_at = m.occurred_at order by p.ordinal desc limit 1) end`;

const firstAfter = (model: number): Sql => sql`
  case when w.near and m.session_id is not null then (
    select p.token_bits from (select a.* from memories a where ${BESIDE.a} and a.place > m.place order by a.place limit 1) a
      join passages p on p.space_id = a.space_id and p.model = ${model} and p.seq = a.seq
    where a.author is distinct from m.author or a.occurred_at = m.occurred_at order by p.ordinal limit 1) end`;

/** Writes the postings of memories, and of those beside them whose words change with them. */
import { NEAREST } from '../db/beside.ts';
import type { Tx } from '../db/db.ts';
import { sql } from '../db/sql.ts';
import { LENT_CHARACTERS } from '../text/indexed.ts';
import { type Neighbour, wordsOf } from '../text/lexical.ts';

interface Row extends Neighbour {
  readonly seq: string;
  readonly length: number;
  readonly terms: readonly string[];
  readonly before: Lender | null;
  readonly after: Lender | null;
}

/** A neighbour as JSON: dates are text there. */
interface Lender {
  readonly content: string;
  readonly author: string | null;
  readonly occurred_at: string | null;
}

export interface Totals {
  readonly memories: number;
  readonly terms: number;
}

export const addTotals = (a: Totals, b: Totals): Totals => ({
  memories: a.memories + b.memories,
  terms: a.terms + b.terms,
});

/**
 * Writers of one session take turns: each of them rewrites the words of memories that the others may be writing. Call it before reading.
 * The shared lock holds off whoever writes many sessions of the space at once.
 */
export async function lockSessions(tx: Tx, space: number, sessions: readonly (string | null)[]): Promise<void> {
  const named = sessions.filter((session) => session !== null);
  if (named.length === 0) return;
  await tx.query(sql`
    select pg_advisory_xact_lock_shared(${space}::bigint), pg_advisory_xact_lock(${space}::int, h)
    from (select distinct hashtext(s) as h from unnest(${named}::text[]) s order by 1) ordered`);
}

/** In place of the locks of many sessions: one writer in the whole space. */
export async function lockAllSessions(tx: Tx, space: number): Promise<void> {
  await tx.query(sql`select pg_advisory_xact_lock(${space}::bigint)`);
}

/**
 * The memories whose words depend on these: up to the next one on either side that lends words, and those between that only borrow
 * (archived or expiring ones), or a forgotten memory would go on speaking through them.
 */
export async function besides(tx: Tx, space: number, seqs: readonly string[]): Promise<string[]> {
  const rows = await tx.query<{ seq: string }>(sql`
    -- Materialized: else the ends are looked for again for every memory between them, and a session of which each expires has no ends.
    with ends as materialized (
      select m.seq, m.session_id, m.bucket, m.scope, m.place,
        (select n.place from memories n where ${NEAREST.before}) as first,
        (select n.place from memories n where ${NEAREST.after}) as last
      from memories m where m.space_id = ${space} and m.seq = any (${seqs}::bigint[]) and m.session_id is not null)
    select distinct n.seq from ends e join memories n on n.space_id = ${space} and n.session_id = e.session_id and n.status <> 'deleted'
      and n.bucket = e.bucket and n.scope is not distinct from e.scope and n.place <> e.place
      and n.place between coalesce(e.first, '') and coalesce(e.last, ${LAST_PLACE})`);
  return rows.map((row) => row.seq);
}

/** After every place: they are digits and an id. */
const LAST_PLACE = '~';

/** Analyses memories anew, beside their present neighbours, and replaces their postings. Returns how the totals of the space move. */
export async function indexWords(tx: Tx, space: number, seqs: readonly string[]): Promise<Totals> {
  if (seqs.length === 0) return { memories: 0, terms: 0 };
  const rows = await tx.query<Row>(sql`
    select m.seq, m.content, m.author, m.path, m.occurred_at, m.created_at, m.length, m.terms,
      (select ${LENT} from memories n where m.session_id is not null and ${NEAREST.before}) as before,
      (select ${LENT} from memories n where m.session_id is not null and ${NEAREST.after}) as after
    from memories m where m.space_id = ${space} and m.seq = any (${seqs}::bigint[]) order by m.seq for update of m`);
  const indexed = rows.map((row) => ({ row, words: wordsOf(row, neighbour(row.before), neighbour(row.after)) }));
  await deletePostings(tx, space, rows);
  const flat = indexed.flatMap(({ row, words }) =>
    words.terms.map((term, i) => ({ term, seq: row.seq, tf: words.frequencies[i]!, length: words.length })),
  );
  for (const some of parts(flat))
    await tx.query(sql`
      insert into postings (space_id, term, seq, tf, length)
      select ${space}, t, s, f, l from unnest(${some.map((p) => p.term)}::text[], ${some.map((p) => p.seq)}::bigint[],
        ${some.map((p) => p.tf)}::real[], ${some.map((p) => p.length)}::real[]) as p(t, s, f, l) order by t collate "C", s`);
  for (const { row, words } of indexed) {
    await tx.query(
      sql`update memories set terms = ${words.terms}::text[], length = ${words.length} where space_id = ${space} and seq = ${row.seq}`,
    );
  }
  return {
    memories:
      indexed.filter(({ row, words }) => row.length === 0 && words.length > 0).length -
      indexed.filter(({ row, words }) => row.length > 0 && words.length === 0).length,
    terms: indexed.reduce((sum, { row, words }) => sum + words.length - stored(row.length), 0),
  };
}

/** Takes memories out of the lexical arm. */
export async function unindexWords(tx: Tx, space: number, seqs: readonly string[]): Promise<Totals> {
  const rows = await tx.query<Pick<Row, 'seq' | 'length' | 'terms'>>(sql`
    select seq, length, terms from memories where space_id = ${space} and seq = any (${seqs}::bigint[]) order by seq for update`);
  await deletePostings(tx, space, rows);
  await tx.query(
    sql`update memories set terms = '{}', length = 0 where space_id = ${space} and seq = any (${seqs}::bigint[])`,
  );
  return {
    memories: -rows.filter((row) => row.length > 0).length,
    terms: -rows.reduce((sum, row) => sum + stored(row.length), 0),
  };
}

/** A real as the column holds it: it comes as its shortest decimal, and sums of those would drift in the last digits. */
const stored = Math.fround;

async function deletePostings(tx: Tx, space: number, rows: readonly Pick<Row, 'seq' | 'terms'>[]): Promise<void> {
  const old = rows.flatMap((row) => row.terms.map((term) => ({ term, seq: row.seq })));
  for (const some of parts(old))
    await tx.query(sql`
      delete from postings p using unnest(${some.map((o) => o.term)}::text[], ${some.map((o) => o.seq)}::bigint[]) as o(term, seq)
      where p.space_id = ${space} and p.term = o.term and p.seq = o.seq`);
}

/** A book has a hundred thousand terms, and the embedded database stands still for each statement. */
const POSTINGS_A_STATEMENT = 10_000;

function* parts<T>(postings: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < postings.length; from += POSTINGS_A_STATEMENT)
    yield postings.slice(from, from + POSTINGS_A_STATEMENT);
}

const LENT = sql`jsonb_build_object('content', left(n.content, ${LENT_CHARACTERS}), 'author', n.author, 'occurred_at', n.occurred_at)`;

function neighbour(lent: Lender | null): Neighbour | undefined {
  if (!lent) return undefined;
  const occurred_at = lent.occurred_at === null ? null : new Date(lent.occurred_at);
  return {
    content: lent.content,
    author: lent.author,
    path: null,
    occurred_at,
    created_at: occurred_at ?? new Date(0),
  };
}

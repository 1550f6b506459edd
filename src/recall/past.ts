/**
 * The index as it stood at an instant, so that a recall of then ranks as it ranked then: words, vectors, totals and standings. Only memories
 * that have changed since, and those in a session with them, are made anew; everything else is in the present index as it was.
 */
import type { Tx } from '../db/db.ts';
import { memoriesAt } from '../db/past.ts';
import { type Sql, sql } from '../db/sql.ts';
import { LENT_CHARACTERS as LENT } from '../text/indexed.ts';
import { type Neighbour, type Words, wordsOf } from '../text/lexical.ts';
import type { Boundary, MemoryStatus } from '../types.ts';
import { inTurns } from './turns.ts';

export interface Past {
  /** Stands for the table `memories`. */
  readonly memories: Sql;
  /** Stands for every table that the search reads, `memories` among them. */
  readonly index: Sql;
}

export interface PastRequest {
  readonly spaces: readonly number[];
  readonly at: Date;
  readonly boundary: Boundary;
  readonly now: Date;
  /** Terms of the question: no others are made anew. */
  readonly terms: readonly string[];
}

/** A memory of then. */
interface Then extends Neighbour {
  readonly space_id: number;
  readonly seq: string;
  readonly version: number;
  readonly bucket: string;
  readonly scope: string | null;
  readonly session_id: string | null;
  readonly place: string;
  readonly status: MemoryStatus;
  readonly expires_at: Date | null;
  /** What it lends to the memories beside it. */
  readonly lent: string;
  /** The reader may see what it is now. */
  readonly in_reach: boolean | null;
  /** Its text has changed since. */
  readonly other_text: boolean;
}

export async function readPast(tx: Tx, request: PastRequest): Promise<Past> {
  const { spaces, at, boundary, now, terms } = request;
  const moved = await movedSince(tx, spaces, at);
  const then = await membersThen(tx, request, moved);
  const affected = [...new Set([...moved, ...then.map(({ seq }) => seq)])];
  const words = await inTurns(wordsThen(then));
  const memories = memoriesAt(spaces, at, boundary, now);
  return {
    memories,
    index: sql`
      ${await totalsThen(tx, spaces, affected, words)},
      ${postingsThen(spaces, affected, words, new Set(terms))},
      ${await passagesThen(tx, spaces, moved, then)},
      memory_usage as not materialized (
        select distinct on (space_id, seq) space_id, seq, standing from standings
        where space_id = any (${spaces}::int[]) and at <= ${at} order by space_id, seq, standing desc),
      ${memories}`,
  };
}

/** Memories whose present row is not that of then: changed since, or not there yet. The forgotten ones are in no index, of then or now. */
async function movedSince(tx: Tx, spaces: readonly number[], at: Date): Promise<string[]> {
  const rows = await tx.query<{ seq: string }>(sql`
    select seq from memories where space_id = any (${spaces}::int[]) and updated_at > ${at} and status <> 'deleted'`);
  return rows.map(({ seq }) => seq);
}

/** These memories as they were, and all that stood or stands in a session with one of them, whatever a token may see: statistics are the space's. */
async function membersThen(
  tx: Tx,
  { spaces, at, boundary, now }: PastRequest,
  moved: readonly string[],
): Promise<Then[]> {
  if (moved.length === 0) return [];
  return tx.query<Then>(sql`
    with present as materialized (
      select space_id, seq, session_id, content_hash from memories where space_id = any (${spaces}::int[]) and seq = any (${moved}::bigint[])),
    ${memoriesAt(spaces, at, {}, now, boundary)},
    sessions as materialized (
      select space_id, session_id from present where session_id is not null
      union select m.space_id, m.session_id from memories m join present p on p.space_id = m.space_id and p.seq = m.seq
        where m.session_id is not null)
    select m.space_id, m.seq, m.version, m.content, left(m.content, ${LENT}) as lent, m.author, m.path, m.occurred_at, m.created_at, m.bucket, m.scope, m.session_id, m.place,
      m.status, m.expires_at, m.in_reach, coalesce(p.content_hash <> m.content_hash, false) as other_text
    from memories m left join present p on p.space_id = m.space_id and p.seq = m.seq
    where p.seq is not null or (m.space_id, m.session_id) in (select space_id, session_id from sessions)
    order by m.seq`);
}

interface Indexed {
  readonly memory: Then;
  readonly words: Words;
}

/** As memory/words makes them: beside what stood before and after it in its session, of what every reader of it could read. In steps of a memory. */
function* wordsThen(then: readonly Then[]): Generator<void, Indexed[]> {
  const sessions = new Map<string, Then[]>();
  for (const memory of then) {
    if (memory.status === 'deleted') continue;
    const session = memory.session_id === null ? memory.seq : sessionOf(memory);
    const members = sessions.get(session);
    if (members) members.push(memory);
    else sessions.set(session, [memory]);
  }
  const indexed: Indexed[] = [];
  for (const members of sessions.values()) {
    const placed = members.sort((a, b) => (a.place < b.place ? -1 : 1));
    const before = lastLenders(placed);
    const after = lastLenders(placed.toReversed()).reverse();
    for (const [i, memory] of placed.entries()) {
      yield;
      indexed.push({ memory, words: wordsOf(memory, before[i], after[i]) });
    }
  }
  return indexed;
}

/** For each of these the nearest one before it that lends its words: none that has left the reader's reach since, whose words it would tell. */
function lastLenders(members: readonly Then[]): (Neighbour | undefined)[] {
  let last: Neighbour | undefined;
  return members.map((memory) => {
    const before = last;
    if (memory.status === 'active' && memory.expires_at === null && memory.in_reach) last = lender(memory);
    return before;
  });
}

const sessionOf = ({ space_id, session_id, bucket, scope }: Then): string =>
  JSON.stringify([space_id, session_id, bucket, scope]);
const lender = (memory: Then): Neighbour => ({ ...memory, content: memory.lent, path: null });

/** The BM25 totals: those of now, less what is in them of these memories, and what they held then. */
async function totalsThen(
  tx: Tx,
  spaces: readonly number[],
  affected: readonly string[],
  then: readonly Indexed[],
): Promise<Sql> {
  const rows = await tx.query<{ id: number; memories: number; terms: number }>(sql`
    select s.id, (s.memories - count(m.seq))::float8 as memories, s.terms - coalesce(sum(m.length::float8), 0) as terms
    from spaces s left join memories m on m.space_id = s.id and m.seq = any (${affected}::bigint[]) and m.length > 0
    where s.id = any (${spaces}::int[]) group by s.id, s.memories, s.terms`);
  const totals = rows.map((row) => {
    const own = then.filter(({ memory, words }) => memory.space_id === row.id && words.length > 0);
    return {
      id: row.id,
      memories: row.memories + own.length,
      terms: row.terms + own.reduce((sum, { words }) => sum + words.length, 0),
    };
  });
  return sql`spaces as (select * from unnest(${totals.map((t) => t.id)}::int[], ${totals.map((t) => t.memories)}::float8[],
    ${totals.map((t) => t.terms)}::float8[]) as t(id, memories, terms))`;
}

/** Looked up in a hash: `<> all` of a parameter compares each row with every one of them, and a whole space may have changed. */
const noneOf = (seqs: readonly string[]): Sql => sql`seq not in (select unnest(${seqs}::bigint[]))`;

function postingsThen(
  spaces: readonly number[],
  affected: readonly string[],
  then: readonly Indexed[],
  asked: ReadonlySet<string>,
): Sql {
  const rows = then.flatMap(({ memory: { space_id, seq }, words }) =>
    words.terms.flatMap((term, i) =>
      asked.has(term) ? [{ space_id, seq, term, tf: words.frequencies[i]!, length: words.length }] : [],
    ),
  );
  return sql`
    postings as not materialized (
      select space_id, seq, term, tf, length from postings where space_id = any (${spaces}::int[]) and ${noneOf(affected)}
      union all
      select * from unnest(${rows.map((r) => r.space_id)}::int[], ${rows.map((r) => r.seq)}::bigint[], ${rows.map((r) => r.term)}::text[],
        ${rows.map((r) => r.tf)}::real[], ${rows.map((r) => r.length)}::real[]) as p(space_id, seq, term, tf, length))`;
}

/** The vectors that a text had are kept with the version that was replaced; a text that has not changed has those of the present. */
async function passagesThen(
  tx: Tx,
  spaces: readonly number[],
  moved: readonly string[],
  then: readonly Then[],
): Promise<Sql> {
  const kept = await tx.query<{ space_id: number; seq: string; version: number }>(sql`
    select v.space_id, v.seq, min(v.version) as version
    from passage_versions v join unnest(${then.map((m) => m.seq)}::bigint[], ${then.map((m) => m.version)}::int[]) as t(seq, version)
      on v.seq = t.seq and v.version >= t.version
    where v.space_id = any (${spaces}::int[]) group by 1, 2`);
  const replaced = new Set(kept.map(({ seq }) => seq));
  const same = new Set(then.filter((m) => !m.other_text && !replaced.has(m.seq)).map(({ seq }) => seq));
  const not = moved.filter((seq) => !same.has(seq));
  return sql`
    passages as not materialized (
      select space_id, seq, model, ordinal, log_length, embedding, token_bits from passages
      where space_id = any (${spaces}::int[]) and ${noneOf(not)}
      union all
      select v.space_id, v.seq, v.model, v.ordinal, v.log_length, v.embedding, v.token_bits
      from passage_versions v
        join unnest(${kept.map((k) => k.space_id)}::int[], ${kept.map((k) => k.seq)}::bigint[], ${kept.map((k) => k.version)}::int[])
          as k(space_id, seq, version) on v.space_id = k.space_id and v.seq = k.seq and v.version = k.version)`;
}

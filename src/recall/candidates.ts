/**
 * Finds candidates: the vector arm and the lexical arm in one statement and one snapshot, each with the visibility predicate and the
 * filters inside, before its limit. Every score that one arm lacks for the other's candidates is computed.
 */
import type { Tx } from '../db/db.ts';
import { type Sql, sql, vector } from '../db/sql.ts';
import type { MemoryType } from '../types.ts';
import { ARM_LIMIT, B, K1, LENGTH_PRIOR, type ModelConstants } from './constants.ts';

export interface Candidate {
  readonly space_id: number;
  readonly seq: string;
  readonly id: string;
  /** BM25; 0 when no term of the question occurs. */
  readonly bm25: number;
  /** Cosine of its best passage, on the scale of the local model; null without vectors of the present model. */
  readonly cosine: number | null;
  readonly passage: number | null;
  readonly log_length: number;
  readonly author: string | null;
  readonly path: string | null;
  readonly memory_type: MemoryType;
  readonly importance: number | null;
  readonly confidence: number | null;
  /** 0..1: how often it was said to be of use. */
  readonly used: number;
  readonly version: number;
  readonly occurred_at: Date | null;
  readonly created_at: Date;
  /** Session inside its boundaries; null without one. */
  readonly session: string | null;
  /** The session, or else the day on which it happened (UTC): what is ranked together. Null without either. */
  readonly occasion: string | null;
  /** The memory that stands before it in its document, when it is part of one. */
  readonly before_seq: string | null;
  /** The beginning of the content: enough to judge it. */
  readonly head: string;
  readonly tail: string;
  /** Set when the head is not the whole: what the content is compared by. */
  readonly hash: string | null;
  /** Terms of the question that it holds, when the head is not the whole. */
  readonly held: readonly string[] | null;
}

/** A term of the question in one space. */
export interface TermWeight {
  readonly space_id: number;
  readonly term: string;
  /** ln(1 + (n - df + 0.5) / (df + 0.5)) */
  readonly idf: number;
  /** Memories of the space that hold it. */
  readonly df: number;
}

export interface Found {
  readonly candidates: readonly Candidate[];
  readonly terms: readonly TermWeight[];
}

export interface ArmsRequest {
  readonly spaces: readonly number[];
  /** Distinct. */
  readonly terms: readonly string[];
  readonly model: number;
  /** Undefined: the embedder failed, the lexical arm answers alone. */
  readonly vector: Float32Array | undefined;
  readonly scale: ModelConstants['scale'];
  /** Visibility and filters, on the alias m. */
  readonly predicate: Sql;
  /** What rarity is counted over, on the alias m: a narrowed token must not learn from a score which words stand elsewhere. Undefined: all of the spaces. */
  readonly reach?: Sql | undefined;
  /** Stands for the tables, see recall/past. */
  readonly past?: Sql | undefined;
}

/** Characters of a content that ranking looks at. */
export const HEAD = 4_000;

export async function findCandidates(tx: Tx, request: ArmsRequest): Promise<Found> {
  const { terms, model, scale, predicate } = request;
  const query = request.vector && vector(request.vector);
  const rows = await tx.query<{ candidates: RawCandidate[] | null; terms: TermWeight[] | null }>(sql`
    with ${request.past ? sql`${request.past},` : sql``} stats as materialized (
      select space_id, n, ${K1 * B}::float8 / nullif(terms / nullif(n, 0), 0) as norm from (${totals(request)}) t),
    idf as materialized (
      select space_id, term, df, ln(1 + (n - df + 0.5) / (df + 0.5))::float8 as w, norm
      from stats, unnest(${[...terms].sort()}::text[]) as t(term),
        lateral (select count(*) as df from postings p ${holders(request)} where p.space_id = stats.space_id and p.term = t.term) d),
    lex as materialized (
      select idf.space_id, h.seq, ${exactSum(sql`w * ${K1 + 1}::float8 * tf / (tf + ${K1 * (1 - B)}::float8 + norm * length)`)} as bm25
      from idf, lateral (select seq, tf, length from postings p where p.space_id = idf.space_id and p.term = idf.term offset 0) h
      group by 1, 2),
    ${arm('lexical', { best: sql`bm25 desc, seq desc`, rows: sql`select space_id, seq, bm25 from lex` }, predicate)},
    ${arm('dense', query ? { best: sql`distance, seq desc`, rows: distances(request, query) } : undefined, predicate)},
    -- Grouped and not joined: the planner takes the lexical scores for a few rows and would compare each with each.
    found as (
      select space_id, seq, max(bm25) as bm25 from (
        select space_id, seq, bm25, false as picked from lex
        union all select space_id, seq, 0, true from lexical
        union all select space_id, seq, 0, true from dense) every
      group by 1, 2 having bool_or(picked))
    select
      (select json_agg(json_build_object('space_id', space_id, 'term', term, 'idf', w, 'df', df)) from idf) as terms,
      (select json_agg(c) from (
        select m.space_id, m.seq::text, m.id, f.bm25, v.cosine, v.ordinal as passage,
          coalesce(v.log_length, ln(2 + m.length)) as log_length, m.author, m.path, m.memory_type, m.importance, m.confidence,
          coalesce((select u.standing from memory_usage u where u.space_id = m.space_id and u.seq = m.seq), 0) as used,
          m.version, m.occurred_at, m.created_at, m.bucket, m.scope, m.session_id, ${BEFORE} as before_seq,
          left(m.content, ${HEAD}) as head, right(m.content, 20) as tail,
          case when length(m.content) > ${HEAD} then encode(m.content_hash, 'hex') end as hash,
          case when length(m.content) > ${HEAD} then (select coalesce(json_agg(i.term), '[]') from idf i join postings p
            on p.space_id = i.space_id and p.term = i.term and p.seq = f.seq where i.space_id = f.space_id) end as held
        from found f join memories m on m.space_id = f.space_id and m.seq = f.seq
          left join lateral (${
            query
              ? sql`select ordinal, log_length, 1 - (embedding <=> ${query}::halfvec) as cosine from passages p
                  where p.space_id = f.space_id and p.model = ${model} and p.seq = f.seq order by cosine desc, ordinal limit 1`
              : sql`select null::int as ordinal, null::float8 as log_length, null::float8 as cosine`
          }) v on true) c) as candidates`);
  const row = rows[0];
  return { candidates: (row?.candidates ?? []).map((raw) => toCandidate(raw, scale)), terms: row?.terms ?? [] };
}

/** Memories of each space and the terms in them. The past has no lengths of single memories: there a narrowed token's mean length is the space's. */
function totals({ spaces, reach, past }: ArmsRequest): Sql {
  const these = sql`s.id = any (${spaces}::int[])`;
  if (!reach) return sql`select s.id as space_id, s.memories::float8 as n, s.terms from spaces s where ${these}`;
  const terms = past ? sql`count(*) * s.terms / nullif(s.memories, 0)` : sql`sum(m.length::float8)`;
  return sql`
    select s.id as space_id, r.n, r.terms from spaces s, lateral (
      select count(*)::float8 as n, (${terms})::float8 as terms from memories m
      where m.space_id = s.id and m.status <> 'deleted' and ${reach}) r
    where ${these}`;
}

/** Which postings count for the rarity of their term. */
const holders = ({ reach }: ArmsRequest): Sql =>
  reach
    ? sql`join memories m on m.space_id = p.space_id and m.seq = p.seq and m.status <> 'deleted' and ${reach}`
    : sql``;

/** As the predicate of the covering index has it, which is partial: larger vectors do not fit into an index row. */
const sizeOf = ({ length }: Float32Array): Sql =>
  length <= 1_300 ? sql`vector_dims(embedding) <= 1300` : sql`vector_dims(embedding) > 1300`;

/** The memory directly before a part of a document: same session and boundaries, same author, dated to the same instant. */
const BEFORE = sql`case when m.session_id is not null and m.occurred_at is not null then (
  select case when b.occurred_at = m.occurred_at and b.author is not distinct from m.author then b.seq::text end
  from memories b where b.space_id = m.space_id and b.session_id = m.session_id and b.status <> 'deleted' and b.bucket = m.bucket
    and b.scope is not distinct from m.scope and b.place < m.place
  order by b.place desc limit 1) end`;

/** As JSON gives it: times are text. */
interface RawCandidate extends Omit<Candidate, 'occurred_at' | 'created_at' | 'session' | 'occasion'> {
  readonly occurred_at: string | null;
  readonly created_at: string;
  readonly bucket: string;
  readonly scope: string | null;
  readonly session_id: string | null;
}

function toCandidate({ bucket, scope, session_id, ...raw }: RawCandidate, scale: ArmsRequest['scale']): Candidate {
  const occurred_at = raw.occurred_at === null ? null : new Date(raw.occurred_at);
  const within = (name: string) => JSON.stringify([raw.space_id, bucket, scope, name]);
  const session = session_id === null ? null : within(session_id);
  return {
    ...raw,
    cosine: raw.cosine === null ? null : Math.min(1, Math.max(-1, scale.factor * raw.cosine + scale.offset)),
    occurred_at,
    created_at: new Date(raw.created_at),
    session,
    occasion: session ?? (occurred_at && within(occurred_at.toISOString().slice(0, 'yyyy-mm-dd'.length))),
  };
}

/**
 * The first ARM_LIMIT visible memories of an arm. The best rows are found by a bounded sort and looked at first; only where they do not hold
 * enough visible memories (a narrow filter, long memories of many passages) are all rows sorted. Both give the same memories.
 */
function arm(
  name: 'lexical' | 'dense',
  source: { readonly best: Sql; readonly rows: Sql } | undefined,
  predicate: Sql,
): Sql {
  const [first, near, all] = NAMES[name];
  if (!source) return sql`${all} as (select null::int as space_id, null::bigint as seq where false)`;
  const { best, rows } = source;
  const by = name === 'lexical' ? sql`max(bm25) as bm25` : sql`min(distance) as distance`;
  const visible = (ranked: Sql) => sql`
    select z.space_id, z.seq from (select space_id, seq, ${by} from ${ranked} r group by 1, 2 order by ${best} offset 0) z,
      lateral (select from memories m where m.space_id = z.space_id and m.seq = z.seq and ${predicate} offset 0) ok
    limit ${ARM_LIMIT}`;
  return sql`
    ${first} as materialized (select * from (${rows}) s order by ${best} limit ${FIRST_LOOK}),
    ${near} as materialized (${visible(first)}),
    ${all} as materialized (
      select * from ${near} where (select count(*) from ${near}) = ${ARM_LIMIT}
      union all (select * from (${visible(sql`(${rows})`)}) every where (select count(*) from ${near}) < ${ARM_LIMIT}))`;
}

/** Rows that are looked at first: enough for filters that let one in four through. */
const FIRST_LOOK = 4 * ARM_LIMIT;

const NAMES = {
  lexical: [sql`lexical_first`, sql`lexical_near`, sql`lexical`],
  dense: [sql`dense_first`, sql`dense_near`, sql`dense`],
} as const;

/** A sum that is the same in whatever order the rows come, which floating point's is not, without sorting them: in units of 1e-9. */
const exactSum = (term: Sql): Sql => sql`sum((${term} * 1e9)::bigint)::float8 / 1e9`;

/** Distance of every passage, less the length prior. */
function distances({ spaces, model, scale, vector: v }: ArmsRequest, query: string): Sql {
  return sql`
    select space_id, seq, (embedding <=> ${query}::halfvec) - ${LENGTH_PRIOR / scale.factor}::float8 * log_length as distance
    from passages where space_id = any (${spaces}::int[]) and model = ${model} and ${sizeOf(v!)}`;
}

export const NOTHING: Found = { candidates: [], terms: [] };

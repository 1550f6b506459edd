/** The statements of knowledge. Sections are rows of memories: their words and vectors are written by the engine. */
import type { Tx } from '../db/db.ts';
import { loadBySeq, type MemoryRow } from '../db/memories.ts';
import { type Sql, sql } from '../db/sql.ts';
import type { Boundary } from '../types.ts';
import type { Prepared } from './prepare.ts';

export interface Base {
  readonly space_id: number;
  readonly id: string;
  readonly content_space: number;
  readonly owner_id: string;
  readonly team_id: string | null;
  readonly name: string;
  readonly description: string | null;
  readonly bucket: string;
  readonly scope: string | null;
  readonly created_at: Date;
}

export interface DocumentRow {
  readonly space_id: number;
  readonly id: string;
  readonly source: string | null;
  readonly title: string;
  readonly content_type: string;
  readonly hash: Buffer;
  readonly bytes: number;
  readonly characters: number;
  readonly pages: number | null;
  readonly sections: number;
  readonly embedded: boolean;
  readonly owner_id: string;
  readonly agent_id: string | null;
  readonly occurred_at: Date;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly version: number;
}

/** A part of a statement that is left out. */
const NOTHING = sql``;

/** Inside the token's buckets and scopes, on the alias k. */
function inside({ buckets, scopes }: Boundary): Sql {
  return sql`true${buckets ? sql` and k.bucket = any (${buckets}::text[])` : NOTHING}${
    scopes ? sql` and k.scope = any (${scopes}::text[])` : NOTHING
  }`;
}

export async function insertBase(tx: Tx, b: Base): Promise<void> {
  await tx.query(sql`
    insert into knowledge_bases (space_id, id, content_space, owner_id, name, description, bucket, scope, created_at)
    values (${b.space_id}, ${b.id}, ${b.content_space}, ${b.owner_id}, ${b.name}, ${b.description}, ${b.bucket}, ${b.scope}, ${b.created_at})`);
}

export async function findBases(
  tx: Tx,
  spaces: readonly number[],
  boundary: Boundary,
  {
    id,
    before,
    limit,
  }: { readonly id?: string | undefined; readonly before?: string | undefined; readonly limit?: number },
): Promise<Base[]> {
  return tx.query<Base>(sql`
    select k.space_id, k.id, k.content_space, k.owner_id, case s.kind when 'team' then s.name end as team_id, k.name, k.description, k.bucket,
      k.scope, k.created_at
    from knowledge_bases k join spaces s on s.id = k.space_id
    where k.space_id = any (${spaces}::int[]) and ${inside(boundary)}${id === undefined ? NOTHING : sql` and k.id = ${id}`}${
      before === undefined ? NOTHING : sql` and k.id < ${before}`
    }
    order by k.id desc${limit === undefined ? NOTHING : sql` limit ${limit}`}`);
}

/** A base that is being deleted is gone for whoever waited for it. */
export async function holdBase(tx: Tx, base: Pick<Base, 'space_id' | 'id'>): Promise<boolean> {
  const rows = await tx.query(sql`
    select from knowledge_bases where space_id = ${base.space_id} and id = ${base.id} for key share`);
  return rows.length > 0;
}

export async function deleteBaseRow(tx: Tx, space: number, id: string): Promise<boolean> {
  const rows = await tx.query(sql`delete from knowledge_bases where space_id = ${space} and id = ${id} returning id`);
  return rows.length > 0;
}

/** Everything in the space of a base. */
export async function deleteContent(tx: Tx, space: number): Promise<{ documents: number; sections: number }> {
  // the sections first: whoever is writing vectors of one holds it, and they are there to be deleted afterwards
  const sections = await tx.query(sql`delete from memories where space_id = ${space} returning seq`);
  await tx.query(sql`delete from passages where space_id = ${space}`);
  await tx.query(sql`delete from postings where space_id = ${space}`);
  const documents = await tx.query(sql`delete from documents where space_id = ${space} returning id`);
  return { documents: documents.length, sections: sections.length };
}

export async function deleteSpace(tx: Tx, space: number): Promise<void> {
  await tx.query(sql`delete from spaces where id = ${space} and kind = 'knowledge'`);
}

const DOCUMENT: Sql = sql`d.space_id, d.id, d.source, d.title, d.content_type, d.hash, d.bytes, d.characters, d.pages, d.sections, d.embedded,
  d.owner_id, d.agent_id, d.occurred_at, d.created_at, d.updated_at, d.version`;

export async function findDocuments(
  tx: Tx,
  spaces: readonly number[],
  by: { readonly id?: string; readonly source?: string; readonly before?: string | undefined; readonly limit?: number },
  lock = false,
): Promise<DocumentRow[]> {
  return tx.query<DocumentRow>(sql`
    select ${DOCUMENT} from documents d
    where d.space_id = any (${spaces}::int[])${by.id === undefined ? NOTHING : sql` and d.id = ${by.id}`}${
      by.source === undefined ? NOTHING : sql` and d.source = ${by.source}`
    }${by.before === undefined ? NOTHING : sql` and d.id < ${by.before}`}
    order by d.id desc${by.limit === undefined ? NOTHING : sql` limit ${by.limit}`}${lock ? sql` for update` : NOTHING}`);
}

/** False when another writer has just taken the source. */
export async function insertDocument(tx: Tx, d: DocumentRow): Promise<boolean> {
  const rows = await tx.query(sql`
    insert into documents (space_id, id, source, title, content_type, hash, bytes, characters, pages, sections, embedded, owner_id, agent_id,
      occurred_at, created_at, updated_at, version)
    values (${d.space_id}, ${d.id}, ${d.source}, ${d.title}, ${d.content_type}, ${d.hash}, ${d.bytes}, ${d.characters}, ${d.pages},
      ${d.sections}, ${d.embedded}, ${d.owner_id}, ${d.agent_id}, ${d.occurred_at}, ${d.created_at}, ${d.updated_at}, ${d.version})
    on conflict (space_id, source) where source is not null do nothing returning id`);
  return rows.length > 0;
}

export async function replaceDocument(tx: Tx, d: DocumentRow): Promise<void> {
  await tx.query(sql`
    update documents set title = ${d.title}, content_type = ${d.content_type}, hash = ${d.hash}, bytes = ${d.bytes},
      characters = ${d.characters}, pages = ${d.pages}, sections = ${d.sections}, embedded = ${d.embedded}, claimed_until = null,
      owner_id = ${d.owner_id}, agent_id = ${d.agent_id}, occurred_at = ${d.occurred_at}, updated_at = ${d.updated_at}, version = ${d.version}
    where space_id = ${d.space_id} and id = ${d.id}`);
}

export async function deleteDocumentRow(tx: Tx, space: number, id: string): Promise<boolean> {
  const rows = await tx.query(sql`delete from documents where space_id = ${space} and id = ${id} returning id`);
  return rows.length > 0;
}

/** Short keys of the sections of a document, in order. */
export async function sectionsOf(tx: Tx, space: number, document: string): Promise<string[]> {
  const rows = await tx.query<{ seq: string }>(sql`
    select seq from memories where space_id = ${space} and session_id = ${document} order by place`);
  return rows.map((row) => row.seq);
}

/** Of one document or of all, in the order of their short keys, which is that of the documents. */
export async function findSections(
  tx: Tx,
  space: number,
  {
    document,
    after,
    limit,
  }: { readonly document?: string | undefined; readonly after?: string | undefined; readonly limit: number },
): Promise<MemoryRow[]> {
  const rows = await tx.query<{ seq: string }>(sql`
    select m.seq from memories m where m.space_id = ${space} and m.status <> 'deleted'${
      document === undefined ? NOTHING : sql` and m.session_id = ${document}`
    }${after === undefined ? NOTHING : sql` and m.seq > ${after}::bigint`}
    order by m.seq limit ${limit}`);
  const seqs = rows.map((row) => row.seq);
  const found = await loadBySeq(tx, [space], seqs);
  return seqs.map((seq) => found.get(seq)!);
}

export async function deleteSections(tx: Tx, space: number, seqs: readonly string[]): Promise<void> {
  await tx.query(sql`delete from passages where space_id = ${space} and seq = any (${seqs}::bigint[])`);
  await tx.query(sql`delete from memories where space_id = ${space} and seq = any (${seqs}::bigint[])`);
}

/** Bounds the size of one statement. */
const SECTIONS_A_STATEMENT = 250;

/** Writes sections with their words. Short keys in the order of the sections. */
export async function insertSections(
  tx: Tx,
  base: Base,
  document: DocumentRow,
  sections: readonly Prepared[],
  analyser: string,
): Promise<string[]> {
  const seqs: string[] = [];
  const { id: knowledge_base_id, content_space: space } = base;
  const { id: document_id, title } = document;
  for (let from = 0; from < sections.length; from += SECTIONS_A_STATEMENT) {
    const part = sections.slice(from, from + SECTIONS_A_STATEMENT);
    const metadata = part.map(({ section: { headings, page, start, end } }) =>
      JSON.stringify({ knowledge_base_id, document_id, title, headings, page, start, end }),
    );
    const rows = await tx.query<{ id: string; seq: string }>(sql`
      insert into memories (space_id, owner_id, bucket, scope, memory_type, source, agent_id, session_id, occurred_at, created_at, updated_at,
        analyser, id, path, content, content_hash, position, place, metadata, length, terms)
      select ${space}, ${document.owner_id}, ${base.bucket}, ${base.scope}, 'semantic', ${document.source}, ${document.agent_id},
        ${document_id}, ${document.occurred_at}, ${document.updated_at}, ${document.updated_at}, ${analyser}, id, path, content, content_hash,
        position, place, metadata::jsonb, length, array(select jsonb_array_elements_text(terms::jsonb))
      from unnest(${part.map((s) => s.id)}::uuid[], ${part.map((s) => s.path)}::text[], ${part.map((s) => s.section.content)}::text[],
        ${part.map((s) => s.content_hash)}::bytea[], ${part.map((s) => s.position)}::int[], ${part.map((s) => s.place)}::text[],
        ${metadata}::text[], ${part.map((s) => s.words.length)}::real[], ${part.map((s) => JSON.stringify(s.words.terms))}::text[])
        as p(id, path, content, content_hash, position, place, metadata, length, terms)
      order by position returning id, seq`);
    const byId = new Map(rows.map((row) => [row.id, row.seq]));
    const made = part.map((s) => byId.get(s.id)!);
    await insertPostings(tx, space, part, made);
    seqs.push(...made);
  }
  return seqs;
}

async function insertPostings(
  tx: Tx,
  space: number,
  sections: readonly Prepared[],
  seqs: readonly string[],
): Promise<void> {
  const flat = sections.flatMap(({ words }, i) =>
    words.terms.map((term, k) => ({ term, seq: seqs[i]!, tf: words.frequencies[k]!, length: words.length })),
  );
  await tx.query(sql`
    insert into postings (space_id, term, seq, tf, length)
    select ${space}, t, s, f, l from unnest(${flat.map((p) => p.term)}::text[], ${flat.map((p) => p.seq)}::bigint[],
      ${flat.map((p) => p.tf)}::real[], ${flat.map((p) => p.length)}::real[]) as p(t, s, f, l) order by t collate "C", s`);
}

export interface Unembedded {
  readonly seq: string;
  readonly content: string;
  readonly author: null;
  readonly path: string | null;
  readonly occurred_at: Date | null;
}

/** Sections of a document that have no vectors of a model yet. */
export async function findUnembedded(
  tx: Tx,
  space: number,
  document: string,
  model: number,
  limit: number,
): Promise<Unembedded[]> {
  return tx.query<Unembedded>(sql`
    select m.seq, m.content, null as author, m.path, m.occurred_at from memories m
    where m.space_id = ${space} and m.session_id = ${document} and m.status <> 'deleted'
      and not exists (select from passages p where p.space_id = m.space_id and p.model = ${model} and p.seq = m.seq)
    order by m.place limit ${limit}`);
}

/** Holds those sections that are still there: a document may be replaced while its vectors are made. */
export async function holdSections(tx: Tx, space: number, seqs: readonly string[]): Promise<Set<string>> {
  const rows = await tx.query<{ seq: string }>(sql`
    select seq from memories where space_id = ${space} and seq = any (${seqs}::bigint[]) order by seq for key share`);
  return new Set(rows.map((row) => row.seq));
}

export async function markEmbedded(tx: Tx, space: number, document: string): Promise<void> {
  await tx.query(
    sql`update documents set embedded = true, claimed_until = null where space_id = ${space} and id = ${document}`,
  );
}

/** Takes a document whose vectors are missing, for as long as `until`; undefined when there is none. Reads no text. */
export async function claimUnembedded(
  tx: Tx,
  now: Date,
  until: Date,
): Promise<{ space_id: number; id: string } | undefined> {
  const [row] = await tx.query<{ space_id: number; id: string }>(sql`
    update documents set claimed_until = ${until} where (space_id, id) in (
      select space_id, id from documents where not embedded and (claimed_until is null or claimed_until < ${now})
      order by updated_at, id limit 1 for update skip locked)
    returning space_id, id`);
  return row;
}

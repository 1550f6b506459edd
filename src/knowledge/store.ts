/** The statements of bases and documents; those of sections are in store-sections.ts. */
import type { Tx } from '../db/db.ts';
import { type Sql, sql } from '../db/sql.ts';
import { inside } from '../db/visible.ts';
import type { Boundary } from '../types.ts';

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
  /** Of them: those that are not searched yet. */
  readonly waiting: number;
  /** Every section has its vectors. */
  readonly embedded: boolean;
  readonly owner_id: string;
  readonly agent_id: string | null;
  readonly occurred_at: Date;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly version: number;
}

/** A part of a statement that is left out. */
export const NOTHING = sql``;

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
    select m.space_id, m.id, m.content_space, m.owner_id, case s.kind when 'team' then s.name end as team_id, m.name, m.description, m.bucket,
      m.scope, m.created_at
    from knowledge_bases m join spaces s on s.id = m.space_id
    where m.space_id = any (${spaces}::int[]) and ${inside(boundary)}${id === undefined ? NOTHING : sql` and m.id = ${id}`}${
      before === undefined ? NOTHING : sql` and m.id < ${before}`
    }
    order by m.id desc${limit === undefined ? NOTHING : sql` limit ${limit}`}`);
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

/** Sections of document d that stand in parts. */
const WAITING: Sql = sql`(select coalesce(sum(p.amount), 0)::int from document_parts p where p.space_id = d.space_id and p.document_id = d.id)`;

/** Sections of documents, or of one, that no search finds yet. */
export async function countWaiting(tx: Tx, spaces: readonly number[], document: string | undefined): Promise<number> {
  const [row] = await tx.query<{ n: number }>(sql`
    select coalesce(sum(amount), 0)::int as n from document_parts
    where space_id = any (${spaces}::int[]) and document_id is not null${document === undefined ? NOTHING : sql` and document_id = ${document}`}`);
  return row!.n;
}

const DOCUMENT: Sql = sql`d.space_id, d.id, d.source, d.title, d.content_type, d.hash, d.bytes, d.characters, d.pages, d.sections,
  ${WAITING} as waiting, ${WAITING} = 0 and
  not exists (select from memories m where m.embedded_by = 0 and m.space_id = d.space_id and m.session_id = d.id::text and m.status <> 'deleted')
    as embedded,
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
    insert into documents (space_id, id, source, title, content_type, hash, bytes, characters, pages, sections, owner_id, agent_id,
      occurred_at, created_at, updated_at, version)
    values (${d.space_id}, ${d.id}, ${d.source}, ${d.title}, ${d.content_type}, ${d.hash}, ${d.bytes}, ${d.characters}, ${d.pages},
      ${d.sections}, ${d.owner_id}, ${d.agent_id}, ${d.occurred_at}, ${d.created_at}, ${d.updated_at}, ${d.version})
    on conflict (space_id, source) where source is not null do nothing returning id`);
  return rows.length > 0;
}

export async function replaceDocument(tx: Tx, d: DocumentRow): Promise<void> {
  await tx.query(sql`
    update documents set title = ${d.title}, content_type = ${d.content_type}, hash = ${d.hash}, bytes = ${d.bytes},
      characters = ${d.characters}, pages = ${d.pages}, sections = ${d.sections},
      owner_id = ${d.owner_id}, agent_id = ${d.agent_id}, occurred_at = ${d.occurred_at}, updated_at = ${d.updated_at}, version = ${d.version}
    where space_id = ${d.space_id} and id = ${d.id}`);
}

export async function deleteDocumentRow(tx: Tx, space: number, id: string): Promise<boolean> {
  const rows = await tx.query(sql`delete from documents where space_id = ${space} and id = ${id} returning id`);
  return rows.length > 0;
}

/** Documents whose sections are being taken away are no longer the files that they were made of, and get no more sections. */
export async function unmake(tx: Tx, space: number, document: string | undefined): Promise<void> {
  const these = document === undefined ? NOTHING : sql` and id = ${document}`;
  const rows = await tx.query<{ id: string }>(
    sql`update documents set hash = '' where space_id = ${space}${these} returning id`,
  );
  await tx.query(
    sql`delete from document_parts where space_id = ${space} and document_id = any (${rows.map((row) => row.id)}::uuid[])`,
  );
}

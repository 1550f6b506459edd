/** The statements of sections: rows of memories in the space of a base. */
import type { Tx } from '../db/db.ts';
import { loadBySeq, type MemoryRow } from '../db/memories.ts';
import { sql } from '../db/sql.ts';
import type { Prepared } from './prepare.ts';
import { type Base, type DocumentRow, NOTHING } from './store.ts';

const ALL = 1_000_000;

/** Short keys of the sections of a document in order, or of a whole base. */
export async function sectionsOf(tx: Tx, space: number, document: string | undefined, limit = ALL): Promise<string[]> {
  const rows = await tx.query<{ seq: string }>(sql`
    select seq from memories where space_id = ${space}${
      document === undefined ? sql` order by seq` : sql` and session_id = ${document} order by place`
    } limit ${limit}`);
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
  base: Pick<Base, 'id' | 'content_space' | 'bucket' | 'scope'>,
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

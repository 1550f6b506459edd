/** From rows to the wire. */
import type { z } from 'zod';
import type { MemoryRow } from '../db/memories.ts';
import type { Placed } from './documents.ts';
import type { Engine } from './engine.ts';
import type { baseSchema, documentSchema, itemSchema } from './schema.ts';
import type { Base } from './store.ts';
import type { UploadRow } from './uploads.ts';

type WireItem = z.infer<typeof itemSchema>;

export const toBase = ({
  id,
  name,
  description,
  team_id,
  bucket,
  scope,
  created_at,
}: Base): z.infer<typeof baseSchema> => ({
  id,
  name,
  description,
  team_id,
  bucket,
  scope,
  created_at: created_at.toISOString(),
});

export function toDocument({ base, document: d }: Placed): z.infer<typeof documentSchema> {
  return {
    id: d.id,
    document_id: d.id,
    knowledge_base_id: base.id,
    title: d.title,
    source: d.source,
    content_type: d.content_type as z.infer<typeof documentSchema>['content_type'],
    bytes: d.bytes,
    characters: d.characters,
    pages: d.pages,
    sections: d.sections,
    status: d.waiting > 0 ? 'indexing' : 'ready',
    sections_indexed: d.sections - d.waiting,
    embedded: d.embedded,
    agent_id: d.agent_id,
    occurred_at: d.occurred_at.toISOString(),
    created_at: d.created_at.toISOString(),
    updated_at: d.updated_at.toISOString(),
    version: d.version,
    extraction_status: 'succeeded',
  };
}

/** Of a document that is in no base yet. */
export function toUploaded(u: UploadRow): z.infer<typeof documentSchema> {
  return {
    id: u.id,
    document_id: u.id,
    knowledge_base_id: null,
    title: u.title,
    source: null,
    content_type: u.content_type,
    bytes: u.size,
    characters: u.characters,
    pages: u.pages,
    sections: 0,
    status: 'ready',
    sections_indexed: 0,
    embedded: false,
    agent_id: u.agent_id,
    occurred_at: u.occurred_at.toISOString(),
    created_at: u.created_at.toISOString(),
    updated_at: u.created_at.toISOString(),
    version: 1,
    extraction_status: 'succeeded',
  };
}

/** What ingest wrote into the metadata of a section. */
type Meta = WireItem['citation'] & { readonly knowledge_base_id: string };

export function toItem(row: MemoryRow): WireItem {
  const { knowledge_base_id, document_id, title, headings, page, start, end } = row.metadata as Meta;
  return {
    id: row.id,
    type: 'knowledge',
    knowledge_base_id,
    document_id,
    citation: { document_id, title, headings, page, start, end },
    position: row.position ?? 0,
    path: row.path,
    content: row.content,
    bucket: row.bucket,
    scope: row.scope,
    occurred_at: row.occurred_at?.toISOString() ?? null,
    updated_at: row.updated_at.toISOString(),
  };
}

/** The text profile: reference, source, content; one blank line between sections. */
export function renderItems(engine: Engine, items: readonly WireItem[]): string {
  if (items.length === 0) return 'No matching XMemo knowledge was found.';
  return items
    .map(({ id, path, citation: { document_id, page, start, end }, content }) => {
      const at = `${page === null ? '' : `page ${page}, `}characters ${start}-${end}`;
      const source = `Source: document ${document_id}, ${at}`;
      return [engine.renderReference({ id, type: 'knowledge', path }), source, engine.renderContent(content)].join(
        '\n',
      );
    })
    .join('\n\n');
}

/** The wire of knowledge bases, documents and their sections. */
import { z } from 'zod';
import { idempotencyKey as idempotency_key, instant, name, pathText, queryText } from '../http/fields.ts';
import { warningsSchema } from '../http/wire.ts';
import { utf8Length } from '../text/unicode.ts';
import { DOCUMENT_TYPES } from './read/index.ts';

const time = z.iso.datetime();
const limit = (max: number, fallback: number) =>
  z.number().int().min(1).max(max).default(fallback).describe(`How many, 1 to ${max}.`);
const cursor = z.string().max(64).optional().describe('next_cursor of the page before.');
const nextCursor = z.string().nullable().describe('null: this is the last page.');
const baseId = name.optional().describe('`%`: all.');

export const newBaseBody = z.object({
  name: z.string().trim().min(1).max(256),
  description: z.string().max(4_000).optional(),
  team_id: name.optional().describe('Share with this team; the token must belong to it.'),
  bucket: name
    .default('public')
    .describe('Of the base and of every section in it: the boundaries of tokens act on it.'),
  scope: name.optional(),
  idempotency_key,
});

export const baseSchema = z.object({
  id: z.uuid(),
  name: z.string(),
  description: z.string().nullable(),
  team_id: z.string().nullable(),
  bucket: z.string(),
  scope: z.string().nullable(),
  created_at: time,
});
export const newBaseReply = baseSchema.extend({ warnings: warningsSchema });

export const listBasesQuery = z.object({ team_id: name.optional(), limit: limit(100, 50), cursor });
export const listBasesReply = z.object({
  knowledge_bases: z.array(baseSchema),
  items: z.array(baseSchema).describe('The same.'),
  next_cursor: nextCursor,
});
export const deletedBase = z.object({
  id: z.uuid(),
  status: z.literal('deleted'),
  documents: z.number().int(),
  sections: z.number().int(),
});

/** It stands in an index, a row of which takes 2,704 bytes. */
const MAX_SOURCE_BYTES = 2_048;

const described = {
  title: z
    .string()
    .trim()
    .min(1)
    .max(500)
    .optional()
    .describe('Default: what the document calls itself, else its source.'),
  source: z
    .string()
    .trim()
    .min(1)
    .max(1_024)
    .refine((text) => utf8Length(text) <= MAX_SOURCE_BYTES, `must hold at most ${MAX_SOURCE_BYTES} bytes of UTF-8`)
    .optional()
    .describe(
      'Stable name inside the base, such as an address or a file name: sending it again replaces the document. At most 2,048 bytes.',
    ),
  occurred_at: instant.optional().describe('Of when it is; default: now. Newer facts stand above older ones.'),
  idempotency_key,
};

/** Beside the bytes of a file, these stand in the query. */
export const uploadQuery = z.object(described);
export const uploadBody = z.object({
  ...described,
  text: z
    .string()
    .optional()
    .describe('The document as text; or send the file itself as the body, with its Content-Type.'),
  content: z.string().optional().describe('Alias of text.'),
  content_type: z
    .enum(DOCUMENT_TYPES)
    .optional()
    .describe('Of the text; default: what the ending of filename says, else text/markdown.'),
  filename: z
    .string()
    .trim()
    .min(1)
    .max(1_024)
    .optional()
    .describe('Its title when nothing else names it; its ending says its type.'),
  content_base64: z
    .string()
    .refine((text) => !/[^A-Za-z0-9+/=\s]/.test(text), 'is not base64')
    .optional()
    .describe('The bytes of the file, in place of text.'),
});

/** The document is sent, or was sent before. */
export const fromDocumentBody = uploadBody.extend({
  document_id: name.optional().describe('Of a document that was sent to /documents without a base.'),
  expected_document_version: z.number().int().optional(),
  status: name.optional().describe('Ignored: a document is found as soon as it is in the base.'),
  team_id: name.optional().describe('Ignored: the base says it.'),
});
const into = {
  knowledge_base_id: name
    .optional()
    .describe(
      'The base that takes it. Without one it is kept for a week, found by nobody, until `items/from-document` names one.',
    ),
  team_id: name.optional().describe('Without a base: keep it for this team.'),
  bucket: name.default('private').describe('Without a base: who of the tokens with boundaries may name it.'),
  scope: name.optional().describe('Without a base, likewise.'),
};
export const documentQuery = uploadQuery.extend(into);
export const documentBody = uploadBody.extend(into);

export const documentSchema = z.object({
  id: z.uuid(),
  document_id: z.uuid().describe('The same as id.'),
  knowledge_base_id: z.uuid().nullable().describe('null: it is in no base yet.'),
  title: z.string(),
  source: z.string().nullable(),
  content_type: z.enum(DOCUMENT_TYPES),
  bytes: z.number().int(),
  characters: z.number().int().describe('UTF-16 units of its text; ranges count in them.'),
  pages: z.number().int().nullable(),
  sections: z.number().int(),
  status: z.enum(['indexing', 'ready']).describe('indexing: the words of a large document are being made.'),
  sections_indexed: z.number().int().describe('Of the sections: those that are found by now.'),
  embedded: z.boolean().describe('false: some sections are found by their words only, until their vectors are made.'),
  agent_id: z.string().nullable(),
  occurred_at: time,
  created_at: time,
  updated_at: time,
  version: z.number().int(),
  extraction_status: z.literal('succeeded').describe('A document is read before it is answered for.'),
});
export const uploadReply = documentSchema.extend({
  outcome: z.enum(['created', 'updated', 'unchanged']),
  warnings: warningsSchema,
});

export const listDocumentsQuery = z.object({ knowledge_base_id: baseId, limit: limit(100, 50), cursor });
export const listDocumentsReply = z.object({ documents: z.array(documentSchema), next_cursor: nextCursor });
export const deletedDocument = z.object({ id: z.uuid(), status: z.literal('deleted'), sections: z.number().int() });

const citation = z.object({
  document_id: z.uuid(),
  title: z.string(),
  headings: z.array(z.string()).describe('From the outermost to the innermost.'),
  page: z.number().int().nullable().describe('Counted from 1.'),
  start: z.number().int().describe('Range in the text of the document, in UTF-16 units.'),
  end: z.number().int(),
});

export const itemSchema = z.object({
  id: z.uuid(),
  type: z.literal('knowledge'),
  knowledge_base_id: z.uuid(),
  document_id: z.uuid(),
  citation,
  position: z.number().int().describe('Place in its document, from 0.'),
  path: z.string().nullable(),
  content: z.string(),
  bucket: z.string(),
  scope: z.string().nullable(),
  occurred_at: time.nullable(),
  updated_at: time,
});
export const listItemsQuery = z.object({ document_id: z.uuid().optional(), limit: limit(100, 50), cursor });
export const listItemsReply = z.object({ items: z.array(itemSchema), next_cursor: nextCursor });

const score = z.number().min(0).max(1);

export const searchBody = z.object({
  query: queryText,
  knowledge_base_id: baseId,
  document_id: z.uuid().optional(),
  path: pathText.min(1).optional().describe('`title/heading/…`, exact or with `%` as a wildcard.'),
  team_id: name.optional().describe('Only bases that are shared with this team.'),
  limit: limit(100, 10),
  cursor,
  mode: z
    .enum(['hybrid', 'lexical', 'vector'])
    .default('hybrid')
    .describe('hybrid: the ranking of recall, or with alpha a blend. lexical: words alone. vector: meaning alone.'),
  alpha: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe('Share of the vectors in a hybrid score, 0 to 1; default: the ranking of recall.'),
  k: z
    .number()
    .int()
    .min(1)
    .max(100)
    .default(100)
    .describe('Ranked candidates that are considered and paged through, 1 to 100.'),
  profile: z.enum(['public', 'structured']).optional().describe('`public`: text, as with Accept: text/plain.'),
  idempotency_key: name.optional().describe('Ignored: reads change nothing.'),
});

export const searchReply = z.object({
  status: z.enum(['ok', 'empty', 'below_threshold', 'degraded']),
  results: z.array(itemSchema.extend({ score, similarity: score, snippet: z.string() })),
  next_cursor: nextCursor,
  coverage: z.object({ candidates: z.number().int(), returned: z.number().int(), answerability: z.number() }),
  degraded: z.array(z.string()).describe('What the search could not do, or does not find yet.'),
  warnings: warningsSchema,
});

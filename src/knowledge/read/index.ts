/** From the bytes of a file to its text, headings and pages. */
import { ApiError } from '../../errors.ts';
import { assertReadable, type Extracted, Refused } from './extracted.ts';
import { readMarkdown } from './markdown.ts';
import { readInThread } from './thread.ts';

export const DOCUMENT_TYPES = ['text/plain', 'text/markdown', 'text/html', 'application/pdf'] as const;
export type DocumentType = (typeof DOCUMENT_TYPES)[number];

/** Bytes of a file. */
export const MAX_FILE = 20 * 1024 * 1024;

export interface File {
  readonly type: DocumentType;
  /** Of a text; default UTF-8. */
  readonly charset?: string | undefined;
  readonly bytes: Buffer;
}

/** Characters of Markdown that are read at once; a longer text goes to the thread, since others would wait for it. */
const READ_AT_ONCE = 200_000;

/** @throws ApiError payload_too_large, unreadable_document, unavailable */
export async function readDocument(file: File): Promise<Extracted> {
  if (file.bytes.length > MAX_FILE)
    throw new ApiError('payload_too_large', `the document is larger than ${MAX_FILE / 1024 / 1024} MB`);
  // a copy: the thread gets it as it is, and pdf.js takes it apart
  if (file.type === 'application/pdf') return readInThread({ type: 'pdf', bytes: new Uint8Array(file.bytes) });
  const text = decode(file);
  if (file.type === 'text/html') return readInThread({ type: 'html', text });
  const isMarkdown = file.type === 'text/markdown';
  if (isMarkdown && text.length > READ_AT_ONCE) return readInThread({ type: 'markdown', text });
  const extracted = isMarkdown ? readMarkdown(text) : { text, headings: [], pages: null, title: null };
  try {
    assertReadable(extracted);
  } catch (error) {
    throw error instanceof Refused ? new ApiError(error.code, error.message) : error;
  }
  return extracted;
}

/** The byte order mark is taken off. @throws ApiError unreadable_document */
function decode({ bytes, charset = 'utf-8' }: File): string {
  let text: string;
  try {
    text = new TextDecoder(charset, { fatal: true }).decode(bytes);
  } catch (error) {
    const unknown = error instanceof RangeError ? 'is of no known charset' : `is not valid ${charset}`;
    throw new ApiError('unreadable_document', `the text ${unknown}: send UTF-8, or name its charset in Content-Type`);
  }
  if (text.includes('\0'))
    throw new ApiError('unreadable_document', 'the document is not text: it holds NUL characters');
  return text;
}

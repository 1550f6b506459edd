/** The text of a PDF, page by page. A line in larger type than the body is a heading: most PDFs carry no other sign of one. */
import { getDocumentProxy } from 'unpdf';
import { type Extracted, type Heading, MAX_TEXT, Refused, tooMuchText } from './extracted.ts';

const MAX_PAGES = 5_000;

/** Times the size of the body. */
const HEADING_SIZE = 1.15;
const LONGEST_HEADING = 200;

interface Line {
  readonly at: number;
  readonly text: string;
  /** Points, rounded to halves. */
  readonly size: number;
}

interface Item {
  readonly str: string;
  readonly height: number;
  readonly hasEOL: boolean;
}

export async function readPdf(bytes: Uint8Array): Promise<Extracted> {
  const document = await open(bytes);
  if (document.numPages > MAX_PAGES)
    throw new Refused('payload_too_large', `the PDF has more than ${MAX_PAGES} pages: split it`);
  const pages: number[] = [];
  const lines: Line[] = [];
  let text = '';
  for (let n = 1; n <= document.numPages; n++) {
    const page = await document.getPage(n);
    const { items } = await page.getTextContent();
    pages.push(text.length);
    for (const line of linesOf(items.filter((item: object): item is Item => 'str' in item))) {
      if (line.text.trim() !== '') lines.push({ ...line, at: text.length });
      text += `${line.text}\n`;
      if (text.length > MAX_TEXT) throw tooMuchText();
    }
    text += '\n';
    page.cleanup();
  }
  const info = (await document.getMetadata().catch(() => undefined))?.info as { Title?: unknown } | undefined;
  const title = typeof info?.Title === 'string' ? clean(info.Title).trim() : '';
  const headings = headingsOf(lines);
  return { text, headings, pages, title: title || (headings.find(({ level }) => level === 1)?.title ?? null) };
}

async function open(bytes: Uint8Array) {
  try {
    return await getDocumentProxy(bytes, {
      verbosity: 0,
      isEvalSupported: false,
      useSystemFonts: false,
      maxImageSize: 1,
    });
  } catch (error) {
    const encrypted = error instanceof Error && error.name === 'PasswordException';
    throw new Refused(
      'unreadable_document',
      encrypted ? 'the PDF is encrypted: remove its password' : 'this is not a PDF, or it is broken',
    );
  }
}

function* linesOf(items: readonly Item[]): Generator<Omit<Line, 'at'>> {
  let text = '';
  let size = 0;
  for (const { str, height, hasEOL } of items) {
    text += clean(str);
    if (str.trim() !== '') size = Math.max(size, Math.round(height * 2) / 2);
    if (!hasEOL) continue;
    yield { text, size };
    text = '';
    size = 0;
  }
  if (text !== '') yield { text, size };
}

/** Fonts without a table of characters give control characters and halves of pairs, which cannot be stored. */
const clean = (text: string): string => text.replace(/[\p{Cc}\p{Surrogate}]/gu, ' ');

function headingsOf(lines: readonly Line[]): Heading[] {
  const characters = new Map<number, number>();
  for (const { size, text } of lines) characters.set(size, (characters.get(size) ?? 0) + text.length);
  const body = [...characters].sort(([, a], [, b]) => b - a)[0]?.[0] ?? 0;
  const found = lines.filter(({ size, text }) => size >= body * HEADING_SIZE && text.trim().length <= LONGEST_HEADING);
  const sizes = [...new Set(found.map(({ size }) => size))].sort((a, b) => b - a);
  return found.map(({ at, text, size }) => ({
    at,
    end: at + text.length,
    level: Math.min(6, sizes.indexOf(size) + 1),
    title: text.replace(/\s+/g, ' ').trim(),
  }));
}

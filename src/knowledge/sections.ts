/**
 * Cuts a document into sections: the unit that is found, ranked and cited. A section stands under one heading and on one page, and is cut
 * where a paragraph, a sentence or a word ends. Pure, and linear in the length of the text.
 */
import { isBlank } from '../text/unicode.ts';
import type { Extracted, Heading } from './read/extracted.ts';

/** Characters of a section: about what the local model reads at once, so that one vector speaks for it. */
const MAX_SECTION = 1_200;

export interface Section {
  /** UTF-16 offsets into the text of the document. */
  readonly start: number;
  readonly end: number;
  readonly content: string;
  /** From the outermost heading to the innermost. */
  readonly headings: readonly string[];
  /** Counted from 1; null when the format has no pages. */
  readonly page: number | null;
}

/** One after the other, so that a long document can be cut in turns. */
export function* sectionsOf(document: Extracted): Generator<Section> {
  const { text } = document;
  for (const block of blocksOf(document)) {
    for (let at = block.start; at < block.end; ) {
      const cut = cutAfter(text, at, block.end);
      const raw = text.slice(at, cut);
      const start = at + (raw.length - raw.trimStart().length);
      const content = raw.trim();
      if (!isBlank(content)) {
        yield { start, end: start + content.length, content, headings: block.headings, page: block.page };
      }
      at = cut;
    }
  }
}

interface Block {
  readonly start: number;
  readonly end: number;
  readonly headings: readonly string[];
  readonly page: number | null;
}

/** What stands between two borders; a border is a heading or a new page. A heading without text of its own goes with what follows it. */
function* blocksOf({ text, headings, pages }: Extracted): Generator<Block> {
  const borders = [...new Set([0, ...headings.map((h) => h.at), ...(pages ?? [])])].sort((a, b) => a - b);
  const byStart = new Map(headings.map((heading) => [heading.at, heading]));
  const pageStarts = new Set(pages);
  let path: Heading[] = [];
  let page = 0;
  let held: number | undefined;
  for (const [i, border] of borders.entries()) {
    const end = borders[i + 1] ?? text.length;
    if (pageStarts.has(border)) page++;
    const heading = byStart.get(border);
    if (heading) path = [...path.filter(({ level }) => level < heading.level), heading];
    const isPageEnd = pageStarts.has(end) || end === text.length;
    if (heading && !isPageEnd && isBlank(text.slice(heading.end, end))) {
      held ??= border;
      continue;
    }
    yield {
      start: held ?? border,
      end,
      headings: path.map(({ title }) => title),
      page: pages ? Math.max(1, page) : null,
    };
    held = undefined;
  }
}

/** Where the section that begins at `at` ends: at the strongest border in the second half of what fits. */
function cutAfter(text: string, at: number, end: number): number {
  if (end - at <= MAX_SECTION) return end;
  const window = text.slice(at, at + MAX_SECTION);
  const least = MAX_SECTION / 2;
  const paragraph = window.lastIndexOf('\n\n');
  if (paragraph >= least) return at + paragraph;
  const sentence = lastSentenceEnd(window);
  if (sentence >= least) return at + sentence;
  const blank = Math.max(window.lastIndexOf(' '), window.lastIndexOf('\n'));
  if (blank >= least) return at + blank;
  // no border at all: only a pair of surrogates is kept whole
  const split = /[\uD800-\uDBFF]$/.test(window);
  return at + MAX_SECTION - (split ? 1 : 0);
}

function lastSentenceEnd(window: string): number {
  let last = -1;
  for (const { index, 0: mark } of window.matchAll(/[.!?]["')\]]?(?=\s)|[。！？]/g)) last = index + mark.length;
  return last;
}

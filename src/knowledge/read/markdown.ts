/** Finds the headings of a Markdown text, which stays as it is. Linear, also on one endless line. */
import type { Extracted, Heading } from './extracted.ts';

/** A longer line is a paragraph, whatever it begins with. */
const LONGEST_HEADING = 300;

export function readMarkdown(text: string): Extracted {
  const headings: Heading[] = [];
  let fence: string | undefined;
  let previous: { at: number; line: string } | undefined;
  let at = frontMatterEnd(text);
  while (at < text.length) {
    const end = text.indexOf('\n', at);
    const stop = end < 0 ? text.length : end;
    const line = stop - at > LONGEST_HEADING ? '' : text.slice(at, stop).trimEnd();
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence !== undefined) {
      if (mark?.startsWith(fence) && line.trim() === mark) fence = undefined;
      previous = undefined;
    } else if (mark !== undefined) {
      fence = mark;
      previous = undefined;
    } else {
      const found = atx(line, at, stop) ?? setext(line, stop, previous);
      if (found) headings.push(found);
      previous = found || line.trim() === '' ? undefined : { at, line };
    }
    at = stop + 1;
  }
  return { text, headings, pages: null, title: headings.find(({ level }) => level === 1)?.title ?? null };
}

/** A block of settings between two lines of `---` is no text with headings. */
function frontMatterEnd(text: string): number {
  if (!/^---\r?\n/.test(text)) return 0;
  const end = text.indexOf('\n---', 3);
  return end < 0 ? 0 : end + 4;
}

function atx(line: string, at: number, end: number): Heading | undefined {
  const marks = /^ {0,3}(#{1,6})(?=\s|$)/.exec(line);
  if (!marks) return undefined;
  const title = line.slice(marks[0].length).trim();
  const closing = /(?:^|\s)#+$/.exec(title);
  return named({ at, end, level: marks[1]!.length, title: closing ? title.slice(0, closing.index) : title });
}

function setext(line: string, end: number, previous: { at: number; line: string } | undefined): Heading | undefined {
  const mark = /^ {0,3}(=+|-{2,})$/.exec(line)?.[1];
  if (!mark || !previous || /^\s*([-*+>|]|\d+[.)]\s)/.test(previous.line)) return undefined;
  return named({ at: previous.at, end, level: mark.startsWith('=') ? 1 : 2, title: previous.line });
}

function named(heading: Heading): Heading | undefined {
  const title = heading.title.replace(/[*_`]/g, '').trim();
  return title === '' ? undefined : { ...heading, title };
}

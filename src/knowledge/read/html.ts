/** The text of a page as a reader sees it: no script, no style, no markup. */
import { Parser } from 'htmlparser2';
import { type Extracted, type Heading, MAX_TEXT, tooMuchText } from './extracted.ts';

const set = (names: string): ReadonlySet<string> => new Set(names.split(/\s+/));

/** What stands inside these is read by nobody. */
const UNREAD = set(
  'script style noscript template svg math iframe object embed canvas audio video select textarea button',
);

/** Elements that begin and end a paragraph. */
const BLOCKS = set(
  `address article aside blockquote body dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6
  header hr li main nav ol p pre section summary table tbody tfoot thead tr ul`,
);

const LONGEST_TITLE = 300;
/** Without half of a pair where it was cut. */
const inOneLine = (text: string): string =>
  text
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, LONGEST_TITLE)
    .replace(/\p{Surrogate}$/u, '');

export function readHtml(html: string): Extracted {
  const out = makeWriter();
  const headings: Heading[] = [];
  /** Of each open element: whether it hides what it holds. */
  const hides: boolean[] = [];
  let hidden = 0;
  let preformatted = 0;
  let title = '';
  let inTitle = false;
  let heading: { level: number; at: number | undefined; text: string } | undefined;

  const parser = new Parser({
    onopentag(name, attributes) {
      const hiding = UNREAD.has(name) || 'hidden' in attributes;
      hides.push(hiding);
      if (hiding) hidden++;
      if (name === 'title' && title === '') inTitle = true;
      if (hidden > 0) return;
      if (BLOCKS.has(name)) out.paragraph();
      if (name === 'br') out.verbatim('\n');
      if (name === 'li') out.flowing('- ');
      if (name === 'td' || name === 'th') out.cell();
      if (name === 'pre') preformatted++;
      const level = /^h([1-6])$/.exec(name)?.[1];
      if (level) heading = { level: Number(level), at: undefined, text: '' };
    },
    ontext(data) {
      if (inTitle) title = (title + data).slice(0, LONGEST_TITLE);
      else if (hidden === 0) {
        const at = preformatted > 0 ? out.verbatim(data) : out.flowing(data);
        if (heading)
          heading = { ...heading, at: heading.at ?? at, text: (heading.text + data).slice(0, LONGEST_TITLE) };
      }
    },
    onclosetag(name) {
      if (hides.pop()) hidden--;
      if (name === 'title') inTitle = false;
      if (hidden > 0) return;
      if (name === 'pre') preformatted--;
      if (heading && name === `h${heading.level}`) {
        const { at, level, text } = heading;
        if (at !== undefined) headings.push({ at, end: out.length(), level, title: inOneLine(text) });
        heading = undefined;
      }
      if (BLOCKS.has(name)) out.paragraph();
    },
  });
  parser.end(html);
  return {
    text: out.text(),
    headings,
    pages: null,
    title: inOneLine(title) || (headings.find(({ level }) => level === 1)?.title ?? null),
  };
}

/** Puts a text together in pieces, since to look at the end of a growing string copies it each time. */
function makeWriter() {
  const pieces: string[] = [];
  let length = 0;
  /** What the text ends with, as far as white space goes. */
  let end: 'start' | 'text' | 'line' | 'paragraph' = 'start';
  let blank = false;

  function push(piece: string): number {
    const at = length;
    pieces.push(piece);
    length += piece.length;
    if (length > MAX_TEXT) throw tooMuchText();
    return at;
  }

  return {
    /** White space is one blank, and none where a line begins. Returns where the text begins, undefined when it is blank. */
    flowing(data: string): number | undefined {
      const shown = data.replace(/\s+/g, ' ');
      if (shown === '') return undefined;
      if (shown.startsWith(' ')) blank = true;
      const bare = shown.trim();
      if (bare === '') return undefined;
      if (blank && end === 'text') push(' ');
      blank = shown.endsWith(' ');
      end = 'text';
      return push(bare);
    },
    verbatim(data: string): number {
      blank = false;
      end = data.endsWith('\n') ? 'line' : 'text';
      return push(data);
    },
    cell(): void {
      blank = false;
      if (end === 'text') push(' | ');
    },
    paragraph(): void {
      blank = false;
      if (end === 'text') push('\n\n');
      else if (end === 'line') push('\n');
      else return;
      end = 'paragraph';
    },
    length: (): number => length,
    text: (): string => pieces.join(''),
  };
}

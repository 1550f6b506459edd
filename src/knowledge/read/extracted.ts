/** What every reader of a file format gives: one text, with marks by offset. */
import { isBlank } from '../../text/unicode.ts';

/** Characters (UTF-16 units) of text that a document may hold: all of the largest file, and no more of what a smaller one unpacks to. */
export const MAX_TEXT = 20 * 1024 * 1024;

/** Each is a border between sections. */
const MAX_HEADINGS = 50_000;

export interface Heading {
  /** Where its line begins. */
  readonly at: number;
  /** Where its text goes on. */
  readonly end: number;
  /** 1 to 6. */
  readonly level: number;
  readonly title: string;
}

export interface Extracted {
  readonly text: string;
  /** In order. */
  readonly headings: readonly Heading[];
  /** Where each page begins; null when the format has none. */
  readonly pages: readonly number[] | null;
  /** The document's own, when it names one. */
  readonly title: string | null;
}

/** A document that cannot be taken, in words for the caller. Crosses threads as plain data, so it is no ApiError. */
export class Refused extends Error {
  readonly code: 'unreadable_document' | 'payload_too_large';

  constructor(code: Refused['code'], message: string) {
    super(message);
    this.code = code;
  }
}

export const tooMuchText = (): Refused =>
  new Refused(
    'payload_too_large',
    `the document holds more than ${MAX_TEXT.toLocaleString('en')} characters of text: split it`,
  );

/** @throws Refused when nothing of it can be found, or it is cut into too many pieces */
export function assertReadable({ text, headings, pages }: Extracted): void {
  if (isBlank(text)) {
    const scan = pages === null ? '' : ': a scan has to be made readable first';
    throw new Refused('unreadable_document', `the document holds no text${scan}`);
  }
  if (text.length > MAX_TEXT) throw tooMuchText();
  if (headings.length > MAX_HEADINGS)
    throw new Refused(
      'payload_too_large',
      `the document has more than ${MAX_HEADINGS.toLocaleString('en')} headings: split it`,
    );
}

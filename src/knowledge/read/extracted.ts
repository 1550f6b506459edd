/** What every reader of a file format gives: one text, with marks by offset. */

/** Characters (UTF-16 units) of text that a document may hold: some thousand pages. */
export const MAX_TEXT = 2_000_000;

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

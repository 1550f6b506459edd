/** A text is embedded before its transaction begins: another writer may change what the vectors were made of meanwhile. */
import { ApiError } from '../errors.ts';
import { densePrefix, type Indexable } from '../text/indexed.ts';

/** What the vectors were made of is no longer what would be stored. */
export class TextMoved extends Error {}

/** Vectors are made of the text with its date and author before it; the path counts as words. */
export function sameText(a: Indexable, b: Indexable): boolean {
  return a.content === b.content && densePrefix(a) === densePrefix(b) && a.path === b.path;
}

/** A change whose text another writer replaces this often while it is embedded is given up. */
const TRIES = 5;

/** Reads, embeds and writes anew as long as that throws TextMoved. @throws ApiError conflict when it is given up */
export async function untilUnmoved<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof TextMoved)) throw error;
      if (tries === TRIES) throw moved();
    }
  }
}

export const moved = (): ApiError =>
  new ApiError('conflict', 'the memory has changed since that version: read it again, then change it');

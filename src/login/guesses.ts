/** Shuts out who guesses codes: counted in the database, so that replicas count together. */
import type { Tx } from '../db/db.ts';
import type { Deps } from '../deps.ts';
import { ApiError } from '../errors.ts';
import { hashOf } from './codes.ts';
import { addWrong, countWrong } from './store.ts';

const WINDOW_MS = 600_000;
const MAX_WRONG = 10;

/**
 * Runs `work` unless the guesser has been wrong too often. `work` gives undefined for a code that does not exist.
 * @throws ApiError rate_limited with the seconds to wait, not_found for such a code
 */
export async function notGuessing<T>(
  deps: Deps,
  guesser: string,
  work: (tx: Tx) => Promise<{ value: T } | undefined>,
): Promise<T> {
  const now = deps.now();
  const since = new Date(now.getTime() - WINDOW_MS);
  const who = hashOf(guesser);
  const done = await deps.db.admin(async (tx) => {
    const counted = await countWrong(tx, who, since);
    if (counted && counted.wrong >= MAX_WRONG) {
      const retryAfter = Math.max(1, Math.ceil((counted.since.getTime() + WINDOW_MS - now.getTime()) / 1_000));
      throw new ApiError('rate_limited', 'too many codes that do not exist; try again later', { retryAfter });
    }
    const found = await work(tx);
    if (!found) await addWrong(tx, who, now, since);
    return found;
  });
  if (!done) throw new ApiError('not_found', 'there is no such code, or it is used or expired');
  return done.value;
}

/** The vector of a question. One owner's last questions are remembered, since agents ask the same again from turn to turn and route to route. */
import { LRUCache } from 'lru-cache';
import type { Deps } from '../deps.ts';
import type { Embedder, Embedding } from '../embed/embedder.ts';

/** Some 3 KB each, 30 at most. */
const MAX_REMEMBERED = 500;

const remembered = new WeakMap<Embedder, LRUCache<string, Promise<Embedding>>>();

/** Undefined when the embedder fails; then `degraded` says so. */
export async function embedQuery(
  { embedder, log }: Deps,
  owner: string,
  query: string,
  degraded: string[],
): Promise<Embedding | undefined> {
  try {
    return await ask(embedder, owner, query);
  } catch (error) {
    log.warn({ err: error, event: 'embedding_failed' }, 'a query is answered without its vector');
    degraded.push('the embedder failed: found by words alone');
    return undefined;
  }
}

/** By owner: else the time of an answer would tell whether somebody else has asked the same. */
function ask(embedder: Embedder, owner: string, query: string): Promise<Embedding> {
  const known = remembered.get(embedder) ?? new LRUCache({ max: MAX_REMEMBERED });
  remembered.set(embedder, known);
  const key = JSON.stringify([owner, query]);
  const before = known.get(key);
  if (before) return before;
  const asked = embedder.embed([query], 'query').then(([embedding]) => embedding!);
  known.set(key, asked);
  asked.catch(() => known.delete(key)); // the next one may succeed
  return asked;
}

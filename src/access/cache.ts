/**
 * What the database said about tokens and owners, kept for a moment, since every request asks. A change made by this process clears it at
 * once; a change made by another replica is seen when the moment is over.
 */
import { LRUCache } from 'lru-cache';
import type { Db } from '../db/db.ts';

/** How long another replica may go on with what was changed here. */
const CACHE_MS = 2_000;

/** Bounds the memory, not the correctness. */
const MAX_ENTRIES = 10_000;

interface Cache {
  readonly entries: LRUCache<string, object>;
  /** Raised by every change: an answer that was asked for before a change is not kept after it. */
  generation: number;
}

/** By the database's own function: a Db that wraps another shares what is known, and what is cleared. */
const caches = new WeakMap<Db['close'], Cache>();

function cacheOf(db: Db): Cache {
  const known = caches.get(db.close) ?? { entries: new LRUCache({ max: MAX_ENTRIES, ttl: CACHE_MS }), generation: 0 };
  caches.set(db.close, known);
  return known;
}

/** Absence is not kept: a flood of made-up ids must not push the others out. */
export async function cached<T extends object>(
  db: Db,
  key: string,
  load: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const cache = cacheOf(db);
  const known = cache.entries.get(key);
  if (known) return known as T;
  const { generation } = cache;
  const loaded = await load();
  if (loaded && generation === cache.generation) cache.entries.set(key, loaded);
  return loaded;
}

/** Call it after the commit of any change to tokens, teams, agents or revocations. */
export function clearCache(db: Db): void {
  const cache = cacheOf(db);
  cache.generation++;
  cache.entries.clear();
}

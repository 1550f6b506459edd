/** Notes that a token or a temporary agent was used: at most once a minute each, and outside of the request, which never waits for it. */
import { LRUCache } from 'lru-cache';
import { sql } from '../db/sql.ts';
import type { Deps } from '../deps.ts';
import { AGENT_IDLE_MS } from './agents.ts';

const EVERY_MS = 60_000;
const MAX_TOKENS = 50_000;

export interface LastUse {
  noteToken(id: string): void;
  noteAgent(id: string): void;
  /** Waits for what is being written. */
  settle(): Promise<void>;
}

export function makeLastUse(deps: Deps): LastUse {
  const noted = new LRUCache<string, number>({ max: MAX_TOKENS });
  const running = new Set<Promise<unknown>>();

  function once(id: string, statement: (now: Date) => ReturnType<typeof sql>): void {
    const now = deps.now();
    if (now.getTime() - (noted.get(id) ?? 0) < EVERY_MS) return;
    noted.set(id, now.getTime());
    const work = deps.db
      .admin((tx) => tx.query(statement(now)))
      .catch((err: unknown) =>
        deps.log.warn({ err, event: 'last_use_failed' }, 'the use of a token could not be noted'),
      )
      .finally(() => running.delete(work));
    running.add(work);
  }

  return {
    noteToken: (id) => once(id, (now) => sql`update tokens set last_used_at = ${now} where id = ${id}`),
    noteAgent: (id) =>
      once(id, (now) => {
        const idleEnd = new Date(now.getTime() + AGENT_IDLE_MS);
        return sql`update agents set idle_ends_at = least(${idleEnd}::timestamptz, ends_at) where id = ${id}`;
      }),
    settle: async () => void (await Promise.all(running)),
  };
}

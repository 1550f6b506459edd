/** Denied requests of known owners go into the audit trail. Bounded, so that a flood of them fills neither the table nor the queue. */
import type { FastifyInstance } from 'fastify';
import { LRUCache } from 'lru-cache';
import { audit } from '../db/audit.ts';
import type { Deps } from '../deps.ts';
import { ApiError } from '../errors.ts';

const WINDOW_MS = 60_000;
/** Of one owner in a window; what is beyond stands in the log alone. */
const PER_OWNER = 30;
/** Being written at a time. */
const MAX_RUNNING = 100;

export function registerDenials(app: FastifyInstance, deps: Deps): void {
  const counts = new LRUCache<string, { n: number }>({ max: 10_000, ttl: WINDOW_MS });
  const running = new Set<Promise<unknown>>();

  function allows(owner: string): boolean {
    const count = counts.get(owner) ?? { n: 0 };
    if (count.n === 0) counts.set(owner, count);
    count.n++;
    return count.n <= PER_OWNER && running.size < MAX_RUNNING;
  }

  app.addHook('onError', async (request, _reply, error) => {
    const { principal } = request;
    if (!principal || !(error instanceof ApiError) || error.status !== 403 || !allows(principal.owner)) return;
    const { owner } = principal;
    const event = { action: `${request.method} ${request.routeOptions.url}`, at: deps.now(), denied: error.code };
    // not awaited: the caller does not wait for it
    const work = deps.db
      .transaction({ spaces: [], owner }, (tx) => audit(tx, principal, event))
      .catch((err: unknown) => deps.log.warn({ err, event: 'audit_failed' }, 'a denied request could not be recorded'))
      .finally(() => running.delete(work));
    running.add(work);
  });
  app.addHook('preClose', async () => void (await Promise.all(running)));
}

/** Live and ready differ: a database that is away must not make the container restart in a loop. */
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { pendingMigrations } from '../db/migrate.ts';
import type { Deps } from '../deps.ts';

const part = z.object({ state: z.enum(['ok', 'degraded', 'failed']), detail: z.string().optional() });
const model = part.extend({
  reembedding: z
    .object({ done: z.int(), total: z.int() })
    .optional()
    .describe('Memories that get vectors of the present model in the background; until then they are found by words.'),
});
const ready = z.object({
  status: z.enum(['ready', 'degraded', 'unavailable']),
  database: part,
  migrations: part,
  model,
});

type Progress = z.infer<typeof model>['reembedding'];

/** `progress`: of embedding what lacks vectors; undefined when nothing does. */
export const healthRoutes =
  (deps: Deps, progress: () => Progress): FastifyPluginAsyncZod =>
  async (app) => {
    app.get('/health', {
      config: { open: true, unlimited: true },
      schema: {
        operationId: 'health',
        tags: ['operation'],
        summary: 'Is the process alive',
        security: [],
        response: { 200: z.object({ status: z.literal('ok') }) },
      },
      handler: async () => ({ status: 'ok' as const }),
    });

    app.get('/ready', {
      config: { open: true, unlimited: true },
      schema: {
        operationId: 'ready',
        tags: ['operation'],
        summary: 'Can the service answer',
        description:
          '503 when the database is out of reach or not migrated. A model that fell back to a weaker one is degraded, not unavailable.',
        security: [],
        response: { 200: ready, 503: ready },
      },
      handler: async (_request, reply) => {
        const { database, migrations } = await probe(deps);
        const model = stateOf(deps.embedder, progress());
        const failed = migrations.state === 'failed';
        const status = failed ? 'unavailable' : model.state === 'degraded' ? 'degraded' : 'ready';
        if (failed) reply.header('retry-after', 5);
        return reply.code(failed ? 503 : 200).send({ status, database, migrations, model });
      },
    });
  };

function stateOf({ id, degraded, failing }: Deps['embedder'], reembedding: Progress): z.infer<typeof model> {
  const waiting = reembedding && `re-embedding: ${reembedding.done} of ${reembedding.total} memories`;
  const detail = degraded ?? failing ?? waiting;
  return { state: detail ? 'degraded' : 'ok', detail: detail ?? id, ...(reembedding && { reembedding }) };
}

/** One question for both: a database that tells its migrations answers. An error's own text stays inside. */
async function probe({ db }: Deps): Promise<Record<'database' | 'migrations', z.infer<typeof part>>> {
  try {
    const pending = await pendingMigrations(db);
    const migrations: z.infer<typeof part> =
      pending.length === 0 ? { state: 'ok' } : { state: 'failed', detail: `not run yet: ${pending.join(', ')}` };
    return { database: { state: 'ok' }, migrations };
  } catch {
    const failed = { state: 'failed' as const, detail: 'the database does not answer' };
    return { database: failed, migrations: failed };
  }
}

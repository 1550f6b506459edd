/**
 * What operators measure, in Prometheus' text format: GET /metrics, there only when METRICS_TOKEN is set, which is sent as a bearer token.
 * Of this process alone. Labels are patterns of routes, methods, statuses and names of stages: never an owner, an id, a query or a token.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Deps } from '../deps.ts';
import { ApiError } from '../errors.ts';
import { credentialOf } from './auth.ts';

type Progress = () => { readonly done: number; readonly total: number } | undefined;

/** In seconds: a recall takes some 10 ms, an import may take its time. */
const REQUEST_BUCKETS = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];
const STAGE_BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2];

/**
 * Watches every request of `app`, also those that the hooks after it refuse, and returns the route.
 * `progress`: of embedding what lacks vectors; undefined when nothing does.
 */
export function registerMetrics(app: FastifyInstance, deps: Deps, progress: Progress): FastifyPluginAsync {
  const token = deps.config.METRICS_TOKEN;
  if (token === undefined) return async () => {};
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  watchRequests(app, registry);
  watchState(deps, registry, progress);
  return async (scope) => {
    const options = { config: { open: true as const, unlimited: true as const }, schema: { hide: true } };
    scope.get('/metrics', options, async (request, reply) => {
      if (!same(credentialOf(request), token)) throw new ApiError('invalid_token');
      return reply.type(registry.contentType).send(await registry.metrics());
    });
  };
}

function watchRequests(app: FastifyInstance, registry: Registry): void {
  const registers = [registry];
  const duration = new Histogram({
    name: 'xmemo_request_duration_seconds',
    help: 'Duration of requests.',
    labelNames: ['method', 'route', 'status'],
    buckets: REQUEST_BUCKETS,
    registers,
  });
  const stage = new Histogram({
    name: 'xmemo_stage_duration_seconds',
    help: 'Duration of the stages of a request: auth, state, embed, db, rank, pack.',
    labelNames: ['stage'],
    buckets: STAGE_BUCKETS,
    registers,
  });
  const limited = new Counter({
    name: 'xmemo_rate_limited_total',
    help: 'Requests that were refused with 429.',
    registers,
  });
  const inFlight = new Gauge({
    name: 'xmemo_requests_in_flight',
    help: 'Requests that are being answered.',
    registers,
  });

  app.addHook('onRequest', async (_request, reply) => {
    inFlight.inc();
    reply.raw.once('close', () => inFlight.dec()); // also when the client goes away
  });
  app.addHook('onResponse', async (request, reply) => {
    const labels = { method: request.method, route: request.routeOptions.url ?? 'none', status: reply.statusCode };
    duration.observe(labels, reply.elapsedTime / 1_000);
    for (const [name, ms] of request.stages) stage.observe({ stage: name }, ms / 1_000);
    if (reply.statusCode === 429) limited.inc();
  });
}

/** Read when they are asked for. */
function watchState({ db, embedder }: Deps, registry: Registry, progress: Progress): void {
  const read = (name: string, help: string, value: () => number): void => {
    new Gauge({
      name: `xmemo_${name}`,
      help,
      registers: [registry],
      collect() {
        this.set(value());
      },
    });
  };
  read('database_connections', 'Open connections to the database.', () => db.connections().open);
  read('database_connections_idle', 'Those of them that are free.', () => db.connections().idle);
  read('database_waiting', 'Transactions that wait for a connection.', () => db.connections().waiting);
  read('embedder_calls', 'Calls of the embedder that wait or are under way.', () => embedder.load?.calls ?? 0);
  read('embedder_degraded', '1: a weaker model stands in.', () => Number(embedder.degraded !== undefined));
  read('embedder_failing', '1: the last call of the embedder failed.', () => Number(embedder.failing !== undefined));
  read('reembedding_done', 'Memories embedded in the background so far.', () => progress()?.done ?? 0);
  read('reembedding_total', 'Memories that lacked vectors when that began; 0: none.', () => progress()?.total ?? 0);
  new Counter({
    name: 'xmemo_embedder_failures_total',
    help: 'Calls of the embedder that failed.',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(embedder.load?.failures ?? 0);
    },
  });
}

const hash = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Takes as long for any two texts. */
const same = (a: string, b: string): boolean => timingSafeEqual(hash(a), hash(b));

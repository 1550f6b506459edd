/** One log line a request, and the headers for the engineer with curl. Never memory text, never a token. */
import type { FastifyInstance } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** Milliseconds of each stage, for Server-Timing and the log. */
    stages: Map<string, number>;
  }
}

export function registerObserve(app: FastifyInstance): void {
  app.decorateRequest('stages');
  app.addHook('onRequest', async (request, reply) => {
    request.stages = new Map();
    reply.header('x-request-id', request.id);
  });
  app.addHook('onSend', async (request, reply) => {
    const stages = [...request.stages].map(([name, ms]) => `${name};dur=${ms.toFixed(2)}`);
    reply.header('server-timing', [...stages, `total;dur=${reply.elapsedTime.toFixed(2)}`].join(', '));
  });
  app.addHook('onResponse', async (request, reply) => {
    request.log.info(
      {
        event: 'request',
        method: request.method,
        route: request.routeOptions.url ?? 'none',
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 100) / 100,
        stages: Object.fromEntries([...request.stages].map(([name, ms]) => [name, Math.round(ms * 100) / 100])),
        token_id: request.principal?.tokenId,
      },
      'request',
    );
  });
}

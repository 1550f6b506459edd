/** `q` for `query`: so an old library of clients asks `GET /memories/search`. To be called before the input is checked. */
import type { FastifyInstance } from 'fastify';

export function acceptOldQuery(app: FastifyInstance): void {
  app.addHook('preValidation', async (request) => {
    const { q, ...rest } = request.query as Record<string, unknown>;
    if (q === undefined || rest.query !== undefined || !request.routeOptions.url?.endsWith('/memories/search')) return;
    request.query = { ...rest, query: q };
  });
}

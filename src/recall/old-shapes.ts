/** Queries as clients that are out there send them, on their mounts alone. To be called before the input is checked. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { MAX_QUERY_LENGTH } from '../http/fields.ts';

const RECALL = /\/(recall|recall\/context|memories\/search)$/;

export function acceptOldQuery(app: FastifyInstance): void {
  app.addHook('preValidation', async (request) => {
    const { url = '' } = request.routeOptions;
    if (!RECALL.test(url)) return;
    request.query = shortened(request, url.endsWith('/memories/search') ? named(request.query) : request.query);
    request.body = shortened(request, request.body);
  });
}

/** `q` for `query`: so an old library of clients asks `GET /memories/search`. */
function named(given: unknown): unknown {
  const { q, ...rest } = given as Record<string, unknown>;
  return q === undefined || rest.query !== undefined ? given : { ...rest, query: q };
}

/** A plugin asks with the user's message as it is: a refusal of long ones would leave the agent without its memory. */
function shortened(request: FastifyRequest, given: unknown): unknown {
  if (typeof given !== 'object' || given === null || !('query' in given)) return given;
  const { query } = given;
  if (typeof query !== 'string' || query.length <= MAX_QUERY_LENGTH) return given;
  request.warnings.push(`query: only its first ${MAX_QUERY_LENGTH} characters were looked for`);
  return { ...given, query: query.slice(0, MAX_QUERY_LENGTH).replace(/[\ud800-\udbff]$/, '') };
}

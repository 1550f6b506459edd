/** Queries as clients that are out there send them, on their mounts alone. To be called before the input is checked. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { MAX_QUERY_LENGTH } from '../http/fields.ts';
import { MAX_RESULTS } from './schema.ts';

const RECALL = /\/(recall|recall\/context|memories\/search)$/;

/** The most that a command line lets its user ask for. */
const MAX_ASKED = 5_000;

export function acceptOldQuery(app: FastifyInstance): void {
  app.addHook('preValidation', async (request) => {
    const { url = '' } = request.routeOptions;
    if (!RECALL.test(url)) return;
    const mend = (given: unknown) => shortened(request, url.endsWith('/context') ? given : limited(request, given));
    request.query = mend(url.endsWith('/memories/search') ? named(request.query) : request.query);
    request.body = mend(request.body);
  });
}

/** `q` for `query`: so an old library of clients asks `GET /memories/search`. */
function named(given: unknown): unknown {
  const { q, ...rest } = given as Record<string, unknown>;
  return q === undefined || rest.query !== undefined ? given : { ...rest, query: q };
}

/** Whoever asks for a hundred results is better served by the best of them than by a refusal. */
function limited(request: FastifyRequest, given: unknown): unknown {
  if (typeof given !== 'object' || given === null || !('limit' in given)) return given;
  const asked = Number(given.limit);
  if (!Number.isInteger(asked) || asked <= MAX_RESULTS || asked > MAX_ASKED) return given;
  request.warnings.push(`limit: no more than ${MAX_RESULTS} results are given`);
  return { ...given, limit: MAX_RESULTS };
}

/** A plugin asks with the user's message as it is: a refusal of long ones would leave the agent without its memory. */
function shortened(request: FastifyRequest, given: unknown): unknown {
  if (typeof given !== 'object' || given === null || !('query' in given)) return given;
  const { query } = given;
  if (typeof query !== 'string' || query.length <= MAX_QUERY_LENGTH) return given;
  request.warnings.push(`query: only its first ${MAX_QUERY_LENGTH} characters were looked for`);
  return { ...given, query: query.slice(0, MAX_QUERY_LENGTH).replace(/[\ud800-\udbff]$/, '') };
}

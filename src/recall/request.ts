/** What a request for recall asks: its search and its session. */
import type { FastifyRequest } from 'fastify';
import { assertInside } from '../db/boundary.ts';
import { invalid } from '../errors.ts';
import { agentOf, principalOf } from '../http/auth.ts';
import { filterOf, toDate, toFilters } from '../http/fields.ts';
import type { Agent, Principal } from '../types.ts';
import type { ContextInput, RecallInput } from './schema.ts';
import type { SearchRequest } from './search.ts';

/** What is asked, and by whom. */
export interface Asking<Input> {
  readonly principal: Principal;
  readonly agent: Agent;
  readonly input: Input;
  /** The same as the search takes it. */
  readonly request: SearchRequest;
}

export const askingOf = <Input>(request: FastifyRequest, input: Input, asked: SearchRequest): Asking<Input> => ({
  principal: principalOf(request),
  agent: agentOf(request),
  input,
  request: asked,
});

export function toSearch(request: FastifyRequest, input: ContextInput | RecallInput): SearchRequest {
  const session = sessionOf(request, input);
  const filters = { ...toFilters(input), ...(session !== undefined && { sessionId: undefined }) };
  assertInside(principalOf(request), filters);
  return {
    query: input.query,
    filters,
    session,
    team: filterOf(input.team_id),
    preferWorking: input.prefer_working,
    askedAt: toDate(input.asked_at),
    asOf: toDate(input.as_of),
  };
}

/** What a reader holds, and what a session was sent, are versions of now: an answer of then would be taken for what holds. */
export function assertOneTime(request: FastifyRequest, { as_of, since_pack, exclude_seen }: ContextInput): void {
  if (as_of === undefined || (since_pack === undefined && !exclude_seen)) return;
  const place = request.method === 'GET' ? 'query' : 'body';
  throw invalid(place, 'as_of', 'cannot stand beside since_pack and exclude_seen: what was sent before is about now');
}

/** The session whose sent memories are left out; undefined: nothing is. */
function sessionOf(request: FastifyRequest, input: ContextInput | RecallInput): string | undefined {
  if (!('exclude_seen' in input && input.exclude_seen)) return undefined;
  if (request.method === 'GET') {
    throw invalid('query', 'exclude_seen', 'writes down what is sent: ask by POST');
  }
  if (input.session_id === undefined || input.session_id === '%') {
    throw invalid('body', 'session_id', 'is missing: exclude_seen needs the session that it is about');
  }
  return input.session_id;
}

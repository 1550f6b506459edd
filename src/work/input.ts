/** From the wire to what the verbs of work take, boundaries checked. */
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { assertInside } from '../db/boundary.ts';
import type { Deps } from '../deps.ts';
import { agentOf, principalOf } from '../http/auth.ts';
import { assertContent, filterOf, type filterShape, toDate, toFilters, uuidOf } from '../http/fields.ts';
import { repeatable } from '../http/idempotency.ts';
import { targetOf } from '../http/target.ts';
import type { RememberInput } from '../memory/remember.ts';
import type { CloseRequest, ListRequest, Memories, Writing } from './items.ts';
import type { eventBody } from './schema.ts';
import type { ItemFilters, Page } from './store.ts';

type Body = Partial<Omit<z.infer<typeof eventBody>, 'content' | 'event_type' | 'bucket'>> & { bucket: string };

/** Under the idempotency key of the request. */
export async function writingOf(
  deps: Deps,
  memories: Memories,
  request: FastifyRequest,
  body: Parameters<typeof agentOf>[1],
): Promise<Writing> {
  return {
    deps: await repeatable(deps, request),
    memories,
    principal: principalOf(request),
    agent: agentOf(request, body),
  };
}

/** All but the text and the type of the memory. */
export function toPlace(request: FastifyRequest, body: Body): Omit<RememberInput, 'content' | 'memoryType'> {
  return {
    ...targetOf(principalOf(request), body),
    sessionId: body.session_id,
    source: body.source,
    importance: body.importance,
    confidence: body.confidence,
    metadata: body.metadata,
    provenance: body.provenance,
  };
}

/** Without a path of its own an item lies under `fixed.path`, which tells a reader of packs what it is. */
export function toWork(
  request: FastifyRequest,
  body: Body,
  fixed: Pick<RememberInput, 'content' | 'path' | 'memoryType'>,
): RememberInput {
  assertContent(fixed.content);
  const place = toPlace(request, body);
  return { ...fixed, ...place, path: place.path ?? fixed.path };
}

type FilterQuery = { -readonly [Field in keyof typeof filterShape]?: z.infer<(typeof filterShape)[Field]> };

export function listRequest(
  request: FastifyRequest,
  query: FilterQuery & Page & { readonly as_of?: string | undefined },
  items: ItemFilters,
): ListRequest {
  const filters = toFilters(query);
  assertInside(principalOf(request), filters);
  return {
    team: filterOf(query.team_id),
    filters,
    items,
    page: { limit: query.limit, offset: query.offset },
    asOf: toDate(query.as_of),
  };
}

export function closeRequest(
  id: string,
  which: { bucket?: string | undefined; scope?: string | undefined },
): Pick<CloseRequest, 'id' | 'bucket' | 'scope'> {
  return { id: uuidOf(id), bucket: filterOf(which.bucket), scope: filterOf(which.scope) };
}

/** Absent: undefined. 0: null, no end. */
export function endOf(ttlSeconds: number | undefined, now: Date): Date | null | undefined {
  if (ttlSeconds === undefined) return undefined;
  return ttlSeconds === 0 ? null : new Date(now.getTime() + ttlSeconds * 1_000);
}

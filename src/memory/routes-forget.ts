/** HTTP of forgetting: one memory, or all that match. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import type { Deps } from '../deps.ts';
import { ApiError, invalid } from '../errors.ts';
import { principalOf } from '../http/auth.ts';
import { assertContent, filterOf, idParams, toFilters, uuidOf } from '../http/fields.ts';
import { once } from '../http/idempotency.ts';
import { ignoreEmpty } from '../http/input.ts';
import type { Principal } from '../types.ts';
import { type ForgetInput, forget } from './forget.ts';
import { forgetMany } from './forget-many.ts';
import type { ForgottenTransaction, MemoryLinks } from './links.ts';
import type { Receipt } from './receipt.ts';
import { forgetBody, forgetReply } from './schema.ts';
import { forgetManyBody, forgetManyReply } from './schema-many.ts';
import { toWireReceipt } from './wire.ts';

const tags = ['memory'];

export const forgetRoutes =
  (deps: Deps, links: MemoryLinks): FastifyPluginAsyncZod =>
  async (app) => {
    ignoreEmpty(app, ['reason']);
    app.post('/memories/:id/forget', {
      config: { scopes: ['memory:delete', 'memory:write'] },
      schema: {
        operationId: 'forget',
        tags,
        summary: 'Forget a memory',
        description:
          'From the moment of the reply it is in no read, list or count. The receipt says what was checked; it is written only when no path finds the text any more. The id of a transaction of the ledger deletes that for good, without a receipt; it needs `memory:delete` and `ledger:read`.',
        params: idParams,
        body: forgetBody,
        response: { 200: forgetReply },
      },
      handler: (request, reply) => {
        const input = toForget(uuidOf(request.params.id), request.body);
        return forgetOnce(request, reply, (deps) => forgetAny(deps, principalOf(request), input));
      },
    });

    app.post('/memories/forget', {
      config: { scopes: ['memory:delete', 'memory:write'] },
      schema: {
        operationId: 'forgetMany',
        tags,
        summary: 'Forget all memories that match',
        description: 'All of them or none, without a cap. Each has its receipt. Try it with dry_run=true first.',
        body: forgetManyBody,
        response: { 200: forgetManyReply },
      },
      handler: (request, reply) => {
        // `/memories/<id>/forget` of a client whose id is empty: it must not forget all that its other fields match
        if (/\/{2,}forget/.test(request.url)) throw new ApiError('not_found', 'the id in the path is empty');
        const { all, mode, reason = null, dry_run: dryRun, team_id } = request.body;
        const input = { filters: toFilters(request.body), team: filterOf(team_id), all, mode, reason, dryRun };
        return once(
          deps,
          request,
          reply,
          (deps) => forgetMany(deps, principalOf(request), input),
          ({ count, at }) => ({
            status: 200,
            body: {
              id: request.id,
              status: dryRun ? ('dry_run' as const) : ('deleted' as const),
              mode,
              count,
              forgotten_at: dryRun ? null : at.toISOString(),
            },
          }),
        );
      },
    });

    function forgetOnce(
      request: FastifyRequest,
      reply: FastifyReply,
      run: (deps: Deps) => Promise<Receipt | ForgottenTransaction>,
    ) {
      return once(deps, request, reply, run, (done) => ({ status: 200, body: toForgotten(done) }));
    }

    /** A memory; else the transaction of the ledger that has this id. */
    async function forgetAny(deps: Deps, principal: Principal, input: ForgetInput) {
      try {
        return await forget(deps, links, principal, input);
      } catch (error) {
        if (!isNotFound(error)) throw error;
        return links.forgetTransaction(deps, principal, input).catch((other: unknown) => {
          throw isNotFound(other) ? error : other; // whoever asked meant a memory
        });
      }
    }
  };

const isNotFound = (error: unknown): boolean => error instanceof ApiError && error.code === 'not_found';

export function toForgotten(done: Receipt | ForgottenTransaction): z.infer<typeof forgetReply> {
  if ('at' in done) {
    const { id, at } = done;
    const mode = 'hard_delete' as const;
    return { id, memory_id: id, status: 'deleted' as const, mode, forgotten_at: at.toISOString() };
  }
  return {
    id: done.memory_id,
    memory_id: done.memory_id,
    status: done.mode === 'redact' ? ('redacted' as const) : ('deleted' as const),
    mode: done.mode,
    forgotten_at: done.forgotten_at.toISOString(),
    receipt: toWireReceipt(done),
  };
}

export function toForget(
  id: string,
  body: Partial<z.infer<typeof forgetBody>> & Pick<z.infer<typeof forgetBody>, 'mode'>,
): ForgetInput {
  const { mode, reason = null, replacement_content: replacement, bucket, scope } = body;
  if (replacement !== undefined && mode !== 'redact')
    throw invalid('body', 'replacement_content', 'goes with mode redact only');
  if (replacement !== undefined) assertContent(replacement);
  return { id, mode, reason, replacement, bucket: filterOf(bucket), scope: filterOf(scope) };
}

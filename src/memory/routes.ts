/** HTTP of a memory's life: storing it here, the rest beside. */
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import type { Deps } from '../deps.ts';
import { agentOf, principalOf } from '../http/auth.ts';
import { assertContent, toDate } from '../http/fields.ts';
import { once } from '../http/idempotency.ts';
import { targetOf } from '../http/target.ts';
import type { MemoryLinks } from './links.ts';
import { type RememberInput, remember } from './remember.ts';
import { changeRoutes } from './routes-change.ts';
import { forgetRoutes } from './routes-forget.ts';
import { readRoutes } from './routes-read.ts';
import { transferRoutes } from './routes-transfer.ts';
import { rememberBody, rememberReply } from './schema.ts';

export const memoryRoutes =
  (deps: Deps, links: MemoryLinks): FastifyPluginAsyncZod =>
  async (app) => {
    app.post('/remember', {
      config: { scopes: ['memory:write', 'temporary:write'] },
      schema: {
        operationId: 'remember',
        tags: ['memory'],
        summary: 'Store a memory',
        description:
          'Found by every read from the moment of the reply. 201: stored. 200: a new version under its semantic key, or the same was there. A text that is an answer of recall is refused with `recalled_text`.',
        body: rememberBody,
        response: { 200: rememberReply, 201: rememberReply },
      },
      handler: (request, reply) =>
        once(
          deps,
          request,
          reply,
          (deps) =>
            remember(deps, principalOf(request), agentOf(request, request.body), toInput(request, request.body)),
          (written) => ({
            status: written.outcome === 'created' ? 201 : 200,
            body: {
              id: written.id,
              memory_id: written.id,
              status: 'active' as const,
              outcome: written.outcome,
              memory_type: written.memoryType,
              version: written.version,
              created_at: written.created_at.toISOString(),
              updated_at: written.updated_at.toISOString(),
              ...(written.conflicts && { conflicts: [...written.conflicts] }),
            },
          }),
        ),
    });

    await app.register(readRoutes(deps, links));
    await app.register(changeRoutes(deps, links));
    await app.register(forgetRoutes(deps, links));
    await app.register(transferRoutes(deps));
  };

function toInput(request: FastifyRequest, body: z.infer<typeof rememberBody>): RememberInput {
  const principal = principalOf(request);
  assertContent(body.content);
  const { device_id, device_label } = body;
  return {
    content: body.content,
    ...targetOf(principal, { ...body, path: body.path ?? body.logic_path }),
    memoryType: body.memory_type,
    semanticKey: body.semantic_key,
    dedupe: body.dedupe,
    importance: body.importance,
    confidence: body.confidence,
    source: body.source,
    author: body.author,
    sessionId: body.session_id,
    position: body.position,
    metadata: body.metadata,
    provenance: {
      ...body.provenance,
      ...(device_id !== undefined && { device_id }),
      ...(device_label !== undefined && { device_label }),
    },
    occurredAt: toDate(body.occurred_at),
    expiresAt: toDate(body.expires_at),
    allowRecalled: body.allow_recalled,
    detectConflicts: body.detect_conflicts,
  };
}

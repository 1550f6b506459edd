/** Two shapes of writing that an old library of clients sends. On the mounts of existing clients only, and in no documentation. */
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Deps } from '../deps.ts';
import { agentOf, principalOf } from '../http/auth.ts';
import { assertContent, name } from '../http/fields.ts';
import { once } from '../http/idempotency.ts';
import { targetOf } from '../http/target.ts';
import { warningsSchema } from '../http/wire.ts';
import { type RememberInput, remember } from './remember.ts';

const WRITE = { scopes: ['memory:write' as const] };
const text = z.string().min(1);

const memoryBody = z.object({
  text,
  category: z.enum(['code', 'context', 'preference', 'workflow']).default('context'),
  idempotency_key: name.optional(),
});
const conflictBody = z.object({ title: text, context: text, resolution: text, idempotency_key: name.optional() });
const reply201 = { 201: z.object({ id: z.string(), status: z.literal('saved'), warnings: warningsSchema }) };

export const oldShapes =
  (deps: Deps): FastifyPluginAsyncZod =>
  async (app) => {
    app.post('/memories', { config: WRITE, schema: { body: memoryBody, response: reply201 } }, (request, reply) => {
      const { text, category } = request.body;
      const memoryType = category === 'workflow' ? 'procedural' : 'auto';
      return once(deps, request, reply, save(request, { content: text, path: category, memoryType }), saved);
    });

    app.post(
      '/memory-conflicts',
      { config: WRITE, schema: { body: conflictBody, response: reply201 } },
      (request, reply) => {
        const { title, context, resolution } = request.body;
        const content = `${title}\n\n${context}\n\nResolution: ${resolution}`;
        return once(deps, request, reply, save(request, { content, path: 'conflicts', memoryType: 'auto' }), saved);
      },
    );
  };

const saved = ({ id }: { readonly id: string }) => ({ status: 201, body: { id, status: 'saved' as const } });

function save(
  request: FastifyRequest,
  said: Pick<RememberInput, 'content' | 'memoryType'> & { readonly path: string },
): (deps: Deps) => ReturnType<typeof remember> {
  const principal = principalOf(request);
  assertContent(said.content);
  const input = { ...said, ...targetOf(principal, { bucket: 'public', path: said.path }) };
  return (deps) => remember(deps, principal, agentOf(request), input);
}

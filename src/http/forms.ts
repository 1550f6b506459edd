/** Bodies of HTML forms, which OAuth's own clients send as well. */
import type { FastifyInstance } from 'fastify';

export function acceptForms(app: Pick<FastifyInstance, 'addContentTypeParser'>): void {
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) => {
    done(null, Object.fromEntries(new URLSearchParams(body as string)));
  });
}

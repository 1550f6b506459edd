/** Bodies of HTML forms, which OAuth's own clients send as well. */
import type { FastifyInstance } from 'fastify';

export function acceptForms(app: Pick<FastifyInstance, 'addContentTypeParser'>): void {
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) => {
    done(null, readForm(body as string));
  });
}

/** A field that comes twice is a list, which no schema takes: nobody must read the one and check the other. */
function readForm(body: string): Record<string, string | string[]> {
  const fields = new Map<string, string | string[]>();
  for (const [name, value] of new URLSearchParams(body)) {
    const before = fields.get(name);
    if (Array.isArray(before)) before.push(value);
    else fields.set(name, before === undefined ? value : [before, value]);
  }
  return Object.fromEntries(fields);
}

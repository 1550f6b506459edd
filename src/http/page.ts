/** Pages for owners: no script, no cookie. What signs in is a token that is pasted, so a page of somebody else can send nothing in its name. */
import type { FastifyReply } from 'fastify';

export interface Page {
  readonly title: string;
  /** HTML; every value in it is escaped. */
  readonly body: string;
  /** Sources beside our own that the answer to the form may lead to, as a content security policy writes them. */
  readonly leadsTo?: string;
}

/** Nothing is loaded, nobody frames it, the form goes nowhere else. What a stranger named himself (`strong`) turns no text around it. */
export function sendPage(reply: FastifyReply, status: number, { title, body, leadsTo }: Page): FastifyReply {
  const formAction = leadsTo === undefined ? "'self'" : `'self' ${leadsTo}`;
  return reply
    .code(status)
    .headers({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': `default-src 'none'; style-src 'unsafe-inline'; form-action ${formAction}; base-uri 'none'; frame-ancestors 'none'`,
      'referrer-policy': 'no-referrer',
    })
    .serializer((html: unknown) => html as string)
    .send(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title>
<style>body{font:1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:3rem auto;padding:0 1rem;overflow-wrap:anywhere}label{display:block;margin:1rem 0}input{display:block;width:100%;font:inherit;padding:.4rem}button{font:inherit;padding:.4rem 1rem;margin-right:.5rem}strong{unicode-bidi:isolate}</style>
<h1>${escaped(title)}</h1>
${body}
</html>
`);
}

/** What went wrong, above a form. */
export const alert = (message: string | undefined): string =>
  message === undefined ? '' : `<p role="alert"><strong>${escaped(message)}</strong></p>\n`;

export const hidden = (fields: Readonly<Record<string, string>>): string =>
  Object.entries(fields)
    .map(([name, value]) => `<input type="hidden" name="${escaped(name)}" value="${escaped(value)}">`)
    .join('');

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character]!);

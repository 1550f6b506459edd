/** Text or JSON. */
import type { FastifyRequest } from 'fastify';
import { principalOf } from './auth.ts';

/** The token's profile wins, then the request's, then Accept. JSON is the default of existing clients. */
export function wantsText(request: FastifyRequest, input: { profile?: 'public' | 'structured' | undefined }): boolean {
  if (principalOf(request).profile === 'public') return true;
  if (input.profile !== undefined) return input.profile === 'public';
  const accept = request.headers.accept ?? '';
  const text = accept.indexOf('text/plain');
  const json = accept.indexOf('application/json');
  return text >= 0 && (json < 0 || text < json);
}

/** Errors of the service as tool errors: what happened, and what a model can do about it. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { ServiceError } from './service.ts';

const SIGN_IN = 'Tell the user that the gateway needs a valid token; do not call again before they have set one.';
const LATER = 'This passes: call once more in a while, and go on without memory if it fails again.';

const ADVICE: Readonly<Record<string, string>> = {
  missing_credentials: SIGN_IN,
  invalid_token: SIGN_IN,
  token_expired: SIGN_IN,
  token_revoked: SIGN_IN,
  insufficient_scope: 'Tell the user which scope the token lacks; do not call this tool again with the same token.',
  boundary_denied: 'Leave team_id, bucket and scope out, or name one that the token may use.',
  not_found:
    'Look the id up with recall or search_memory: it is the Reference of a result. What was forgotten is gone for good.',
  conflict: 'Read the present state first, then decide.',
  idempotency_conflict: 'Call again as a new request.',
  payload_too_large: 'Send less: shorten the text, or split it into several memories.',
  validation_error: 'Correct the argument that the message names and call again.',
  rate_limited: LATER,
  unavailable: LATER,
  timeout: 'Narrow the query, then call once more.',
  internal_error: 'Go on without memory, and give the user the request id.',
  unreachable: 'Go on without memory, and tell the user that the memory service cannot be reached.',
};

const byStatus = (status: number): string =>
  status >= 500 ? LATER : 'Correct the call as the message says; the same call fails again.';

export function toToolError(error: unknown): CallToolResult {
  if (!(error instanceof ServiceError)) throw error;
  const lines = [
    `Error ${error.code}: ${error.message}`,
    `What to do: ${ADVICE[error.code] ?? byStatus(error.status)}`,
    ...(error.retryAfter === undefined ? [] : [`Retry after: ${error.retryAfter} seconds`]),
    ...(error.requestId === undefined ? [] : [`Request id: ${error.requestId}`]),
  ];
  return { isError: true, content: [{ type: 'text', text: lines.join('\n') }] };
}

/** The table of error codes. Statuses exist only here; replies are rendered only in http/errors.ts. */

export const ERRORS = {
  bad_request: { status: 400, message: 'this is not a valid HTTP request' },
  bad_json: { status: 400, message: 'the body is not valid JSON' },
  invalid_memory_id: { status: 400, message: 'the memory id is not valid' },
  missing_credentials: {
    status: 401,
    message: 'no credential was sent; send Authorization: Bearer TOKEN or X-API-Key: TOKEN',
  },
  invalid_token: { status: 401, message: 'the token is not valid' },
  token_expired: { status: 401, message: 'the token has expired' },
  token_revoked: { status: 401, message: 'the token was revoked' },
  insufficient_scope: { status: 403, message: 'the token lacks a scope that this call needs' },
  boundary_denied: { status: 403, message: 'the token may not use this team, bucket or scope' },
  not_found: { status: 404, message: 'a memory with this id was not found, or this token may not see it' },
  route_not_found: { status: 404, message: 'there is no such route' },
  method_not_allowed: { status: 405, message: 'this route does not take this method' },
  request_timeout: { status: 408, message: 'the request took too long to arrive and was cut off' },
  conflict: { status: 409, message: 'the request conflicts with the stored state' },
  secret_shown: { status: 409, message: 'the secret was in the first answer to this key and is not kept' },
  idempotency_conflict: { status: 409, message: 'this idempotency key was used with another body' },
  payload_too_large: { status: 413, message: 'the body or a field is too large' },
  unsupported_media_type: { status: 415, message: 'the body must be application/json' },
  validation_error: { status: 422, message: 'the request is not valid' },
  unreadable_document: { status: 422, message: 'the document cannot be read' },
  recalled_text: { status: 422, message: 'the content is an answer of recall: storing it would recall it twice' },
  binding_confirmation_required: { status: 428, message: 'an owner wants to claim this agent; confirm or deny it' },
  headers_too_large: { status: 431, message: 'the headers are too large' },
  rate_limited: { status: 429, message: 'too many requests' },
  internal_error: { status: 500, message: 'the service failed to answer; quote the request id when you report it' },
  unavailable: { status: 503, message: 'the service cannot answer right now; try again' },
  timeout: { status: 503, message: 'the query took too long and was stopped; narrow it or try again' },
} as const satisfies Record<string, { status: number; message: string }>;

export type ErrorCode = keyof typeof ERRORS;

/** One fault of the input, in FastAPI's shape: `loc` says where (`['body', 'max_items']`). */
export interface Fault {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly type: string;
}

/** The only error that is thrown on purpose. The message is sent to the caller: it never holds memory text, SQL or a token. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;
  readonly faults: readonly Fault[] | undefined;
  /** Stands in the reply in place of the sentence, for clients that read an object there. */
  readonly detail: Readonly<Record<string, string>> | undefined;
  /** Seconds after which a retry makes sense; sent as Retry-After. */
  readonly retryAfter: number | undefined;

  constructor(
    code: ErrorCode,
    message?: string,
    extra: {
      faults?: readonly Fault[];
      detail?: Readonly<Record<string, string>>;
      retryAfter?: number;
      cause?: unknown;
    } = {},
  ) {
    super(message ?? ERRORS[code].message, extra.cause === undefined ? undefined : { cause: extra.cause });
    this.code = code;
    this.faults = extra.faults;
    this.detail = extra.detail;
    this.retryAfter = extra.retryAfter;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }
}

/** A 422 about one field. `where` is 'body', 'query', 'path' or 'header'. */
export function invalid(where: string, field: string, msg: string, type = 'value_error'): ApiError {
  return new ApiError('validation_error', `${field}: ${msg}`, { faults: [{ loc: [where, field], msg, type }] });
}

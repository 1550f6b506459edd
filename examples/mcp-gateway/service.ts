/** Calls the service as whoever called the gateway. The token is forwarded and never kept, logged or sent anywhere else. */

export interface Caller {
  /** As it came: `Bearer TOKEN`. */
  readonly authorization: string;
  /** Who asks or writes; attribution only. */
  readonly agentId: string | undefined;
  readonly agentInstanceId: string | undefined;
}

export interface Call {
  readonly method: 'GET' | 'POST';
  /** Below the mount, ids already encoded. */
  readonly path: string;
  /** Undefined values are left out. */
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: Readonly<Record<string, unknown>>;
  /** The text profile, or JSON. */
  readonly accept: 'text/plain' | 'application/json';
}

/** The text of a 2xx answer. @throws ServiceError */
export type Service = (call: Call, agent?: Partial<Pick<Caller, 'agentId' | 'agentInstanceId'>>) => Promise<string>;

/** An answer that is no 2xx, or none at all (`unreachable`). */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: string;
  /** 0 without an answer. */
  readonly status: number;
  readonly requestId: string | undefined;
  /** Seconds. */
  readonly retryAfter: string | undefined;

  constructor(
    code: string,
    message: string,
    answer: { status?: number; requestId?: string; retryAfter?: string } = {},
  ) {
    super(message);
    this.code = code;
    this.status = answer.status ?? 0;
    this.requestId = answer.requestId;
    this.retryAfter = answer.retryAfter;
  }
}

/** The documented mount: it refuses fields that it does not know, so a mistyped filter never widens a search. */
const MOUNT = '/docs/api/memory';

/** Longer than the service's own limits, so that its answer arrives and not ours. */
const TIMEOUT_MS = 30_000;

export function makeService(base: string, caller: Caller): Service {
  return async ({ method, path, query = {}, body, accept }, agent = {}) => {
    const url = new URL(`${base.replace(/\/+$/, '')}${MOUNT}${path}`);
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.set(name, String(value));
    const agentId = agent.agentId ?? caller.agentId;
    const agentInstanceId = agent.agentInstanceId ?? caller.agentInstanceId;
    let response: Response;
    let text: string;
    try {
      response = await fetch(url, {
        method,
        headers: {
          accept,
          authorization: caller.authorization,
          ...(agentId !== undefined && { 'x-memory-os-agent-id': agentId }),
          ...(agentInstanceId !== undefined && { 'x-memory-os-agent-instance-id': agentInstanceId }),
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
        // a redirect would carry the token to another server
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      text = await response.text();
    } catch (error) {
      const late = error instanceof Error && error.name === 'TimeoutError';
      throw new ServiceError(
        'unreachable',
        late
          ? `the memory service did not answer within ${TIMEOUT_MS / 1000} seconds`
          : 'the memory service does not answer',
      );
    }
    if (!response.ok) throw toError(response, text);
    if (!/^(text\/plain|application\/json)\b/.test(response.headers.get('content-type') ?? ''))
      throw notTheService(response.status);
    return text;
  };
}

function toError(response: Response, text: string): ServiceError {
  const retryAfter = response.headers.get('retry-after');
  const extra = { status: response.status, ...(retryAfter !== null && { retryAfter }) };
  try {
    const { error } = JSON.parse(text) as { error: { code: string; message: string; request_id: string } };
    return new ServiceError(error.code, error.message, { ...extra, requestId: error.request_id });
  } catch {
    return notTheService(response.status, extra);
  }
}

const notTheService = (status: number, extra = {}): ServiceError =>
  new ServiceError(`http_${status}`, 'the answer is not one of the memory service: is XMEMO_URL right?', {
    status,
    ...extra,
  });

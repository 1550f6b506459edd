/** How long a client may take to send its request, and what it is told when the request never arrives whole or is no HTTP. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyHttpOptions, FastifyInstance } from 'fastify';
import { v7 as uuidv7 } from 'uuid';
import type { Config } from '../config.ts';
import { ApiError, ERRORS, type ErrorCode } from '../errors.ts';

/** Connections are looked at this often, at least four times within the limit: Node's own 30 seconds would double a short one. */
const LOOK_EVERY_MS = 5_000;

/** One limit for the head and for the whole request: a client that drips either is cut off. */
export function connectionOptions({ REQUEST_TIMEOUT_MS: ms }: Config) {
  return {
    requestTimeout: ms,
    connectionTimeout: 2 * ms,
    http: {
      requireHostHeader: false,
      headersTimeout: ms,
      connectionsCheckingInterval: Math.min(LOOK_EVERY_MS, Math.ceil(ms / 4)),
    },
    clientErrorHandler: refuse,
  } satisfies FastifyHttpOptions<Server>;
}

const CODES: Readonly<Record<string, ErrorCode>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
  HPE_HEADER_OVERFLOW: 'headers_too_large',
};

/** What a client that still sends is given to read its answer: closing at once would reset the connection and could take the answer with it. */
const LINGER_MS = 1_000;

/** There is no request to reply to, only its socket. Called again for whatever is still sent. */
function refuse(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return;
  const code = CODES[error.code ?? ''] ?? 'bad_request';
  const { status, message } = ERRORS[code];
  const request_id = uuidv7();
  const body = JSON.stringify({ detail: message, error: { code, message, request_id }, request_id });
  socket.end(
    `HTTP/1.1 ${status} ${code}\r\nConnection: close\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  const cut = setTimeout(() => socket.destroy(error), LINGER_MS);
  socket.once('close', () => clearTimeout(cut));
}

/** An answer that is given while the service closes ends its connection: kept alive, it would hold the closing up until it is killed. */
export function endConnections(app: Pick<FastifyInstance, 'addHook'>): void {
  let closing = false;
  app.addHook('preClose', async () => {
    closing = true;
  });
  app.addHook('onSend', async (_request, reply) => {
    if (closing) reply.header('connection', 'close');
  });
}

const ONCE = ['host', 'authorization'];

/** What Node itself would refuse without a word is told in ours, and what only a proxy could undo is refused. */
export function registerProtocol(app: FastifyInstance): void {
  // an expectation that is not known may be passed over (RFC 9110, 10.1.1)
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  app.addHook('onRequest', async ({ headers, raw }) => {
    // of two Node takes the first and says nothing, a proxy may have looked at the second
    const twice = ONCE.find((name) => (raw.headersDistinct?.[name]?.length ?? 0) > 1);
    if (twice) throw new ApiError('bad_request', `${twice} was sent more than once`);
    if (headers.host === undefined && raw.httpVersion === '1.1')
      throw new ApiError('bad_request', 'a request by HTTP/1.1 names its Host');
    if (!/^(identity)?$/i.test(headers['content-encoding'] ?? ''))
      throw new ApiError('unsupported_media_type', 'the body must come without Content-Encoding');
  });
}

/** Streamable HTTP without sessions: each request brings its token, gets a server of its own, and leaves nothing behind. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { makeServer } from './server.ts';
import { type Caller, makeService, type Service, ServiceError } from './service.ts';

/** A content of 512 KiB may be six times as long when every byte is escaped in JSON. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;

/** Where clients look, with and without the path of the server. */
const METADATA = /^\/\.well-known\/oauth-protected-resource(\/mcp)?$/;
const METADATA_TIMEOUT_MS = 10_000;

const INVALID_REQUEST = -32600;
const UNAUTHORIZED = -32001;
const INTERNAL_ERROR = -32603;

/** `log` gets one line a failure, never a token or a text. */
export function makeHttpServer(base: string, log: (line: string) => void): Server {
  return createServer((request, response) => {
    answer(base, request, response).catch((error: unknown) => {
      log(`request failed: ${error instanceof Error ? error.name : 'unknown'}`);
      if (!response.headersSent) refuse(response, 500, INTERNAL_ERROR, 'the gateway failed to answer');
      else response.destroy();
    });
  });
}

async function answer(base: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = request.url?.split('?')[0]?.replace(/\/+$/, '');
  if (path === '/health') return send(response, 200, { status: 'ok' });
  if (path !== undefined && METADATA.test(path)) return sendMetadata(base, response);
  if (path !== '/mcp') return refuse(response, 404, INVALID_REQUEST, 'there is only POST /mcp here');
  if (request.method !== 'POST') {
    response.setHeader('allow', 'POST');
    return refuse(response, 405, INVALID_REQUEST, 'send POST: this server keeps no sessions and no streams');
  }
  const caller = callerOf(request);
  if (!caller) {
    response.setHeader('www-authenticate', 'Bearer');
    return refuse(response, 401, UNAUTHORIZED, 'send Authorization: Bearer TOKEN with a token of the memory service');
  }
  const service = makeService(base, caller);
  if (await isRefused(service)) {
    response.setHeader('www-authenticate', 'Bearer error="invalid_token"');
    return refuse(response, 401, UNAUTHORIZED, 'the memory service does not take this token: sign in again');
  }
  const server = makeServer(service);
  const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true, maxRequestBodySize: MAX_BODY_BYTES });
  response.on('close', () => void server.close());
  await server.connect(transport as Transport);
  await transport.handleRequest(request, response);
}

/** Asked before every request: clients renew a token, or ask for another one, when they are told 401 and at no other time. */
async function isRefused(service: Service): Promise<boolean> {
  try {
    await service({ method: 'GET', path: '/auth/token/validate', accept: 'application/json' });
    return false;
  } catch (error) {
    return error instanceof ServiceError && error.status === 401; // any other fault is the tools' to tell
  }
}

/** Who hands out tokens for this server (RFC 9728): the service says it. MCP_URL of the service must be the address of this server. */
async function sendMetadata(base: string, response: ServerResponse): Promise<void> {
  const url = `${base.replace(/\/+$/, '')}/.well-known/oauth-protected-resource`;
  const answer = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(METADATA_TIMEOUT_MS) }).catch(
    () => null,
  );
  if (!answer?.ok) return refuse(response, 502, INTERNAL_ERROR, 'the memory service does not answer');
  send(response, 200, (await answer.json()) as object);
}

function callerOf({ headers }: IncomingMessage): Caller | undefined {
  const one = (name: string): string | undefined => {
    const value = headers[name];
    return (Array.isArray(value) ? value[0] : value)?.trim() || undefined;
  };
  const key = one('x-api-key');
  const authorization = headers.authorization ?? (key && `Bearer ${key}`);
  if (!authorization) return undefined;
  return { authorization, agentId: one('x-memory-os-agent-id'), agentInstanceId: one('x-memory-os-agent-instance-id') };
}

function refuse(response: ServerResponse, status: number, code: number, message: string): void {
  send(response, status, { jsonrpc: '2.0', error: { code, message }, id: null });
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body));
}

/** The clients of the contract as senders of requests: their headers, their nulls, their text for numbers. */
import type { FastifyInstance } from 'fastify';
import type { Test } from 'tap';

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a reply is looked at field by field
  readonly body: any;
  readonly headers: Readonly<Record<string, unknown>>;
}

export type Send = (
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  url: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<Answer>;

/** What every client takes for granted: JSON, never empty, never a redirect. */
function senderOf(app: FastifyInstance, t: Test, own: (body: unknown) => Record<string, string>): Send {
  return async (method, url, body, headers = {}) => {
    const reply = await app.inject({
      method,
      url,
      headers: { ...own(body), ...headers },
      ...(body !== undefined && { payload: JSON.stringify(body) }),
    });
    t.notOk(reply.statusCode >= 300 && reply.statusCode < 400, `${method} ${url} does not redirect`);
    t.match(reply.headers['content-type'], /application\/json/, `${method} ${url} is JSON`);
    t.not(reply.body, '', `${method} ${url} has a body`);
    return { status: reply.statusCode, body: reply.json(), headers: reply.headers };
  };
}

const JSON_BODY = { 'content-type': 'application/json' };

/** OC: an API key, a JSON content type on every request, GET included. */
export const openClaw = (app: FastifyInstance, t: Test, token: string): Send =>
  senderOf(app, t, () => ({
    ...JSON_BODY,
    'x-api-key': token,
    'x-memory-os-agent-id': 'openclaw',
    'x-memory-os-agent-instance-id': 'xmemo-7d4c5f1e-0000-4000-8000-000000000001',
    'user-agent': 'node',
  }));

/** H: three copies of the idempotency key on every write. */
export const hermes = (app: FastifyInstance, t: Test, token: string): Send =>
  senderOf(app, t, (body) => {
    const key = (body as { idempotency_key?: string } | undefined)?.idempotency_key;
    return {
      accept: '*/*',
      'x-api-key': token,
      'x-memory-os-agent-id': 'hermes',
      'x-memory-os-agent-instance-id': '0123456789abcdef0123456789abcdef',
      'user-agent': 'python-httpx/0.27.0',
      ...(body !== undefined && JSON_BODY),
      ...(key !== undefined && { 'idempotency-key': key, 'x-idempotency-key': key }),
    };
  });

/** DSH: an agent name with a blank; no idempotency key. */
export const deepSeek = (app: FastifyInstance, t: Test, token: string, credential: 'key' | 'bearer' = 'key'): Send =>
  senderOf(app, t, (body) => ({
    accept: 'application/json',
    ...(credential === 'key' ? { 'x-api-key': token } : { authorization: `Bearer ${token}` }),
    'x-memory-os-agent-id': 'DeepSeek Harness',
    'x-memory-os-agent-instance-id': 'dsh-7d4c5f1e-0000-4000-8000-000000000002',
    ...(body !== undefined && JSON_BODY),
  }));

/** CLI+, SK and SK+: a bearer token alone. */
export const bearer = (app: FastifyInstance, t: Test, token: string, agent = 'XMemo-CLI/0.4.176'): Send =>
  senderOf(app, t, (body) => ({
    accept: 'application/json',
    authorization: `Bearer ${token}`,
    'user-agent': agent,
    ...(body !== undefined && JSON_BODY),
  }));

export const anonymous = (app: FastifyInstance, t: Test): Send =>
  senderOf(app, t, (body) => (body === undefined ? {} : JSON_BODY));

/** A whole service for a test file: its own database, the real routes, a token for anybody. */
import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import pg from 'pg';
import { pino } from 'pino';
import { buildApp } from '../../src/app.ts';
import { signToken, type TokenRequest } from '../../src/bin/tokens.ts';
import { parseConfig } from '../../src/config.ts';
import { connectPostgres, type Db } from '../../src/db/db.ts';
import { openEmbedded } from '../../src/db/embedded.ts';
import { migrate } from '../../src/db/migrate.ts';
import type { Deps } from '../../src/deps.ts';
import type { Embedder } from '../../src/embed/embedder.ts';
import { makeEmbedder } from '../../src/embed/index.ts';
import { makeCountTokens } from '../../src/recall/tokens.ts';

export const SECRET = 'a secret for tests, long enough for HS256';

/** Where `npm test` makes its databases when it is set; the embedded database when it is not. */
export const SERVER_URL = process.env.TEST_DATABASE_URL;

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  // biome-ignore lint/suspicious/noExplicitAny: a reply is looked at field by field
  readonly body: any;
  readonly text: string;
}

export interface Service {
  readonly app: FastifyInstance;
  readonly deps: Deps;
  readonly logged: string[];
  /** Undefined: the real time again. */
  setNow(now: Date | undefined): void;
  token(request?: Partial<TokenRequest>): string;
  /** `at` is a path below the canonical mount, or an absolute one that begins with a mount of clients. */
  call(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    at: string,
    options?: {
      token?: string | null;
      body?: unknown;
      query?: Record<string, unknown>;
      headers?: Record<string, string>;
    },
  ): Promise<Reply>;
  close(): Promise<void>;
}

export async function makeTestDb(statementTimeoutMs = 20_000, onError: (error: Error) => void = () => {}): Promise<Db> {
  if (SERVER_URL === undefined) return openEmbedded();
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const admin = new pg.Client({ connectionString: SERVER_URL });
  await admin.connect();
  await admin.query(`create database ${name}`);
  await admin.end();
  const db = connectPostgres({
    url: withDatabase(SERVER_URL, name),
    poolSize: 6,
    statementTimeoutMs,
    onError,
  });
  return {
    ...db,
    async close() {
      await db.close();
      const last = new pg.Client({ connectionString: SERVER_URL });
      await last.connect();
      await last.query(`drop database if exists ${name} with (force)`);
      await last.end();
    },
  };
}

/** Also for URLs without a host, which the URL class refuses. */
function withDatabase(url: string, name: string): string {
  return url.replace(/^(postgres(?:ql)?:\/\/[^/]*\/)[^?]*/, `$1${name}`);
}

export async function startService(
  options: {
    embedder?: 'hashing' | 'minilm' | Embedder;
    dimensions?: number;
    level?: string;
    env?: Record<string, string>;
    /** Another service, configured otherwise, on the same database. */
    beside?: Service;
  } = {},
): Promise<Service> {
  const { embedder: kind = 'hashing', dimensions = 256, level = 'trace', env = {}, beside } = options;
  const db = beside?.deps.db ?? (await makeTestDb());
  if (!beside) await migrate(db);
  const modelDir = new URL('../../.tap/models', import.meta.url).pathname;
  const embedder = typeof kind === 'string' ? await makeEmbedder({ kind, dimensions, modelDir }) : kind;
  const logged: string[] = [];
  let now: Date | undefined;
  const deps: Deps = {
    config: parseConfig({
      RATE_LIMIT_PER_TOKEN: '0',
      RATE_LIMIT_PER_ADDRESS: '0',
      AGENT_REGISTRATIONS_PER_HOUR: '0',
      DEVICE_LOGINS_PER_HOUR: '0',
      ...env,
    }),
    db,
    embedder,
    countTokens: makeCountTokens(),
    now: () => now ?? new Date(),
    log: pino({ level }, { write: (line: string) => void logged.push(line) }),
  };
  const app = await buildApp(deps, SECRET);
  await app.ready();
  const secrets = new Set<string>();
  const token: Service['token'] = (request = {}) =>
    signToken(SECRET, {
      owner: 'alice',
      scopes: ['memory:read', 'memory:write', 'memory:delete'],
      ttlSeconds: 3_600,
      ...request,
    });
  return {
    app,
    deps,
    logged,
    token,
    setNow: (at) => {
      now = at;
    },
    async call(method, at, { token: credential = token(), body, query, headers = {} } = {}) {
      noteSecrets(secrets, [credential, body, query]);
      const text = new URLSearchParams(
        Object.entries(query ?? {}).map(
          ([name, value]) =>
            [name, typeof value === 'object' ? JSON.stringify(value) : String(value)] as [string, string],
        ),
      );
      const url = `${/^\/(v1|api\/v1|docs)\//.test(at) ? at : `/docs/api/memory${at}`}${query ? `?${text}` : ''}`;
      const reply = await app.inject({
        method,
        url,
        headers: { ...(credential !== null && { authorization: `Bearer ${credential}` }), ...headers },
        ...(body !== undefined &&
          (typeof body === 'string' || Buffer.isBuffer(body)
            ? {
                payload: body,
                headers: {
                  'content-type': 'application/json',
                  ...(credential !== null && { authorization: `Bearer ${credential}` }),
                  ...headers,
                },
              }
            : { payload: body as object })),
      });
      const json = String(reply.headers['content-type']).includes('json');
      return {
        status: reply.statusCode,
        headers: reply.headers,
        body: json ? reply.json() : undefined,
        text: reply.body,
      };
    },
    async close() {
      await app.close();
      await embedder.close();
      if (!beside) await db.close();
      assertNotLogged(secrets, logged);
    },
  };
}

/** Tokens and texts that must not reach the log, from any test: enough of them, since each is looked for in every line. */
const MAX_SECRETS = 300;

function noteSecrets(secrets: Set<string>, values: readonly unknown[]): void {
  for (const value of values) {
    if (secrets.size >= MAX_SECRETS) return;
    if (typeof value === 'string' && value.trim().length >= 16) secrets.add(value.slice(0, 200));
    else if (typeof value === 'object' && value !== null) {
      const { content, query } = value as { content?: unknown; query?: unknown };
      noteSecrets(secrets, [content, query]);
    }
  }
}

function assertNotLogged(secrets: ReadonlySet<string>, logged: readonly string[]): void {
  const log = logged.join('');
  for (const secret of secrets) {
    if (log.includes(secret) || log.includes(JSON.stringify(secret).slice(1, -1)))
      throw new Error(`the log holds: ${secret}`);
  }
}

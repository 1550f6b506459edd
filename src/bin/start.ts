/** What the commands share: the environment, the database and the embedder of a configuration. */

import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type Logger, pino } from 'pino';
import { type Config, ConfigError, MIN_SECRET_BYTES, parseConfig } from '../config.ts';
import { connectPostgres, type Db, ping } from '../db/db.ts';
import { openEmbedded } from '../db/embedded.ts';
import type { Embedder } from '../embed/embedder.ts';
import { makeEmbedder } from '../embed/index.ts';
import type { EndpointOptions } from '../embed/openai.ts';

/** Reads process.env; prints all faults and ends when there are any. */
export function configOrExit(): Config {
  try {
    return parseConfig(process.env);
  } catch (error) {
    return fail(error);
  }
}

/** One line for a fault that the operator can mend, without a stack. */
export function fail(error: unknown): never {
  const message = error instanceof Error ? error.message : String(error);
  console.error(error instanceof ConfigError ? message : `xmemo-api: ${message}`);
  process.exit(1);
}

export function makeLog(config: Config): Logger {
  const pretty = process.stdout.isTTY
    ? { transport: { target: 'pino-pretty', options: { ignore: 'pid,hostname', singleLine: true } } }
    : {};
  return pino({
    level: config.LOG_LEVEL,
    redact: ['req.headers.authorization', 'req.headers["x-api-key"]', 'headers.authorization', 'headers["x-api-key"]'],
    ...pretty,
  });
}

/** @throws when the database does not answer: a service that cannot work should not look as if it could */
export async function openDb(config: Config, log: Logger): Promise<Db> {
  if (config.DATABASE_URL === undefined) {
    return openEmbedded(config.DATA_DIR, (err) => {
      log.fatal({ err, event: 'database_stopped' }, 'the embedded database has stopped; it recovers at the next start');
      process.exit(1);
    });
  }
  const db = connectPostgres({
    url: config.DATABASE_URL,
    poolSize: config.POOL_SIZE,
    statementTimeoutMs: config.STATEMENT_TIMEOUT_MS,
    onError: (err) => log.error({ err, event: 'database_connection_lost' }, 'an idle database connection was lost'),
  });
  try {
    await ping(db);
    return db;
  } catch (error) {
    await db.close().catch(() => {});
    throw new Error(`the database of DATABASE_URL does not answer: ${reason(error)}`);
  }
}

/** The server's own words or the socket's code, without the URL, which holds a password. */
function reason(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return 'unknown fault';
  return cause.message || ('code' in cause ? String(cause.code) : cause.name);
}

export const modelDir = (config: Config): string => config.MODEL_DIR ?? path.join(config.DATA_DIR, 'models');

export function openEmbedder(config: Config, log: Logger): Promise<Embedder> {
  return makeEmbedder({
    kind: config.EMBEDDER,
    dimensions: config.HASHING_DIMENSIONS,
    modelDir: modelDir(config),
    endpoint: endpointOf(config),
    log,
  });
}

/** parseConfig has seen to it that the three are there when they are needed. */
export function endpointOf(config: Config): EndpointOptions | undefined {
  const { EMBEDDING_URL: url, EMBEDDING_MODEL: model, EMBEDDING_DIMENSIONS: dimensions } = config;
  if (config.EMBEDDER !== 'openai' || url === undefined || model === undefined || dimensions === undefined)
    return undefined;
  return {
    url,
    key: config.EMBEDDING_KEY,
    model,
    dimensions,
    sendDimensions: config.EMBEDDING_SEND_DIMENSIONS,
    prefixes: { query: config.EMBEDDING_QUERY_PREFIX, passage: config.EMBEDDING_PASSAGE_PREFIX },
    batch: config.EMBEDDING_BATCH,
    limits: { query: config.EMBEDDING_QUERY_TIMEOUT_MS, passage: config.EMBEDDING_TIMEOUT_MS },
    maxTokens: config.EMBEDDING_MAX_TOKENS,
  };
}

/** With the keys of an issuer configured, and no secret beside them, tokens signed here are refused. */
export const signsTokens = ({ JWT_SECRET, JWT_PUBLIC_KEY, JWKS_URL }: Config): boolean =>
  JWT_SECRET !== undefined || (JWT_PUBLIC_KEY === undefined && JWKS_URL === undefined);

/** The secret of the tokens: from the configuration, else made once and kept beside the data. */
export async function jwtSecret(config: Config): Promise<string> {
  if (config.JWT_SECRET !== undefined) return config.JWT_SECRET;
  const file = path.join(config.DATA_DIR, 'jwt-secret');
  if (!existsSync(file)) await makeSecret(config.DATA_DIR, file);
  const secret = (await readFile(file, 'utf8')).trim();
  if (Buffer.byteLength(secret) >= MIN_SECRET_BYTES) return secret;
  throw new Error(`${file} holds no secret of ${MIN_SECRET_BYTES} bytes: delete it, and a new one is made`);
}

/** Linked into place, whole or not at all: a process beside this one must not read half of it, nor find it replaced. */
async function makeSecret(folder: string, file: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const mine = `${file}.${process.pid}`;
  try {
    await writeFile(mine, randomBytes(MIN_SECRET_BYTES).toString('base64url'), { mode: 0o600 });
    await link(mine, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(mine, { force: true });
  }
}

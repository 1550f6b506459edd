/** What the benchmarks share: a service in this process on a free port, a pooled HTTP client, a progress bar. */
import { Agent, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { buildApp } from '../src/app.ts';
import { openDb, openEmbedder } from '../src/bin/start.ts';
import { signToken } from '../src/bin/tokens.ts';
import { type Config, parseConfig } from '../src/config.ts';
import { migrate } from '../src/db/migrate.ts';
import { keepAnalyzed } from '../src/db/tidy.ts';
import type { Deps } from '../src/deps.ts';
import { makeCountTokens } from '../src/recall/tokens.ts';

const SECRET = 'only for benchmarks, never for a service';

export interface Bench {
  readonly base: string;
  readonly deps: Deps;
  token(owner: string): string;
  call(
    owner: string,
    path: string,
    body: unknown,
    method?: 'POST' | 'PATCH',
  ): Promise<{ body: Record<string, unknown>; headers: NodeJS.Dict<string | string[]> }>;
  close(): Promise<void>;
}

export async function startBench(env: Record<string, string | undefined>): Promise<Bench> {
  const config: Config = parseConfig({
    LOG_LEVEL: 'silent',
    RATE_LIMIT_PER_TOKEN: '0',
    RATE_LIMIT_PER_ADDRESS: '0',
    ...env,
  });
  const log = pino({ level: 'silent' });
  const db = await openDb(config, log);
  await migrate(db);
  const embedder = await openEmbedder(config, log);
  if (embedder.degraded) throw new Error(`the benchmark would measure the fallback: ${embedder.degraded}`);
  const deps: Deps = { config, db, embedder, countTokens: makeCountTokens(), now: () => new Date(), log };
  const app = await buildApp(deps, SECRET);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const analyzing = keepAnalyzed(db, log);
  const { port } = app.server.address() as AddressInfo;
  const base = `http://127.0.0.1:${port}/docs/api/memory`;
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const tokens = new Map<string, string>();
  const token = (owner: string): string => {
    const known =
      tokens.get(owner) ?? signToken(SECRET, { owner, scopes: ['memory:read', 'memory:write'], ttlSeconds: 86_400 });
    tokens.set(owner, known);
    return known;
  };
  return {
    base,
    deps,
    token,
    call: (owner, path, body, method = 'POST') => send(agent, method, `${base}${path}`, token(owner), body),
    async close() {
      agent.destroy();
      await app.close();
      await analyzing.stop();
      await embedder.close();
      await db.close();
    },
  };
}

function send(agent: Agent, method: string, url: string, token: string, body: unknown): ReturnType<Bench['call']> {
  const payload = JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(payload),
      authorization: `Bearer ${token}`,
    };
    const req = httpRequest(url, { method, agent, headers }, (res) => {
      const parts: Buffer[] = [];
      res.on('data', (part: Buffer) => parts.push(part));
      res.on('end', () => {
        const text = Buffer.concat(parts).toString('utf8');
        if ((res.statusCode ?? 500) >= 300)
          reject(new Error(`${url} answered ${res.statusCode}: ${text.slice(0, 300)}`));
        else resolve({ body: JSON.parse(text), headers: res.headers });
      });
    });
    req.on('error', reject);
    req.end(payload);
  });
}

/** A bar on a terminal, a line now and then elsewhere. */
export function progress(label: string, total: number): (done: number) => void {
  let shown = -1;
  return (done) => {
    const percent = Math.floor((100 * done) / Math.max(1, total));
    const step = process.stderr.isTTY ? 1 : 20;
    if (Math.floor(percent / step) === shown) return;
    shown = Math.floor(percent / step);
    const bar = '#'.repeat(Math.floor(percent / 4)).padEnd(25, '.');
    process.stderr.write(
      process.stderr.isTTY ? `\r${label} [${bar}] ${percent} %${done >= total ? '\n' : ''}` : `${label} ${percent} %\n`,
    );
  };
}

/** Runs `work` over `items`, `width` at a time, in order of start. */
export async function parallel<T>(
  items: readonly T[],
  width: number,
  work: (item: T, index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: width }, async () => {
      while (next < items.length) {
        const index = next++;
        await work(items[index]!, index);
      }
    }),
  );
}

/** The value below which a share of all lies, one digit behind the point; `-` of none. */
export function quantile(values: readonly number[], share: number): string {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]?.toFixed(1) ?? '-';
}

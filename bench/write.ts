/**
 * npm run bench:write [-- --writes 400] [--clients 1,8] [--page 200]
 *
 * p50, p95 and memories a second of what changes memories, over HTTP: remember (each client an owner of its own, then all clients one), update
 * and forget of those that they share, import in pages. Made-up memories; DATABASE_URL and EMBEDDER as for the service, without the former
 * the embedded database in memory of this process. Figures of one run compare; those of two machines do not.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { type Bench, parallel, quantile, startBench } from './client.ts';
import { aMemory } from './corpus.ts';

const { values: args } = parseArgs({
  options: {
    writes: { type: 'string', default: '400' },
    clients: { type: 'string', default: '1,8' },
    page: { type: 'string', default: '200' },
  },
});
const writes = Number(args.writes);
const page = Number(args.page);
const folder = mkdtempSync(path.join(tmpdir(), 'xmemo-bench-'));
const run = randomUUID();

const bench = await startBench({
  ...process.env,
  DATA_DIR: folder,
  MODEL_DIR: process.env.MODEL_DIR ?? path.join('runs', 'models'),
});
try {
  console.log(`${bench.deps.db.kind}, ${bench.deps.embedder.id}\n`);
  console.log('what                      clients    p50 ms    p95 ms   memories a second');
  for (const clients of args.clients.split(',').map(Number)) await measure(bench, clients);
} finally {
  await bench.close();
  rmSync(folder, { recursive: true, force: true });
}

async function measure({ call }: Bench, clients: number): Promise<void> {
  const shared = `${run}-${clients}`;
  const own = (i: number): string => `${shared}-${i % clients}`;
  const ids: string[] = [];
  await time('remember', clients, async (i) => void (await call(own(i), '/remember', aMemory(i))));
  await time('remember, one owner', clients, async (i) => {
    ids[i] = String((await call(shared, '/remember', aMemory(i))).body.id);
  });
  const again = (i: number) => ({ content: aMemory(writes + i).content });
  await time('update', clients, async (i) => void (await call(shared, `/memories/${ids[i]}`, again(i), 'PATCH')));
  await time(
    `import, ${page} a page`,
    clients,
    async (i) => void (await call(own(i), '/memories/import', { jsonl: lines(i * page, page), limit: page })),
    Math.ceil(writes / page) * clients,
    page,
  );
  await time('forget', clients, async (i) => void (await call(shared, `/memories/${ids[i]}/forget`, {})));
}

/** A page of lines as an export has them. */
function lines(from: number, count: number): string {
  const line = (i: number) => `${JSON.stringify({ id: randomUUID(), memory_type: 'semantic', ...aMemory(i) })}\n`;
  return Array.from({ length: count }, (_, i) => line(from + i)).join('');
}

async function time(
  what: string,
  clients: number,
  work: (i: number) => Promise<void>,
  requests = writes,
  memories = 1,
): Promise<void> {
  const times: number[] = [];
  const begun = performance.now();
  await parallel([...Array(requests).keys()], clients, async (i) => {
    const start = performance.now();
    await work(i);
    times.push(performance.now() - start);
  });
  const rate = (1_000 * requests * memories) / (performance.now() - begun);
  console.log(
    `${what.padEnd(25)} ${String(clients).padStart(7)} ${quantile(times, 0.5).padStart(9)} ${quantile(times, 0.95).padStart(9)} ${rate.toFixed(0).padStart(19)}`,
  );
}

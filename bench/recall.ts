/**
 * npm run bench:recall [-- --sizes 100,1000,20000] [--clients 1,8] [--seconds 5]
 *
 * p50, p95 and requests a second of recall/context, recall and search over HTTP, for owners of several sizes, beside the bare SQL statement
 * of the same search as the floor and the stages as the service tells them in Server-Timing. Made-up memories; DATABASE_URL as for the
 * service, without it the embedded database in memory of this process. Figures of one run compare; those of two machines do not.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ensureModel, ensureSpace } from '../src/db/spaces.ts';
import { sql } from '../src/db/sql.ts';
import { ACTIVE, matches, visible } from '../src/db/visible.ts';
import { findCandidates } from '../src/recall/candidates.ts';
import { constantsOf } from '../src/recall/constants.ts';
import { readQuestion } from '../src/recall/question.ts';
import { type Bench, parallel, progress, quantile, startBench } from './client.ts';
import { aMemory, aQuestion } from './corpus.ts';

const { values: args } = parseArgs({
  options: {
    sizes: { type: 'string', default: '100,1000,20000' },
    clients: { type: 'string', default: '1,8' },
    requests: { type: 'string', default: '200' },
  },
});
const sizes = args.sizes.split(',').map(Number);
const requests = Number(args.requests);
/** Every question is asked once, since the service remembers the vectors of the last ones. */
let questions = 0;
const folder = mkdtempSync(path.join(tmpdir(), 'xmemo-bench-'));

const bench = await startBench({
  ...process.env,
  DATA_DIR: folder,
  MODEL_DIR: process.env.MODEL_DIR ?? path.join('runs', 'models'),
});
try {
  for (const size of sizes) await fill(bench, size);
  await bench.deps.db.admin((tx) => tx.query(sql`analyze`));
  console.log(`${bench.deps.db.kind}, ${bench.deps.embedder.id}\n`);
  console.log('owner    what              clients    p50 ms    p95 ms   a second   embed    db    rank   pack');
  for (const size of sizes) {
    await floor(bench, size);
    for (const clients of args.clients.split(',').map(Number)) {
      for (const route of ['/recall/context', '/recall', '/memories/search']) await load(bench, size, route, clients);
    }
  }
} finally {
  await bench.close();
  rmSync(folder, { recursive: true, force: true });
}

async function fill({ call }: Bench, size: number): Promise<void> {
  const tick = progress(`owner of ${size}`, size);
  let done = 0;
  await parallel(
    Array.from({ length: size }, (_, i) => i),
    8,
    async (i) => {
      await call(`bench-${size}`, '/remember', aMemory(i));
      tick(++done);
    },
  );
}

/** The statement alone: question analysed and embedded beforehand. */
async function floor({ deps }: Bench, size: number): Promise<void> {
  const space = await ensureSpace(deps.db, { kind: 'owner', name: `bench-${size}` });
  const model = await ensureModel(deps.db, deps.embedder);
  const times: number[] = [];
  for (let i = 0; i < requests; i++) {
    const query = aQuestion(i);
    const [embedding] = await deps.embedder.embed([query], 'query');
    const predicate = sql`${visible({}, new Date())} and ${matches(ACTIVE)}`;
    const begun = performance.now();
    await deps.db.transaction({ spaces: [space], readOnly: true }, (tx) =>
      findCandidates(tx, {
        spaces: [space],
        terms: readQuestion(query).terms,
        model,
        vector: embedding!.vector,
        scale: constantsOf(deps.embedder).scale,
        predicate,
      }),
    );
    times.push(performance.now() - begun);
  }
  print(size, 'bare statement', 1, times, undefined, new Map());
}

async function load({ call }: Bench, size: number, route: string, clients: number): Promise<void> {
  const times: number[] = [];
  const stages = new Map<string, number[]>();
  const ask = async (): Promise<void> => {
    const query = aQuestion(questions++);
    const begun = performance.now();
    const { headers } = await call(`bench-${size}`, route, { query });
    times.push(performance.now() - begun);
    for (const [, name, ms] of String(headers['server-timing']).matchAll(/(\w+);dur=([\d.]+)/g)) {
      stages.set(name!, [...(stages.get(name!) ?? []), Number(ms)]);
    }
  };
  for (let i = 0; i < 10; i++) await ask();
  times.length = 0;
  const begun = performance.now();
  await parallel(
    Array.from({ length: requests }, (_, i) => i),
    clients,
    ask,
  );
  print(size, route, clients, times, (1_000 * requests) / (performance.now() - begun), stages);
}

function print(
  size: number,
  what: string,
  clients: number,
  times: number[],
  rate: number | undefined,
  stages: ReadonlyMap<string, number[]>,
): void {
  const columns = ['embed', 'db', 'rank', 'pack'].map((name) => quantile(stages.get(name) ?? [], 0.5).padStart(6));
  console.log(
    `${String(size).padEnd(8)} ${what.padEnd(18)} ${String(clients).padStart(6)} ${quantile(times, 0.5).padStart(9)} ${quantile(times, 0.95).padStart(9)} ${(rate?.toFixed(0) ?? '-').padStart(10)} ${columns.join(' ')}`,
  );
}

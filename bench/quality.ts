/**
 * npm run bench:quality -- --data DIR [--set locomo …] [--out runs] [--store FOLDER] [--budgets 500,1000,1500,3000] [--quick] [--fresh]
 *                          [--compare FOLDER] [--show N] [--report]
 *
 * Stores the evaluation sets of DIR through POST /remember (speaker as author, time as occurred_at, session as session_id, an owner a
 * conversation), asks every question through the API, saves the answers as a run in the folder `--out`, and prints the tables.
 *
 * --store    where the sets are stored: id maps and, without DATABASE_URL, the embedded database (default: --out). Not stored again.
 * --quick    recall alone: no packs, no arms, no strict search
 * --fresh    forget what is stored, and store anew
 * --compare  a folder of an earlier run: prints what this one wins and loses, question by question; --show N names the first of them
 * --report   ask nothing: print the run that `--out` holds
 */
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startBench } from './client.ts';
import { armsTable } from './quality/arms.ts';
import { ask } from './quality/ask.ts';
import { changedQuestions, differenceTable } from './quality/compare.ts';
import { readAdversarial, readMemories, readQueries, SETS } from './quality/data.ts';
import { scoreRun } from './quality/metrics.ts';
import { measureTable, reliabilityTable, type Scored, strictTable } from './quality/report.ts';
import { type Run, readRun, writeRun } from './quality/run.ts';
import { store } from './quality/store.ts';

const { values: args } = parseArgs({
  options: {
    data: { type: 'string' },
    set: { type: 'string', multiple: true, default: Object.keys(SETS) },
    out: { type: 'string', default: 'runs' },
    store: { type: 'string' },
    budgets: { type: 'string', default: '500,1000,1500,3000' },
    quick: { type: 'boolean', default: false },
    fresh: { type: 'boolean', default: false },
    compare: { type: 'string' },
    show: { type: 'string', default: '0' },
    report: { type: 'boolean', default: false },
  },
});
if (!args.data) throw new Error('--data DIR is missing: the folder that holds the evaluation sets');
const data = args.data;
const out = path.resolve(args.out);
const stored = path.resolve(args.store ?? args.out);

const sets: Scored[] = [];
for (const set of args.set) {
  if (args.report && !holdsRun(out, set)) continue;
  const run = args.report ? readRun(path.join(out, set)) : await measure(set);
  sets.push({ set, run, scores: scoreRun(readQueries(path.join(data, set)), run) });
}
if (sets.length === 0) throw new Error(`${out} holds no run of ${args.set.join(', ')}`);
console.log(`${sets[0]!.run.about.model}, 95 % bootstrap intervals\n\n${measureTable(sets)}`);
const arms = armsTable(sets);
if (arms) console.log(`\nAgainst the better arm alone: difference [paired interval] won:lost\n\n${arms}`);
const strict = strictTable(sets);
if (strict) console.log(`\nStrict search\n\n${strict}`);
console.log(`\nScores: results, mean score → share that is evidence, in %\n\n${reliabilityTable(sets)}`);
if (args.compare !== undefined) compare(path.resolve(args.compare), Number(args.show));

async function measure(set: string): Promise<Run> {
  const folder = path.join(data, set);
  const place = path.join(stored, set);
  if (args.fresh) rmSync(place, { recursive: true, force: true });
  mkdirSync(place, { recursive: true });
  const bench = await startBench({
    ...process.env,
    DATA_DIR: path.join(place, 'data'),
    MODEL_DIR: process.env.MODEL_DIR ?? path.join(stored, 'models'),
  });
  try {
    const ids = await store(bench, set, place, readMemories(folder));
    const { packs = false, strict = false } = SETS[set] ?? {};
    const run = await ask(
      bench,
      {
        set,
        queries: readQueries(folder),
        budgets: packs && !args.quick ? args.budgets.split(',').filter(Boolean).map(Number) : [],
        arms: !args.quick,
        strict: strict && !args.quick,
        adversarial: readAdversarial(folder),
      },
      ids,
    );
    writeRun(path.join(out, set), run);
    return run;
  } finally {
    await bench.close();
  }
}

function compare(folder: string, show: number): void {
  const pairs = sets
    .filter(({ set }) => holdsRun(folder, set))
    .map(({ set, scores }) => ({
      set,
      after: scores,
      before: scoreRun(readQueries(path.join(data, set)), readRun(path.join(folder, set))),
    }));
  console.log(`\nAgainst ${folder}: difference [paired interval] won:lost\n\n${differenceTable(pairs)}`);
  if (show > 0) console.log(`\n${pairs.map((pair) => changedQuestions(pair, show)).join('\n')}`);
}

function holdsRun(folder: string, set: string): boolean {
  return existsSync(path.join(folder, set, 'run.json'));
}

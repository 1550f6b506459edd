/**
 * npm run bench:quality -- --data DIR [--set locomo] [--out runs] [--budgets 500,1000,1500,3000] [--fresh]
 *
 * Stores an evaluation set through POST /remember (speaker as author, time as occurred_at, session as session_id, an owner a conversation),
 * asks every question through the API, writes a run file for recall and for recall/context at each budget, and prints the table.
 * DIR/SET holds memories*.jsonl and queries.jsonl. What was stored is kept in the database and recorded in the out folder: a rerun resumes,
 * --fresh begins anew. DATABASE_URL as for the service; without it the embedded database in the out folder.
 */
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { type Bench, parallel, progress, startBench } from './client.ts';
import { type QueryScore, scoreQuery, table } from './metrics.ts';

interface Memory {
  readonly id: string;
  readonly owner: string;
  readonly speaker?: string;
  readonly session?: string;
  readonly time?: string;
  readonly text: string;
  readonly caption?: string;
}

interface Query {
  readonly id: string;
  readonly owner: string;
  readonly question: string;
  readonly time?: string;
  readonly relevant: readonly string[];
  readonly newest?: readonly string[];
  readonly stale?: readonly string[];
}

const { values: args } = parseArgs({
  options: {
    data: { type: 'string' },
    set: { type: 'string', multiple: true },
    out: { type: 'string', default: 'runs' },
    budgets: { type: 'string', default: '500,1000,1500,3000' },
    fresh: { type: 'boolean', default: false },
  },
});
if (!args.data) throw new Error('--data DIR is missing: the folder that holds the evaluation sets');
const sets = args.set ?? ['locomo'];
const budgets = args.budgets.split(',').filter(Boolean).map(Number);
const out = path.resolve(args.out);

/** More results than any measure looks at. */
const DEPTH = 50;

for (const set of sets) await measure(set, path.join(args.data, set));

async function measure(set: string, folder: string): Promise<void> {
  const work = path.join(out, set);
  if (args.fresh) rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  const memories = readdirSync(folder)
    .filter((f) => /^memories(-\d+)?\.jsonl$/.test(f))
    .sort()
    .flatMap((f) => readJsonl<Memory>(path.join(folder, f)));
  const queries = readJsonl<Query>(path.join(folder, 'queries.jsonl'));
  const bench = await startBench({
    ...process.env,
    DATA_DIR: path.join(work, 'data'),
    MODEL_DIR: process.env.MODEL_DIR ?? path.join(out, 'models'),
  });
  try {
    const ids = await store(bench, set, work, memories);
    const scores = await ask(bench, set, work, queries, ids);
    console.log(table(set, scores));
  } finally {
    await bench.close();
  }
}

/** Owners side by side, the memories of one in their order. Returns evaluation id → memory id. */
async function store(
  bench: Bench,
  set: string,
  work: string,
  memories: readonly Memory[],
): Promise<Map<string, string>> {
  const file = path.join(work, 'stored.jsonl');
  const ids = new Map(existsSync(file) ? readJsonl<[string, string]>(file) : []);
  const owners = groupByOwner(memories);
  const tick = progress(`${set}: store`, memories.length);
  const begun = performance.now();
  let stored = 0;
  await parallel([...owners], 4, async ([owner, own]) => {
    for (const memory of own) {
      if (!ids.has(memory.id)) {
        const { body } = await bench.call(`${set}:${owner}`, '/remember', toBody(memory));
        ids.set(memory.id, String(body.id));
        appendFileSync(file, `${JSON.stringify([memory.id, body.id])}\n`);
        stored++;
      }
      tick(ids.size);
    }
  });
  if (stored > 0)
    console.error(
      `${set}: ${stored} memories stored, ${Math.round((1_000 * stored) / (performance.now() - begun))} a second`,
    );
  return ids;
}

function toBody({ speaker, session, time, text, caption }: Memory): Record<string, unknown> {
  return {
    content: caption ? `${text} [shares ${caption}]` : text,
    ...(speaker !== undefined && { author: speaker }),
    ...(session !== undefined && { session_id: session }),
    ...(time !== undefined && { occurred_at: time }),
  };
}

async function ask(
  bench: Bench,
  set: string,
  work: string,
  queries: readonly Query[],
  ids: ReadonlyMap<string, string>,
): Promise<QueryScore[]> {
  const back = new Map([...ids].map(([evaluation, id]) => [id, evaluation]));
  const evaluationIds = (list: unknown): string[] => (list as { id: string }[]).map((item) => back.get(item.id)!);
  const scores: QueryScore[] = [];
  const runs = new Map<string, string[]>(['recall', ...budgets.map((b) => `context-${b}`)].map((name) => [name, []]));
  const tick = progress(`${set}: ask`, queries.length);
  await parallel(queries, 2, async (query, index) => {
    const owner = `${set}:${query.owner}`;
    const request = { query: query.question, ...(query.time !== undefined && { asked_at: query.time }) };
    const recalled = (await bench.call(owner, '/recall', { ...request, limit: DEPTH })).body;
    const ranked = evaluationIds(recalled.results);
    runs.get('recall')!.push(JSON.stringify({ id: query.id, ranked }));
    const packs = new Map<number, string[]>();
    for (const budget of budgets) {
      const pack = (
        await bench.call(owner, '/recall/context', {
          ...request,
          max_items: 50,
          max_tokens: budget,
          prefer_working: false,
        })
      ).body;
      const packed = evaluationIds(pack.items);
      packs.set(budget, packed);
      const { used_tokens } = pack.budget as { used_tokens: number };
      if (used_tokens > budget)
        throw new Error(`${query.id}: the pack of ${used_tokens} tokens is above its budget of ${budget}`);
      runs
        .get(`context-${budget}`)!
        .push(JSON.stringify({ id: query.id, ranked: packed, pack: packed, tokens: used_tokens }));
    }
    scores.push(
      scoreQuery(query, ranked, packs, Number((recalled.coverage as { answerability: number }).answerability)),
    );
    tick(index + 1);
  });
  for (const [name, lines] of runs) writeFileSync(path.join(work, `${name}.jsonl`), `${lines.join('\n')}\n`);
  return scores;
}

function readJsonl<T>(file: string): T[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as T);
}

function groupByOwner(memories: readonly Memory[]): Map<string, Memory[]> {
  const owners = new Map<string, Memory[]>();
  for (const memory of memories) {
    const own = owners.get(memory.owner);
    if (own) own.push(memory);
    else owners.set(memory.owner, [memory]);
  }
  return owners;
}

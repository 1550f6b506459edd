import fc from 'fast-check';
import t from 'tap';
import { startService } from '../helpers/service.ts';

/** Replay a failure: FC_SEED=… npm test. */
const seed = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31);
const numRuns = Number(process.env.FC_RUNS ?? 60);

const NAMES = ['a', 'a%', 'a_', 'ab', 'A', 'a\\', 'ä', 'a/b', "a'b", '100%'];
const PATHS = [
  'projects',
  'projects/xmemo',
  'projects/xmemo2',
  'projects_x',
  'pro%',
  'notes/a_b',
  'notes/a\\b',
  'notes/axb',
];
const TYPES = ['semantic', 'episodic', 'procedural', 'working', 'identity'] as const;

const stored = fc.record({
  bucket: fc.constantFrom(...NAMES),
  scope: fc.option(fc.constantFrom(...NAMES), { nil: null }),
  path: fc.option(fc.constantFrom(...PATHS), { nil: null }),
  memory_type: fc.constantFrom(...TYPES),
  agent_id: fc.option(fc.constantFrom(...NAMES), { nil: null }),
  source: fc.option(fc.constantFrom(...NAMES), { nil: null }),
  metadata: fc.record({ n: fc.constantFrom(1, 10, '1'), tag: fc.constantFrom('x', 'y') }),
  day: fc.integer({ min: 1, max: 9 }),
});
type Stored = typeof stored extends fc.Arbitrary<infer T> ? T : never;

const filter = fc.record(
  {
    bucket: fc.constantFrom(...NAMES, '%'),
    scope: fc.constantFrom(...NAMES, '%'),
    path: fc.constantFrom(...PATHS, '%', 'projects/%', '%a_b', 'notes/a\\%'),
    memory_type: fc.constantFrom(...TYPES, '%', 'auto'),
    agent_id: fc.constantFrom(...NAMES),
    source: fc.constantFrom(...NAMES),
    metadata: fc.constantFrom({ n: 1 }, { n: 10, tag: 'x' }, { n: '1' }, {}),
    since: fc.constantFrom('2024-01-03', '2024-01-05'),
    until: fc.constantFrom('2024-01-04', '2024-01-08'),
  },
  { requiredKeys: [] },
);
type Filter = Partial<
  Record<'bucket' | 'scope' | 'path' | 'memory_type' | 'agent_id' | 'source' | 'since' | 'until', string>
> & { metadata?: object };

/** What each filter means, in plain JavaScript. `%` as a whole is a wildcard for the named fields only. */
function matches(m: Stored, f: Filter): boolean {
  const same = (asked: string | undefined, has: string | null, wildcards: string[] = ['%']) =>
    asked === undefined || wildcards.includes(asked) || asked === has;
  const at = `2024-01-0${m.day}`;
  return (
    same(f.bucket, m.bucket) &&
    same(f.scope, m.scope) &&
    (f.path === undefined || f.path === '%' || (m.path !== null && like(f.path, m.path))) &&
    same(f.memory_type, m.memory_type, ['%', 'auto']) &&
    same(f.agent_id, m.agent_id) &&
    same(f.source, m.source) &&
    Object.entries(f.metadata ?? {}).every(([k, v]) => m.metadata[k as 'n' | 'tag'] === v) &&
    (f.since === undefined || at >= f.since) &&
    (f.until === undefined || at < f.until)
  );
}

function like(pattern: string, text: string): boolean {
  const parts = pattern.split('%').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's').test(text);
}

t.test('a filtered read is the unfiltered read, then filtered, on every recall route', async (t) => {
  const service = await startService();
  t.teardown(() => service.close());
  t.comment(`seed ${seed}`);
  const rows = fc.sample(stored, { numRuns: 45, seed });
  const ids = new Map<string, Stored>();
  for (const [i, row] of rows.entries()) {
    const { day, ...body } = row;
    const reply = await service.call('POST', '/remember', {
      body: { ...body, content: `common words and number ${i}`, occurred_at: `2024-01-0${day}T12:00:00Z` },
    });
    t.equal(reply.status, 201, reply.text);
    ids.set(reply.body.id, row);
  }
  await fc.assert(
    fc.asyncProperty(filter, fc.integer({ min: 1, max: 50 }), async (f, limit) => {
      const expected = [...ids].filter(([, row]) => matches(row, f)).map(([id]) => id);
      const body = { query: 'common words', ...f };
      const recalled = await service.call('POST', '/recall', { body: { ...body, limit } });
      if (recalled.status !== 200) throw new Error(recalled.text);
      const found: string[] = recalled.body.results.map((r: { id: string }) => r.id);
      if (found.length !== Math.min(limit, expected.length))
        throw new Error(`${found.length} rows where ${expected.length} match, limit ${limit}`);
      if (found.some((id) => !expected.includes(id))) throw new Error('a row that the filter excludes');
      const pack = await service.call('POST', '/recall/context', {
        body: { ...body, max_items: limit, max_tokens: 12_000 },
      });
      const packed = [...pack.body.items, ...pack.body.budget.dropped].map((i: { id: string }) => i.id);
      if (new Set(packed).size !== expected.length || packed.some((id) => !expected.includes(id)))
        throw new Error('the pack and its dropped list are not the matching rows');
      const query = { query: 'common words', limit, ...f };
      const searched = await service.call('GET', '/memories/search', { query });
      if (searched.status !== 200) throw new Error(searched.text);
      if (searched.body.results.some((r: { id: string }) => !expected.includes(r.id)))
        throw new Error('search returns an excluded row');
    }),
    { seed, numRuns },
  );
  t.pass(`${numRuns} filters`);
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { changedQuestions, differenceTable } from '../../bench/quality/compare.ts';
import type { Query } from '../../bench/quality/data.ts';
import { scoreRun } from '../../bench/quality/metrics.ts';
import { reliabilityTable, strictTable } from '../../bench/quality/report.ts';
import { type Run, readRun, writeRun } from '../../bench/quality/run.ts';
import { calibrate } from '../../src/recall/calibrate.ts';

const query = (id: string, more: Partial<Query> = {}): Query => ({
  id,
  owner: 'o',
  question: 'which?',
  category: 'c',
  relevant: ['a', 'b'],
  ...more,
});
const QUERIES = [query('q1'), query('q2', { relevant: ['new', 'old'], newest: ['new'], stale: ['old'] })];

function aRun(ranked: readonly (readonly string[])[], strict = 0.5): Run {
  const answers = QUERIES.map(({ id }, i) => ({ id, answerability: 0.4 + 0.3 * i, answered: i === 1 }));
  return {
    about: { model: 'm', strict },
    recall: ranked.map((ids, i) => ({
      id: QUERIES[i]!.id,
      ranked: ids,
      scores: ids.map(() => 0.95),
      answerability: 1,
    })),
    packs: new Map([[500, [{ id: 'q1', ranked: ['b'], pack: ['b'], tokens: 9 }]]]),
    arms: [{ id: 'q1', words: [1, null], vectors: [7, 30] }],
    own: answers,
    elsewhere: answers,
    adversarial: [],
  };
}

const RUN = aRun([
  ['x', 'b', 'y', 'z', 'u', 'a'],
  ['old', 'new'],
]);

t.test('the measures of a question are those of its definition', async (t) => {
  const [first, second] = scoreRun(QUERIES, RUN);
  t.same(first!.measures, { 'R@5': 0.5, 'R@10': 1, 'R@20': 1, MRR: 0.5, 'in 500': 0.5 });
  t.same(first!.words, { 'R@5': 0.5, 'R@10': 0.5, 'R@20': 0.5, MRR: 1 });
  t.match(first!.vectors, { 'R@5': 0, 'R@10': 0.5, MRR: 1 / 7 });
  t.equal(second!.measures['newest first'], 0, 'the replaced one stands first');
  t.equal(second!.words, undefined);
  t.throws(() => scoreRun([query('q3')], RUN), /lacks the question q3/);
});

t.test('a saved run is the same run, and replaces the one before it', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'xmemo-run-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  writeRun(folder, { ...RUN, packs: new Map([[9_000, []]]) });
  writeRun(folder, RUN);
  t.same(readRun(folder), RUN);
});

t.test('two runs are compared question by question', async (t) => {
  const before = scoreRun(QUERIES, RUN);
  const after = scoreRun(
    QUERIES,
    aRun([
      ['x', 'b'],
      ['new', 'old'],
    ]),
  );
  const same = differenceTable([{ set: 's', before, after: before }]);
  t.match(same, '+0.0 [+0.0, +0.0] 0:0');
  t.notMatch(same, '*');
  const row = differenceTable([{ set: 's', before, after }])
    .split('\n')
    .at(-1)!;
  t.match(row, /-25\.0 \[-50\.0, \+0\.0\] 0:1/, 'R@10 of q1');
  t.match(row, '+100.0* [+100.0, +100.0] 1:0', 'newest first of q2');
  t.match(changedQuestions({ set: 's', before, after }, 1), 's, R@10 lost (1): q1');
});

t.test('strict search and scores are judged by their own words', async (t) => {
  const sets = [{ set: 's', run: RUN, scores: scoreRun(QUERIES, RUN) }];
  const rows = strictTable(sets).split('\n');
  t.match(
    rows.find((row) => row.startsWith('| 0.40')),
    /\| +100\.0 \| +0\.0 \|/,
  );
  t.match(
    rows.find((row) => row.startsWith('| 0.50')),
    /\| +50\.0 \| +50\.0 \|/,
  );
  t.match(rows.at(-1), /search \(0\.5\) \| +50\.0 \| +50\.0 \|/);
  t.match(reliabilityTable(sets), /8: 95 → 50 \| +45\.0 \|/, 'of eight results at 0.95 four are evidence');
});

t.test('a score lies in 0..1, falls with the rank, and tells one that stands alone from one of many alike', (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: -1, max: 6, noNaN: true }), { maxLength: 120 }),
      fc.boolean(),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (scores, late, answerability) => {
        const fused = scores.sort((a, b) => b - a);
        const relevance = calibrate(fused, late, answerability);
        return (
          relevance.length === fused.length &&
          relevance.every((value, i) => value >= 0 && value <= 1 && value <= (relevance[i - 1] ?? 1))
        );
      },
    ),
  );
  const others = Array<number>(40).fill(1);
  for (const late of [true, false]) {
    const [alone] = calibrate([2.5, ...others], late, 1);
    const [oneOfTwo] = calibrate([2.5, 2.5, ...others], late, 1);
    const [oneOfTen] = calibrate([...Array<number>(10).fill(2.5), ...others], late, 1);
    t.ok(alone! > 0.9 && alone! > oneOfTwo! && oneOfTwo! > 2 * oneOfTen!, `${alone} ${oneOfTwo} ${oneOfTen}`);
  }
  t.same(calibrate([3, 1.5], true, 0.8), [0.8, 0.2], 'of a few the answerability is shared by their scores');
  t.same(calibrate([], true, 0.5), []);
  t.end();
});

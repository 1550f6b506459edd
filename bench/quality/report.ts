/** The tables of one run: measures with intervals, what strict search keeps and refuses, and what a score is worth. */
import { FRESH, measuresIn, type QueryScore, rowsOf, valuesOf } from './metrics.ts';
import type { Run, Strict } from './run.ts';
import { interval, mean, points } from './statistics.ts';
import { table } from './table.ts';

/** What was asked of a set, and how well it was answered. */
export interface Scored {
  readonly set: string;
  readonly run: Run;
  readonly scores: readonly QueryScore[];
}

/** One row a set, means with 95 % bootstrap intervals; beside them R@5 / R@10 / MRR of each arm alone. */
export function measureTable(sets: readonly Scored[]): string {
  const rows = sets.flatMap(({ set, scores }) => [...rowsOf(set, scores)]);
  const measures = measuresIn(rows.map(([, scores]) => scores));
  const arms = sets.some(({ run }) => run.arms.length > 0);
  return table(
    ['set', 'questions', ...measures, ...(arms ? ['words alone', 'vectors alone'] : [])],
    rows.map(([name, scores]) => [
      name,
      String(scores.length),
      ...measures.map((measure) => cell(measure, valuesOf(scores, measure))),
      ...(arms ? [alone(scores.map((s) => s.words)), alone(scores.map((s) => s.vectors))] : []),
    ]),
  );
}

function cell(measure: string, values: readonly number[]): string {
  if (values.length === 0) return '';
  if (measure === FRESH) return `${values.filter(Boolean).length} of ${values.length}`;
  const [low, high] = interval(values);
  return `${points(mean(values))} [${points(low)}, ${points(high)}]`;
}

/** Empty where the arms were not asked for. */
function alone(measures: readonly QueryScore['words'][]): string {
  const known = measures.filter((m) => m !== undefined);
  return known.length === 0
    ? ''
    : ['R@5', 'R@10', 'MRR'].map((name) => points(mean(known.map((m) => m[name]!)))).join(' / ');
}

const THRESHOLDS = Array.from({ length: 19 }, (_, i) => (i + 1) / 20);

/**
 * Risk and coverage: for each threshold the share kept of the questions whose evidence is among the first five, and the share refused of
 * those that have no answer. The service's own threshold has a row, and what strict search itself did.
 */
export function strictTable(sets: readonly Scored[]): string {
  const judged = sets.filter(({ run }) => run.own.length > 0);
  if (judged.length === 0) return '';
  const own = judged[0]!.run.about.strict;
  const columns = judged.flatMap(strictColumns);
  const row = (name: string, keeps: (answer: Strict) => boolean): string[] => [
    name,
    ...columns.map(({ answers, kept }) => points(mean(answers.map((answer) => Number(keeps(answer) === kept))))),
  ];
  const thresholds = [...new Set([...THRESHOLDS, own])].sort((a, b) => a - b);
  return table(
    ['threshold', ...columns.map(({ title }) => title)],
    [
      ...thresholds.map((t) => row(t.toFixed(2), ({ answerability }) => answerability >= t)),
      row(`search (${own})`, ({ answered }) => answered),
    ],
  );
}

/** `kept`: whether an answer that strict search gives counts, or one that it refuses. */
function strictColumns({ set, run, scores }: Scored): { title: string; answers: Strict[]; kept: boolean }[] {
  const found = new Set(scores.filter(({ measures }) => measures['R@5']! > 0).map(({ query }) => query.id));
  return [
    { title: `${set}: kept`, answers: run.own.filter(({ id }) => found.has(id)), kept: true },
    { title: `${set}: refused, another owner`, answers: [...run.elsewhere], kept: false },
    { title: `${set}: refused, unanswerable`, answers: [...run.adversarial], kept: false },
  ].filter(({ answers }) => answers.length > 0);
}

const BINS = 10;
/** As many results as people look at; the tail is long, low and right to be so. */
const JUDGED = 10;

/** Reliability of `score` over the first ten results: results, mean score and share that is evidence in each tenth, and the expected calibration error. */
export function reliabilityTable(sets: readonly Scored[]): string {
  const bin = (i: number): string => `${(i / BINS).toFixed(1)}–${((i + 1) / BINS).toFixed(1)}`;
  return table(
    ['set', 'results', ...Array.from({ length: BINS }, (_, i) => bin(i)), 'error'],
    sets.map(({ set, run, scores }) => {
      const results = resultsOf(run, scores);
      const bins = Array.from({ length: BINS }, (_, i) => results.filter(({ score }) => binOf(score) === i));
      const error = bins.map((own) => (own.length / results.length) * Math.abs(evidence(own) - certainty(own)));
      return [
        set,
        String(results.length),
        ...bins.map((own) =>
          own.length === 0 ? '' : `${own.length}: ${percent(certainty(own))} → ${percent(evidence(own))}`,
        ),
        points(error.reduce((sum, x) => sum + x, 0)),
      ];
    }),
  );
}

interface Judged {
  readonly score: number;
  readonly isEvidence: boolean;
}

function resultsOf({ recall }: Run, scores: readonly QueryScore[]): Judged[] {
  const relevant = new Map(scores.map(({ query }) => [query.id, new Set(query.relevant)]));
  return recall.flatMap(({ id, ranked, scores: own }) =>
    ranked.slice(0, JUDGED).map((memory, i) => ({ score: own[i]!, isEvidence: relevant.get(id)!.has(memory) })),
  );
}

const binOf = (score: number): number => Math.min(BINS - 1, Math.floor(score * BINS));
const certainty = (results: readonly Judged[]): number => mean(results.map(({ score }) => score));
const evidence = (results: readonly Judged[]): number => mean(results.map(({ isEvidence }) => Number(isEvidence)));
const percent = (x: number): string => (100 * x).toFixed(0);

/** Two runs question by question: what the later one wins and loses. */
import { measuresIn, type QueryScore, rowsOf } from './metrics.ts';
import { interval, mean, signed } from './statistics.ts';
import { table } from './table.ts';

export interface Pair {
  readonly set: string;
  readonly before: readonly QueryScore[];
  readonly after: readonly QueryScore[];
}

/**
 * One row a set: the mean difference with its paired 95 % bootstrap interval, and how many questions were won and lost. A star marks a
 * difference whose interval does not hold 0.
 */
export function differenceTable(pairs: readonly Pair[]): string {
  const rows = pairs.flatMap(({ set, before, after }) =>
    [...rowsOf(set, after)].map(([name, scores]) => [name, scores, byId(before)] as const),
  );
  const measures = measuresIn(rows.map(([, scores]) => scores));
  return table(
    ['difference', ...measures],
    rows.map(([name, scores, before]) => [
      name,
      ...measures.map((measure) => differenceCell(changes(scores, before, measure).map(({ by }) => by))),
    ]),
  );
}

/** Of one difference a question; empty without questions. */
export function differenceCell(values: readonly number[]): string {
  if (values.length === 0) return '';
  const [low, high] = interval(values);
  const star = low > 0 || high < 0 ? '*' : '';
  const won = values.filter((x) => x > 0).length;
  const lost = values.filter((x) => x < 0).length;
  return `${signed(mean(values))}${star} [${signed(low)}, ${signed(high)}] ${won}:${lost}`;
}

/** The ids of at most `most` questions that were lost and that were won, the largest change first. */
export function changedQuestions({ set, before, after }: Pair, most: number): string {
  const lines = ['R@10', 'MRR'].flatMap((measure) => {
    const changed = changes(after, byId(before), measure).sort((a, b) => Math.abs(b.by) - Math.abs(a.by));
    const list = (name: string, some: readonly Change[]): string =>
      `${set}, ${measure} ${name} (${some.length}): ${some
        .slice(0, most)
        .map(({ id }) => id)
        .join(' ')}`;
    return [
      list(
        'lost',
        changed.filter(({ by }) => by < 0),
      ),
      list(
        'won',
        changed.filter(({ by }) => by > 0),
      ),
    ];
  });
  return lines.join('\n');
}

interface Change {
  readonly id: string;
  readonly by: number;
}

const byId = (scores: readonly QueryScore[]): Map<string, QueryScore> =>
  new Map(scores.map((score) => [score.query.id, score]));

/** Of the questions that have the measure in both runs. */
function changes(after: readonly QueryScore[], before: ReadonlyMap<string, QueryScore>, measure: string): Change[] {
  return after.flatMap(({ query, measures }) => {
    const now = measures[measure];
    const then = before.get(query.id)?.measures[measure];
    return now === undefined || then === undefined ? [] : [{ id: query.id, by: now - then }];
  });
}

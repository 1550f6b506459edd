/** The ranking against its own arms: fused, it should be at least as good as the better of them. */
import { differenceCell } from './compare.ts';
import { type QueryScore, rowsOf } from './metrics.ts';
import type { Scored } from './report.ts';
import { mean } from './statistics.ts';
import { table } from './table.ts';

const MEASURES = ['R@5', 'R@10', 'MRR'];

/** For each measure which arm is the better one, and the paired difference to it. Empty when no set was asked for its arms. */
export function armsTable(sets: readonly Scored[]): string {
  const judged = sets.filter(({ run }) => run.arms.length > 0);
  if (judged.length === 0) return '';
  return table(
    ['set', ...MEASURES],
    judged.flatMap(({ set, scores }) =>
      [...rowsOf(set, scores)].map(([name, rows]) => [name, ...MEASURES.map((measure) => against(rows, measure))]),
    ),
  );
}

function against(scores: readonly QueryScore[], measure: string): string {
  const [words, vectors] = (['words', 'vectors'] as const).map((arm) => scores.map((score) => score[arm]![measure]!));
  const [name, better] =
    mean(words!) >= mean(vectors!) ? (['words', words!] as const) : (['vectors', vectors!] as const);
  return `${name} ${differenceCell(scores.map((score, i) => score.measures[measure]! - better[i]!))}`;
}

/** Recall@k, MRR and evidence in the pack, with bootstrap intervals: the measures of a retrieval run. */

export interface QueryScore {
  readonly id: string;
  readonly measures: Readonly<Record<string, number>>;
  /** 1 when the newest of a changed fact stands above what it replaced; undefined when nothing changed. */
  readonly fresh: number | undefined;
  readonly answerability: number;
}

interface Judged {
  readonly id: string;
  readonly relevant: readonly string[];
  readonly newest?: readonly string[];
  readonly stale?: readonly string[];
}

export function scoreQuery(
  query: Judged,
  ranked: readonly string[],
  packs: ReadonlyMap<number, readonly string[]>,
  answerability: number,
): QueryScore {
  const relevant = new Set(query.relevant);
  const share = (ids: readonly string[]): number => ids.filter((id) => relevant.has(id)).length / relevant.size;
  const first = ranked.findIndex((id) => relevant.has(id));
  const best = (ids: readonly string[]): number =>
    Math.min(...ids.map((id) => ranked.indexOf(id)).map((at) => (at < 0 ? Number.POSITIVE_INFINITY : at)));
  return {
    id: query.id,
    measures: {
      'R@5': share(ranked.slice(0, 5)),
      'R@10': share(ranked.slice(0, 10)),
      'R@20': share(ranked.slice(0, 20)),
      MRR: first < 0 ? 0 : 1 / (first + 1),
      ...Object.fromEntries([...packs].map(([budget, ids]) => [`in ${budget}`, share(ids)])),
    },
    fresh: query.stale?.length ? Number(best(query.newest ?? query.relevant) < best(query.stale)) : undefined,
    answerability,
  };
}

/** One line a measure: mean over the queries and its 95 % bootstrap interval. */
export function table(set: string, scores: readonly QueryScore[]): string {
  const names = Object.keys(scores[0]?.measures ?? {});
  const lines = names.map((name) => {
    const values = scores.map((score) => score.measures[name]!);
    const [low, high] = bootstrap(values);
    return `  ${name.padEnd(8)} ${percent(mean(values))}  [${percent(low)}, ${percent(high)}]`;
  });
  const changed = scores.filter((score) => score.fresh !== undefined);
  const fresh = changed.filter((score) => score.fresh === 1).length;
  return [
    `${set}: ${scores.length} queries`,
    ...lines,
    ...(changed.length > 0 ? [`  newest before stale: ${fresh} of ${changed.length}`] : []),
  ].join('\n');
}

const mean = (values: readonly number[]): number => values.reduce((sum, x) => sum + x, 0) / Math.max(1, values.length);
const percent = (x: number): string => (100 * x).toFixed(1).padStart(5);

const ROUNDS = 1_000;

/** Seeded, so that the same run prints the same interval. */
function bootstrap(values: readonly number[]): [number, number] {
  const random = mulberry(7);
  const means = Array.from({ length: ROUNDS }, () =>
    mean(values.map(() => values[Math.floor(random() * values.length)]!)),
  ).sort((a, b) => a - b);
  return [means[Math.floor(ROUNDS * 0.025)]!, means[Math.floor(ROUNDS * 0.975)]!];
}

/** A small seeded generator (mulberry32): good enough for resampling. */
function mulberry(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let x = Math.imul(state ^ (state >>> 15), 1 | state);
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x;
    return ((x ^ (x >>> 14)) >>> 0) / 4_294_967_296;
  };
}

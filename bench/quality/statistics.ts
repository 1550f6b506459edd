/** Means and their uncertainty. */

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, x) => sum + x, 0) / Math.max(1, values.length);

const ROUNDS = 1_000;

/** The 95 % interval of the mean by resampling the questions. Seeded, so that the same run prints the same interval. */
export function interval(values: readonly number[]): [low: number, high: number] {
  const random = mulberry(7);
  const means = Array.from({ length: ROUNDS }, () => {
    let sum = 0;
    for (let i = 0; i < values.length; i++) sum += values[Math.floor(random() * values.length)]!;
    return sum / Math.max(1, values.length);
  }).sort((a, b) => a - b);
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

/** In points of 100. */
export const points = (x: number): string => (100 * x).toFixed(1);

/** With its sign, so that a gain and a loss are told apart at a glance. */
export const signed = (x: number): string => `${x < 0 ? '' : '+'}${points(x)}`;

/**
 * What users see as `score`: how likely a result is what was asked for, 0..1, falling with the rank. A logistic fit of "is evidence" on two
 * things: the fused score, and how far it stands out from the background, the mean of the candidates from the 11th on. Fitted on the development
 * sets by writing; of the results at 0.8 about 80 % are evidence there (docs/retrieval.md has the table).
 */
import type { Writing } from './question.ts';

/** Fused scores lie around this. */
const MIDDLE = 2;
const BACKGROUND_FROM = 10;
const BACKGROUND_TO = 30;
/** With fewer candidates there is no background: a small store. */
const ENOUGH = 20;

interface Fit {
  readonly score: number;
  readonly above: number;
  readonly constant: number;
}

const FITS: Readonly<Record<Writing, Fit>> = {
  english: { score: 0.94, above: 2.32, constant: -4 },
  glossed: { score: 0.68, above: 3.77, constant: -5.19 },
  other: { score: 5.33, above: 5.23, constant: -0.57 },
  hangul: { score: 1.47, above: 7.94, constant: -3.97 },
  kana: { score: 0.75, above: 4.85, constant: -5.1 },
  han: { score: 1.89, above: 2.75, constant: -4.36 },
};

/**
 * `fused` in rank order, best first. In a small store the idf of every word is small and fused scores say little: there the answerability of the
 * question stands for its best result, and the others fall with their share of its score.
 */
export function calibrate(fused: readonly number[], writing: Writing, answerability: number): number[] {
  const best = fused[0] ?? 0;
  if (fused.length < ENOUGH)
    return fused.map((score) => (best <= 0 ? 0 : answerability * Math.min(1, Math.max(0, score / best)) ** 2));
  const background = mean(fused.slice(BACKGROUND_FROM, BACKGROUND_TO));
  const fit = FITS[writing];
  return fused.map((score) => sigmoid(fit.score * (score - MIDDLE) + fit.above * (score - background) + fit.constant));
}

const mean = (values: readonly number[]): number => values.reduce((sum, x) => sum + x, 0) / Math.max(1, values.length);

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

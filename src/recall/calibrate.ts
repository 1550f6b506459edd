/** What users see as `score`: a monotone map of the fused score into 0..1, fitted so that about 80 % of the results at 0.8 are relevant. */

/** Logistic fit of "is evidence" on the fused score over the development sets; docs/retrieval.md has the reliability table. */
const SLOPE = 3.2;
const MIDDLE = 1.9;

export function calibrate(fused: number): number {
  return 1 / (1 + Math.exp(-SLOPE * (fused - MIDDLE)));
}

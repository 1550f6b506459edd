/**
 * What users see as `score`: how likely a result is what was asked for, 0..1, falling with the rank. A logistic fit of "is evidence" on two
 * things: the fused score, and that of its rivals, the soft maximum of all others. One that stands alone at the top is likely meant, one of
 * ten alike hardly. Fitted on all development sets at once: of the results at 0.8 about 80 % are evidence there (docs/retrieval.md).
 */

const FIT = { score: 5.65, rivals: -5.89, constant: 1.92 } as const;

/** Without token vectors scores lie closer together. Fitted with hashed words on locomo and adr. */
const FIT_WITHOUT_LATE = { score: 9.8, rivals: -10.2, constant: 5.03 } as const;

/** ln(Σ exp(sharpness · score)) / sharpness: 3 and 6 are as good. */
const SHARPNESS = 4;
/** Rivals that are looked at: those further below add nothing. */
const RIVALS = 30;

/** With fewer candidates the idf of every word is small, and fused scores say little: a small store. */
const ENOUGH = 20;

/**
 * `fused` in rank order, best first; `late`: late interaction is in it. In a small store the answerability of the question stands for its best
 * result, and the others fall with their share of its score.
 */
export function calibrate(fused: readonly number[], late: boolean, answerability: number): number[] {
  const best = fused[0] ?? 0;
  if (fused.length < ENOUGH)
    return fused.map((score) => (best <= 0 ? 0 : answerability * Math.min(1, Math.max(0, score / best)) ** 2));
  const fit = late ? FIT : FIT_WITHOUT_LATE;
  // relative to the best, so that no power is too large
  const powers = fused.slice(0, RIVALS).map((score) => Math.exp(SHARPNESS * (score - best)));
  const all = powers.reduce((sum, power) => sum + power, 0);
  return fused.map((score, i) => {
    const rivals = best + Math.log(Math.max(Number.MIN_VALUE, all - (powers[i] ?? 0))) / SHARPNESS;
    return sigmoid(fit.score * score + fit.rivals * rivals + fit.constant);
  });
}

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

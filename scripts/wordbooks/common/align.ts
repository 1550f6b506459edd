/**
 * Which English word stands for which word in translated sentences: IBM Model 1 (Brown et al. 1993) in both directions, by expectation
 * maximisation. A pair counts as much as both directions believe in it, which keeps out what merely stands nearby.
 */

/** A text and its English original. */
export type Pair = readonly [foreign: string, english: string];
/** The same as words. */
export type Sentence = readonly [foreign: readonly string[], english: readonly string[]];

export interface Aligned {
  readonly english: string;
  /** Product of both probabilities, 0 to 1. */
  readonly strength: number;
  /** Times that the foreign word occurs. */
  readonly count: number;
}

/** Less probable pairs are dropped on the way. */
const LEAST_PROBABLE = 0.001;
/** Words of a sentence and its translation; longer ones say little of single words. */
const LONGEST = 50;

/** Foreign word → its English partner. The more rounds, the more is believed. */
export function align(all: readonly Sentence[], rounds: number): Map<string, Aligned> {
  const sentences = all.filter(([foreign, english]) => foreign.length + english.length <= LONGEST);
  const there = probabilities(sentences, rounds);
  const back = probabilities(
    sentences.map(([foreign, english]) => [english, foreign]),
    rounds,
  );
  const counts = new Map<string, number>();
  for (const [foreign] of sentences) for (const word of foreign) counts.set(word, (counts.get(word) ?? 0) + 1);
  const aligned = new Map<string, Aligned>();
  for (const [word, options] of there)
    for (const [english, forth] of options) {
      const strength = forth * (back.get(english)?.get(word) ?? 0);
      if (strength > (aligned.get(word)?.strength ?? 0))
        aligned.set(word, { english, strength, count: counts.get(word)! });
    }
  return aligned;
}

/** P(second | first) for each word of the first side. */
function probabilities(sentences: readonly Sentence[], rounds: number): Map<string, Map<string, number>> {
  let table: Map<string, Map<string, number>> | undefined;
  for (let round = 0; round < rounds; round++) {
    const counted = new Map<string, Map<string, number>>();
    for (const [first, second] of sentences)
      for (const word of second) {
        const shares = first.map((other) => (table === undefined ? 1 : (table.get(other)?.get(word) ?? 0)));
        const sum = shares.reduce((a, b) => a + b, 0);
        if (sum === 0) continue;
        first.forEach((other, at) => {
          const row = counted.get(other) ?? new Map<string, number>();
          if (row.size === 0) counted.set(other, row);
          row.set(word, (row.get(word) ?? 0) + shares[at]! / sum);
        });
      }
    for (const row of counted.values()) {
      const sum = [...row.values()].reduce((a, b) => a + b, 0);
      for (const [word, count] of row) {
        if (count / sum < LEAST_PROBABLE) row.delete(word);
        else row.set(word, count / sum);
      }
    }
    table = counted;
  }
  return table!;
}

/**
 * Which English word stands for which word in translated strings of software: IBM Model 1 (Brown et al. 1993) in both directions. A pair counts
 * only where each is the likeliest partner of the other, which keeps out what merely stands nearby.
 */

/** A string and its English original. */
export type Pair = readonly [foreign: string, english: string];

export interface Aligned {
  readonly english: string;
  /** Product of both probabilities, 0 to 1. */
  readonly strength: number;
}

const ITERATIONS = 6;
/** Long texts align badly. */
const LONGEST_STRING = 25;
/** Strings a word has to stand in. */
const FEWEST_STRINGS = 3;

/** Word → its English partner. */
export function alignedWords(pairs: readonly Pair[]): Map<string, Aligned> {
  const sides = pairs
    .map(([foreign, english]) => [words(foreign), words(english)] as const)
    .filter(([foreign, english]) => Math.max(foreign.length, english.length) <= LONGEST_STRING);
  const there = modelOne(sides);
  const back = modelOne(sides.map(([foreign, english]) => [english, foreign]));
  const strings = countOf(sides.map(([foreign]) => foreign));
  const aligned = new Map<string, Aligned>();
  for (const [word, row] of there) {
    if ((strings.get(word) ?? 0) < FEWEST_STRINGS) continue;
    const english = likeliest(row);
    if (likeliest(back.get(english)!) !== word && back.get(english)!.get(word)! < 0.1) continue;
    aligned.set(word, { english, strength: row.get(english)! * back.get(english)!.get(word)! });
  }
  return aligned;
}

/** Placeholders, code and links are no words. */
function words(text: string): string[] {
  const plain = text
    .normalize('NFC')
    .replace(/\{[^}]*\}|`[^`]*`|\([^)]*:[^)]*\)|https?:\S+|&&/g, (match) => (match === '&&' ? '' : ' '))
    .toLowerCase();
  return [...new Set(plain.match(/\p{L}{2,}/gu) ?? [])];
}

function countOf(lists: readonly (readonly string[])[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const list of lists) for (const word of list) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

/** p(second | first) for each word of the first side. */
function modelOne(
  sides: readonly (readonly [readonly string[], readonly string[]])[],
): Map<string, Map<string, number>> {
  let probability: Map<string, Map<string, number>> | undefined;
  for (let iteration = 0; iteration < ITERATIONS; iteration++) {
    const counts = new Map<string, Map<string, number>>();
    for (const [first, second] of sides)
      for (const word of second) {
        const shares = first.map((other) => probability?.get(other)?.get(word) ?? (probability === undefined ? 1 : 0));
        const all = shares.reduce((sum, share) => sum + share, 0);
        first.forEach((other, at) => {
          const row = counts.get(other) ?? new Map<string, number>();
          if (all > 0) row.set(word, (row.get(word) ?? 0) + shares[at]! / all);
          counts.set(other, row);
        });
      }
    for (const row of counts.values()) {
      const all = [...row.values()].reduce((sum, count) => sum + count, 0);
      for (const [word, count] of row) row.set(word, count / all);
    }
    probability = counts;
  }
  return probability!;
}

function likeliest(row: ReadonlyMap<string, number>): string {
  return [...row].reduce((best, next) => (next[1] > best[1] ? next : best))[0];
}

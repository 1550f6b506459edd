/**
 * Word pairs from sentence pairs: IBM model 1 (Brown et al. 1993) in both directions by expectation maximisation; a pair counts
 * as much as both directions believe in it.
 */
import type { Pair } from './pairs-ko.ts';

const ROUNDS = 5;
/** Sentences longer than this say little of single words. */
const LONGEST = 25;

const STOP = new Set(
  'a an the of to in on at by for with from as is are was were be been being am do does did has have had will would shall should can could may might must this that these those it its they their them he she his her you your we our us i my me and or but if then than so such there here when while which what who whose whom into onto out up over under s t re ve ll d via per be also only just any some all each other another more most very too use used using'.split(
    ' ',
  ),
);

/** Particles and the endings of 하다, 되다, 이다, longest first: what may follow a noun in its word. */
export const TAILS =
  '하시겠습니까 되었습니다 하였습니다 했습니다 됐습니다 하십시오 합니다 됩니다 입니다 습니다 하려면 되려면 하면서 하세요 하거나 되거나 하여야 에서는 에서의 으로부터 로부터 에게서 이라는 이라고 하도록 되도록 하지만 하기 되기 하는 되는 하고 되고 하여 되어 되며 하며 하면 되면 하지 되지 했던 된다 한다 하게 할지 할 될 한 된 해 돼 함 됨 에서 에게 에는 에도 으로 까지 부터 이나 라는 라고 마다 보다 처럼 이며 들은 들이 들을 들의 들 은 는 이 가 을 를 의 에 로 와 과 도 만 나 인'
    .split(' ')
    .sort((a, b) => b.length - a.length);

/** Korean word → its best English word, with the product of both probabilities and how often the Korean word occurs. */
export interface Aligned {
  readonly english: string;
  readonly belief: number;
  readonly count: number;
}

export function align(pairs: readonly Pair[]): Map<string, Aligned> {
  const koreanStem = stemmer(pairs.flatMap(({ korean }) => hangulOf(korean)));
  const englishStem = englishStemmer(pairs.flatMap(({ english }) => latinOf(english)));
  const sentences = pairs
    .map(({ korean, english }) => ({
      korean: hangulOf(korean).map(koreanStem),
      english: latinOf(english)
        .map(englishStem)
        .filter((word) => !STOP.has(word)),
    }))
    .filter(
      ({ korean, english }) => korean.length > 0 && english.length > 0 && korean.length + english.length <= 2 * LONGEST,
    );
  const toEnglish = probabilities(sentences.map(({ korean, english }) => [korean, english]));
  const toKorean = probabilities(sentences.map(({ korean, english }) => [english, korean]));
  const counts = new Map<string, number>();
  for (const { korean } of sentences) for (const word of korean) counts.set(word, (counts.get(word) ?? 0) + 1);
  const aligned = new Map<string, Aligned>();
  for (const [word, options] of toEnglish) {
    let best: Aligned | undefined;
    for (const [english, forth] of options) {
      const belief = forth * (toKorean.get(english)?.get(word) ?? 0);
      if (belief > (best?.belief ?? 0)) best = { english, belief, count: counts.get(word)! };
    }
    if (best !== undefined) aligned.set(word, best);
  }
  return aligned;
}

/** P(target | source) for each source word, from [source, target] sentences. Improbable pairs are dropped on the way. */
function probabilities(sentences: readonly (readonly [string[], string[]])[]): Map<string, Map<string, number>> {
  let table: Map<string, Map<string, number>> | undefined;
  for (let round = 0; round < ROUNDS; round++) {
    const counted = new Map<string, Map<string, number>>();
    for (const [sources, targets] of sentences) {
      for (const target of targets) {
        const shares = sources.map((source) => (table === undefined ? 1 : (table.get(source)?.get(target) ?? 0)));
        const sum = shares.reduce((a, b) => a + b, 0);
        if (sum === 0) continue;
        sources.forEach((source, at) => {
          const row = counted.get(source) ?? new Map<string, number>();
          if (row.size === 0) counted.set(source, row);
          row.set(target, (row.get(target) ?? 0) + shares[at]! / sum);
        });
      }
    }
    for (const row of counted.values()) {
      const sum = [...row.values()].reduce((a, b) => a + b, 0);
      for (const [target, count] of row) {
        if (count / sum < 0.001) row.delete(target);
        else row.set(target, count / sum);
      }
    }
    table = counted;
  }
  return table!;
}

const hangulOf = (text: string): string[] => text.normalize('NFC').match(/\p{Script=Hangul}+/gu) ?? [];
const latinOf = (text: string): string[] => text.toLowerCase().match(/[a-z]+/g) ?? [];

/** Takes the tail off a word where what is left, of two syllables or more, is also seen bare or with two other tails. */
function stemmer(words: readonly string[]): (word: string) => string {
  const seen = new Set(words);
  const tails = new Map<string, number>();
  const cuts = (word: string) =>
    TAILS.filter((tail) => word.endsWith(tail) && word.length - tail.length >= 2).map((tail) =>
      word.slice(0, -tail.length),
    );
  for (const word of seen) for (const stem of cuts(word)) tails.set(stem, (tails.get(stem) ?? 0) + 1);
  return (word) => cuts(word).find((stem) => seen.has(stem) || tails.get(stem)! >= 3) ?? word;
}

/** Plural, -ed and -ing come off where the bare word is seen as often ("wed" is not what "wedding" comes from). */
function englishStemmer(words: readonly string[]): (word: string) => string {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return (word) => {
    const options = [
      word.replace(/ies$/, 'y'),
      word.replace(/(ch|sh|ss|x)es$/, '$1'),
      word.replace(/([^s])s$/, '$1'),
      word.replace(/(ed|ing)$/, ''),
      word.replace(/(ed|ing)$/, 'e'),
      word.replace(/(.)\1(ed|ing)$/, '$1'),
    ];
    return (
      options.find(
        (option) => option !== word && option.length >= 3 && (counts.get(option) ?? 0) >= counts.get(word)!,
      ) ?? word
    );
  };
}

/** Which English word stands for which Korean word in the texts of translated programs, without particles, endings and English forms. */
import { type Aligned, align, type Pair } from '../common/align.ts';

const ROUNDS = 5;

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

/** Korean word → its English partner. */
export function alignedWords(pairs: readonly Pair[]): Map<string, Aligned> {
  const texts = pairs.map(([korean, english]) => [hangulOf(korean), latinOf(english)] as const);
  const koreanStem = stemmer(texts.flatMap(([korean]) => korean));
  const englishStem = englishStemmer(texts.flatMap(([, english]) => english));
  return align(
    texts.map(([korean, english]) => [
      korean.map(koreanStem),
      english.map(englishStem).filter((word) => !STOP.has(word)),
    ]),
    ROUNDS,
  );
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

/** Which sense of a Chinese word its gloss should be. */
import porter2 from 'wink-porter2-stemmer';
import { type Glosses, matchWords } from '../../../src/embed/minilm/gloss/match.ts';
import { type Aligned, align, type Pair } from '../common/align.ts';
import { rarity } from '../common/rarity.ts';

const ROUNDS = 6;
/** Signs. */
export const LONGEST_WORD = 8;
/** What the strings of VS Code show is believed from this strength on, and where the word occurs in so many of them. Read off samples. */
const BELIEVED = 0.15;
const FEWEST_STRINGS = 3;
/** A first sense that is rarer than the first of these gives way to a single word that is at most as rare as the second. */
const RARE = 25_000;
const COMMON = 8_000;

/** Chinese word → the stem of its English partner. */
export function alignedStems(pairs: readonly Pair[], known: Glosses): Map<string, Aligned> {
  return align(
    pairs.map(([chinese, english]) => [wordsOf(plain(chinese), known), stemsOf(plain(english))]),
    ROUNDS,
  );
}

/** Placeholders, code and links are no words. */
function plain(text: string): string {
  return text
    .normalize('NFC')
    .replace(/\(&&\w\)|&&/g, '')
    .replace(/\{[^}]*\}|`[^`]*`|\([^)]*:[^)]*\)|https?:\S+/g, ' ');
}

function wordsOf(text: string, known: Glosses): string[] {
  const runs = text.match(/\p{Script=Han}+/gu) ?? [];
  return [...new Set(runs.flatMap((run) => matchWords(run, known, LONGEST_WORD).map(({ word }) => word)))];
}

function stemsOf(text: string): string[] {
  return [...new Set((text.toLowerCase().match(/[a-z]{2,}/g) ?? []).map(porter2))];
}

/** The sense that the strings show, else the first one, unless it is rare and another one is not. `glosses`: at least one. */
export function chooseSense(glosses: readonly string[], aligned: Aligned | undefined): string {
  if (aligned !== undefined && aligned.strength >= BELIEVED && aligned.count >= FEWEST_STRINGS) {
    const shown = glosses.find((gloss) => porter2(gloss.toLowerCase()) === aligned.english);
    if (shown !== undefined) return shown;
  }
  const [first] = glosses as [string];
  if (rarity(first) <= RARE) return first;
  return glosses.find((gloss) => !/[ -]/.test(gloss) && rarity(gloss) <= COMMON) ?? first;
}

/** Korean words become the gloss of the wordbook, without the particles and endings that are written onto them. */
import { KOREAN_PARTICLES } from '../../../text/analyse.ts';
import type { Glosses } from './match.ts';

/** Syllables. */
const LONGEST_WORD = 8;

/** Of verbs of one syllable, which the wordbook has with 다: "쓰나요" is of "쓰다". Longer stems are in it as they are. */
const ENDINGS = '나요 나 네요 니 는지 는가 는데 습니다 습니까 고 지 지만 면 기 게 자 던'.split(' ');
/** To do, to become and to be with these endings: they say nothing by themselves. */
const LIGHT_STEMS = '하 했 되 됐 이 였'.split(' ');

const WORDS = /\p{Script=Hangul}+/gu;

export function glossKorean(text: string, known: Glosses): string {
  return text.replace(WORDS, (word) => ` ${glossWord(word, known)} `);
}

/**
 * Longest match from the left, then of the rest, so that a compound gives each of its parts; a rest without a word is an ending. A word of
 * which nothing is known at its beginning is a name: it stays, without its particle.
 */
function glossWord(word: string, known: Glosses): string {
  // A particle alone stands behind a word in other letters: "Postgres는".
  if (KOREAN_PARTICLES.includes(word) && !known.has(word)) return '';
  const glosses: string[] = [];
  for (let at = 0; at < word.length; ) {
    let length = Math.min(LONGEST_WORD, word.length - at);
    let gloss = glossOf(word, at, length, known);
    while (length > 0 && gloss === undefined) gloss = glossOf(word, at, --length, known);
    if (gloss === undefined) {
      if (at === 0) return withoutParticle(word);
      break;
    }
    glosses.push(gloss);
    at += length;
    if (KOREAN_PARTICLES.includes(word.slice(at))) break;
  }
  return glosses.join(' ');
}

/** A single syllable is a word only where nothing, a particle or an ending follows: inside a longer one it means anything. */
function glossOf(word: string, at: number, length: number, known: Glosses): string | undefined {
  const part = word.slice(at, at + length);
  if (length !== 1) return known.get(part);
  const rest = word.slice(at + length);
  if (rest === '' || KOREAN_PARTICLES.includes(rest)) return known.get(part);
  if (!ENDINGS.includes(rest)) return undefined;
  return LIGHT_STEMS.includes(part) ? '' : (known.get(part) ?? known.get(`${part}다`));
}

function withoutParticle(word: string): string {
  const particle = KOREAN_PARTICLES.find((ending) => ending.length < word.length && word.endsWith(ending));
  return particle === undefined ? word : word.slice(0, -particle.length);
}

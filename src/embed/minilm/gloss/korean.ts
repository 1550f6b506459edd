/** Korean words become the gloss of the wordbook, without the particles and endings that are written onto them. */
import { KOREAN_PARTICLES } from '../../../text/analyse.ts';
import type { Glosses } from './match.ts';

/** Syllables. */
const LONGEST_WORD = 8;

const WORDS = /\p{Script=Hangul}+/gu;

export function glossKorean(text: string, known: Glosses): string {
  return text.replace(WORDS, (word) => ` ${glossWord(word, known)} `);
}

/**
 * Longest match from the left, then of the rest, so that a compound gives each of its parts; a rest without a word is an ending. A word of
 * which nothing is known at its beginning is a name: it stays, without its particle.
 */
function glossWord(word: string, known: Glosses): string {
  const glosses: string[] = [];
  for (let at = 0; at < word.length; ) {
    let length = Math.min(LONGEST_WORD, word.length - at);
    while (length > 0 && !isWord(word.slice(at, at + length), word.slice(at + length), known)) length--;
    if (length === 0) {
      if (at === 0) return withoutParticle(word);
      break;
    }
    glosses.push(known.get(word.slice(at, at + length))!);
    at += length;
    if (KOREAN_PARTICLES.includes(word.slice(at))) break;
  }
  return glosses.join(' ');
}

/** A single syllable is a word only where nothing or a particle follows: inside a longer one it means anything. */
function isWord(part: string, rest: string, known: Glosses): boolean {
  return known.has(part) && (part.length > 1 || rest === '' || KOREAN_PARTICLES.includes(rest));
}

function withoutParticle(word: string): string {
  const particle = KOREAN_PARTICLES.find((ending) => ending.length < word.length && word.endsWith(ending));
  return particle === undefined ? word : word.slice(0, -particle.length);
}

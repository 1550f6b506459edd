/** Which of the English meanings of a word its gloss should be. */
import { distance } from 'fastest-levenshtein';
import type { Aligned } from '../common/align.ts';
import { FIRST_WORD, rarity } from '../common/rarity.ts';
import type { Meanings } from './pivot.ts';

/** Words of at least this likeness (0 to 1) are cognates: Datenbank and database, nación and nation. */
const COGNATE = 0.6;
const BONUS_OF_COGNATE = 1.4;
/** Taken only where a word has no other meaning. */
const PENALTY_OF_VULGAR = 0.02;
/** A gloss of several words is often an explanation. */
const PENALTY_OF_PHRASE = 0.8;
/** "Earth" beside "earth", "Réunion" beside "meeting". */
const WEIGHT_OF_NAME = 0.4;
/** Share of a word's votes that a gloss has to have. */
const LEAST_SHARE = 0.12;
/** Votes in parts of what the word most meant by the gloss gives it. */
const LEAST_BACK = 0.12;
const WEIGHT_OF_BACK = 0.3;
/** Strengths of an alignment. */
const LIKELY = 0.1;
const SURE = 0.3;
/** Votes in parts of those of the first meaning. */
const MAIN_MEANING = 0.1;
/** Votes of dictionaries that an alignment they do not know of does not overrule. */
const FIRM_VOTES = 1.5;
const TECHNICAL_FIRST = 3;

/** No meaning to embed. */
const GRAMMAR = /^(an?|and|as|at|be|but|by|he|her|his|it|its|of|or|she|that|the|their|them|they|this|to)$/i;
const VULGAR =
  /\b(arse|ass|asshole|bastard|bitch|blowjob|bollocks|boner|boob|boobs|bugger|bullshit|cock|copulate|coitus|cum|cunt|dick|dildo|ejaculate|erection|fag|faggot|fart|fuck|fucked|fucker|fucking|hooker|horny|jerk off|masturbate|motherfucker|nigger|orgasm|penis|piss|prick|prostitute|pussy|screw|sex|sexual intercourse|shit|slut|tits|turd|twat|vagina|wank|wanker|whore)\b/i;

interface Candidate {
  readonly gloss: string;
  readonly votes: number;
  readonly score: number;
}

/** The meanings of a word, those that differ in spelling alone summed. */
function spelledAlike(meanings: Meanings): Map<string, Candidate> {
  const alike = new Map<string, Candidate>();
  for (const [gloss, votes] of meanings) {
    const known = alike.get(spelling(gloss));
    const score = votes * commonness(gloss) * ofName(gloss);
    alike.set(spelling(gloss), {
      gloss: known === undefined || score > known.score ? gloss : known.gloss,
      votes: votes + (known?.votes ?? 0),
      score: Math.max(score, known?.score ?? 0),
    });
  }
  return alike;
}

/** For each spelling, the most votes that any word gives it. */
export function mostVotes(words: Iterable<Meanings>): Map<string, number> {
  const most = new Map<string, number>();
  for (const meanings of words)
    for (const [key, { votes }] of spelledAlike(meanings)) most.set(key, Math.max(votes, most.get(key) ?? 0));
  return most;
}

/**
 * The best gloss, or undefined where the votes are too divided. `most` (of `mostVotes`) is the way back: an English word that belongs far more to
 * another word is likely a mistake of a step between.
 */
export function chooseGloss(word: string, meanings: Meanings, most: ReadonlyMap<string, number>): string | undefined {
  const all = [...meanings.values()].reduce((sum, votes) => sum + votes, 0);
  let best: Candidate | undefined;
  for (const [key, { gloss, votes }] of spelledAlike(meanings)) {
    const back = Math.min(1, votes / (most.get(key) ?? votes));
    if (back < LEAST_BACK || votes / all < LEAST_SHARE || GRAMMAR.test(gloss)) continue;
    const bonus = likeness(word, gloss) >= COGNATE ? BONUS_OF_COGNATE : 1;
    const score = votes * commonness(gloss) * ofName(gloss) * bonus * back ** WEIGHT_OF_BACK;
    if (best === undefined || score > best.score) best = { gloss, votes, score };
  }
  return best?.gloss;
}

/**
 * The meanings with the word's partner in software at their head: where it is a main meaning in the dictionaries too, or where it is near certain
 * and the dictionaries say little. A word that stands as it is in the strings ("json", "tag") needs no gloss of them.
 */
export function withTechnicalSense(word: string, meanings: Meanings, aligned: Aligned | undefined): Meanings {
  if (aligned === undefined || aligned.english === word) return meanings;
  const most = Math.max(0, ...meanings.values());
  const agreed = [...meanings].find(([meaning]) => spelling(meaning) === spelling(aligned.english));
  const enough =
    agreed === undefined
      ? aligned.strength >= SURE && most < FIRM_VOTES && aligned.english.length > 2
      : aligned.strength >= LIKELY && agreed[1] >= MAIN_MEANING * most;
  if (!enough) return meanings;
  const gloss = agreed?.[0] ?? aligned.english;
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

/** Greater for words that are frequent in English: 1 for the most frequent, 0.27 for those that the model knows in pieces only. */
function commonness(gloss: string): number {
  return (
    (FIRST_WORD / rarity(gloss)) ** 0.3 *
    (/[ -]/.test(gloss) ? PENALTY_OF_PHRASE : 1) *
    (VULGAR.test(gloss) ? PENALTY_OF_VULGAR : 1)
  );
}

function ofName(gloss: string): number {
  return gloss === gloss.toLowerCase() ? 1 : WEIGHT_OF_NAME;
}

function likeness(word: string, gloss: string): number {
  const plain = (text: string) => text.toLowerCase().normalize('NFD').replace(/\p{M}/gu, '');
  return 1 - distance(plain(word), plain(gloss)) / Math.max(word.length, gloss.length);
}

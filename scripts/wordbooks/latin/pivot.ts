/**
 * English meanings of words of languages that have no free dictionary into English, by way of the languages between. Each word of each language
 * gets a share for each English word; in each round a language asks all its neighbours, and each neighbour language has one vote, which it
 * divides among the meanings of the words it translates by. What several languages agree on wins (Tanaka and Umemura 1994 ask for the way
 * back through one language; here many languages stand in for it).
 */
import type { Entry } from '../common/dictd.ts';

/** English word → share of the vote, the greatest first. */
export type Meanings = ReadonlyMap<string, number>;

export interface Dictionary {
  readonly from: string;
  readonly to: string;
  readonly entries: readonly Entry[];
}

const ENGLISH = 'eng';
/** English, then languages next to it, then their neighbours, then once more with all that is known. */
const ROUNDS = 3;
/** A dictionary into or out of English says more than two that are joined. */
const VOTE_OF_ENGLISH = 3;
/** Above 1: the meanings that lead gain, so the blur of each step does not add up. */
const SHARPNESS = 1.5;
const MEANINGS_KEPT = 12;
/** A name is a rarer sense of a word that is also something else. */
const WEIGHT_OF_NAME = 0.2;

/** Word → its translations → their weights. */
type Links = Map<string, Map<string, number>>;

/**
 * For each word of each language asked for (ISO 639-3), the votes for each English word. Each language between gives a word one vote at most, and
 * English, where a dictionary goes straight to it, three.
 */
export function meaningsByPivots(
  dictionaries: Iterable<Dictionary>,
  asked: readonly string[],
): Map<string, Map<string, Meanings>> {
  const neighbours = linked(dictionaries);
  neighbours.delete(ENGLISH);
  let votes = new Map<string, Map<string, Meanings>>();
  for (let round = 0; round < ROUNDS; round++) {
    const known = new Map([...votes].map(([language, words]) => [language, sharpened(words)]));
    votes = new Map();
    // The last round is for the languages asked for alone.
    for (const language of round < ROUNDS - 1 ? neighbours.keys() : asked)
      votes.set(language, vote(neighbours.get(language) ?? new Map(), known));
  }
  return votes;
}

/** Language → neighbour → links. A dictionary is read both ways; earlier senses and earlier translations weigh more. */
function linked(dictionaries: Iterable<Dictionary>): Map<string, Map<string, Links>> {
  const neighbours = new Map<string, Map<string, Links>>();
  const linksOf = (from: string, to: string): Links =>
    entry(entry(neighbours, from, newMap<Links>), to, newMap<Map<string, number>>);
  for (const { from, to, entries } of dictionaries) {
    const there = linksOf(from, to);
    const back = linksOf(to, from);
    for (const { word, kind, senses } of entries) {
      if (/fix$/.test(kind)) continue;
      const ofKind = kind === 'pn' ? WEIGHT_OF_NAME : 1;
      senses.forEach((translations, sense) => {
        translations.forEach((translation, place) => {
          const weight = ofKind / ((1 + sense) * (1 + place / 2));
          add(there, word, translation, weight);
          add(back, translation, word, weight);
        });
      });
    }
  }
  return neighbours;
}

const newMap = <V>(): Map<string, V> => new Map();

function entry<V>(map: Map<string, V>, key: string, create: () => V): V {
  const value = map.get(key) ?? create();
  map.set(key, value);
  return value;
}

function add(table: Map<string, Map<string, number>>, word: string, other: string, weight: number): void {
  const row = entry(table, word, newMap<number>);
  row.set(other, (row.get(other) ?? 0) + weight);
}

function vote(own: Map<string, Links>, known: ReadonlyMap<string, Map<string, Meanings>>): Map<string, Meanings> {
  const votes: Links = new Map();
  for (const [neighbour, table] of own) {
    const meanings = known.get(neighbour);
    if (neighbour !== ENGLISH && meanings === undefined) continue;
    for (const [word, row] of table) {
      const usable = [...row].flatMap(([other, weight]) => {
        const shares = neighbour === ENGLISH ? new Map([[other, 1]]) : meanings!.get(other);
        return shares === undefined ? [] : [{ weight, shares }];
      });
      const all = usable.reduce((sum, { weight }) => sum + weight, 0);
      const ofNeighbour = neighbour === ENGLISH ? VOTE_OF_ENGLISH : 1;
      for (const { weight, shares } of usable)
        for (const [english, share] of shares) add(votes, word, english, (ofNeighbour * weight * share) / all);
    }
  }
  return new Map([...votes].map(([word, row]) => [word, leading(row)]));
}

function leading(row: ReadonlyMap<string, number>): Map<string, number> {
  return new Map([...row].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).slice(0, MEANINGS_KEPT));
}

/** Shares that add up to 1. */
function sharpened(words: ReadonlyMap<string, Meanings>): Map<string, Meanings> {
  const shares = new Map<string, Meanings>();
  for (const [word, row] of words) {
    const powers = [...row].map(([english, votes]) => [english, votes ** SHARPNESS] as const);
    const all = powers.reduce((sum, [, power]) => sum + power, 0);
    shares.set(word, new Map(powers.map(([english, power]) => [english, power / all])));
  }
  return shares;
}

/**
 * Late interaction on sign bits: each content token of the question looks for its nearest token in a passage; a token is 384 signs, so a
 * similarity is a popcount, cos(π * hamming / 384), and 50 passages take a millisecond. As good as full token vectors (docs/retrieval.md).
 */
import type { TokenBits } from '../embed/embedder.ts';
import { analyse } from '../text/analyse.ts';
import type { PassageBits } from './token-bits.ts';

const BYTES = 48;
const WORDS = BYTES / 4;
const BITS = BYTES * 8;
const COSINE = Float64Array.from({ length: BITS + 1 }, (_, hamming) => Math.cos((Math.PI * hamming) / BITS));

export interface LateQuery {
  readonly tokens: Uint32Array;
  /** One weight a token: how rare its word is. */
  readonly weights: Float64Array;
}

/** `idf` gives a term's rarity; `unseen` is that of a word which no memory holds. */
export function lateQuery(
  { pieces, words, bits }: TokenBits,
  idf: ReadonlyMap<string, number>,
  unseen: number,
): LateQuery {
  const spelled = new Map<number, string>();
  for (const [i, piece] of pieces.entries()) spelled.set(words[i]!, (spelled.get(words[i]!) ?? '') + piece);
  const weights = Float64Array.from(pieces, (_, i) => {
    const known = analyse(spelled.get(words[i]!)!).map((term) => idf.get(term) ?? unseen);
    return known.length === 0 ? 0 : Math.max(...known);
  });
  return { tokens: asWords(bits), weights };
}

export interface LateScore {
  /** Weighted mean over the question's tokens of the best similarity in the passage, -1..1; 0 when nothing has weight. */
  readonly own: number;
  /** What is added to it by tokens that are nearer in what stands beside the passage; 0 or more. */
  readonly beside: number;
}

/** A token beside the passage counts this much of one in it. 0.65 to 0.85 are alike (docs/retrieval.md). */
const BESIDE = 0.75;

/** By the distance of a token in the passage: how near one beside it has to be, so that it counts more. Below 0: it cannot. */
const REACH = Int16Array.from(COSINE, (own) => COSINE.findLastIndex((cosine) => BESIDE * cosine > own));

export function lateScore(query: LateQuery, passage: PassageBits): LateScore {
  const own = asWords(passage.own);
  const beside = passage.beside.map(asWords);
  const sum = { own: 0, beside: 0 };
  let total = 0;
  for (let q = 0; q < query.weights.length; q++) {
    const weight = query.weights[q]!;
    if (weight === 0) continue;
    total += weight;
    const distance = nearest(query.tokens, q * WORDS, own, BITS);
    sum.own += weight * COSINE[distance]!;
    const reach = REACH[distance]!;
    const nearer = beside.reduce((best, tokens) => nearest(query.tokens, q * WORDS, tokens, best), reach + 1);
    if (nearer <= reach) sum.beside += weight * (BESIDE * COSINE[nearer]! - COSINE[distance]!);
  }
  return total === 0 ? sum : { own: sum.own / total, beside: sum.beside / total };
}

/** The distance of the nearest token, when it is below `best`; else `best`. */
function nearest(query: Uint32Array, from: number, tokens: Uint32Array, best: number): number {
  for (let t = 0; best > 0 && t < tokens.length; t += WORDS) {
    let hamming = 0;
    for (let w = 0; w < WORDS; w++) hamming += popcount(query[from + w]! ^ tokens[t + w]!);
    if (hamming < best) best = hamming;
  }
  return best;
}

/** Bits set in 32, in parallel sums (Hacker's Delight, 5-1). */
function popcount(x: number): number {
  let n = x - ((x >>> 1) & 0x55555555);
  n = (n & 0x33333333) + ((n >>> 2) & 0x33333333);
  return Math.imul((n + (n >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** A view where the bytes lie on a word border, else a copy. */
function asWords(bytes: Uint8Array): Uint32Array {
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : Uint8Array.from(bytes);
  return new Uint32Array(aligned.buffer, aligned.byteOffset, Math.floor(aligned.byteLength / 4));
}

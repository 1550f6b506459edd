/**
 * The few constants of retrieval, with where they come from: measured on public development sets, chosen on half of the owners and tested
 * on the other half; docs/retrieval.md has the table. Everything that depends on the embedding model stands in one record a model.
 */
import type { Band, Embedder } from '../embed/embedder.ts';
import type { Writing } from './question.ts';

/** Candidates that each arm brings. More found nothing in the first ten and cost time. */
export const ARM_LIMIT = 50;

/** Candidates that late interaction re-ranks; the rest stay below them. */
export const LATE_DEPTH = 50;

/** BM25 (Robertson): saturation and length normalisation. */
export const K1 = 1.2;
export const B = 0.75;

/** bm25 / (bm25 + half): the score that counts half. From 8 to 12 it is all the same for words. */
export const LEXICAL_HALF = 8;

/**
 * Bigrams of Chinese, Japanese and Korean sum to an idf of 44 to 92 where words sum to 13 to 27: a fixed half would be flat there. So it is this
 * share of what the question's own terms sum to. The more in Chinese, where the model can tell: a few bigrams in common mean little.
 */
export const LEXICAL_HALF_SHARE: Readonly<Partial<Record<Writing, number>>> = { hangul: 0.25, kana: 0.5, han: 1 };

/** The length prior's weight on ln(2 + terms): small models like short filler ("Wow!") too much. */
export const LENGTH_PRIOR = 0.1;

export const BOOSTS = {
  /** The memory is by the only author whom the question names. */
  author: 0.3,
  /** It lies in, or near, a time that the question names. */
  date: 0.2,
  /** A turn of a conversation that ends in a question mark: it asks, it seldom answers. */
  asks: -0.1,
  /** It holds a thing of the kind that is asked for: a time for "when", a number for "how many". */
  sought: 0.1,
  /** Share of the better neighbour's score inside one document. */
  documentLift: 0.3,
  /** Share of the best score of its session. A memory without a session is one of its own, so that both kinds stand on one scale. */
  session: 0.3,
  /** The same for late interaction, as a share of its weight. */
  sessionLate: 1,
  /** Active working state, when it is preferred. */
  working: 0.15,
  /** Importance and confidence, centred: they break ties between equals and no more. */
  importance: 0.05,
  confidence: 0.05,
  /** What was of use before, bounded by the standing of 0..1. */
  used: 0.05,
} as const;

export interface ModelConstants {
  /** Weight of the cosine beside the lexical score. */
  readonly cosine: Readonly<Record<Writing, number>>;
  /** Weight of late interaction; 0 where the model gives no token vectors. */
  readonly late: Readonly<Record<Writing, number>>;
  /** Whether its cosine tells an answer in another language from anything else. */
  readonly readsAcross: boolean;
  /** Brings a cosine of the model to the scale of the local model, for which weights and thresholds were measured. */
  readonly scale: { readonly factor: number; readonly offset: number };
}

const AS_IT_IS = { factor: 1, offset: 0 };

const MINILM: ModelConstants = {
  // The model is English, and Chinese is glossed for it: elsewhere a higher weight falls below BM25 alone.
  cosine: { english: 0.6, glossed: 0.6, other: 0.4, hangul: 0.3, kana: 0.6, han: 0.8 },
  late: { english: 0.8, glossed: 0.8, other: 0.1, hangul: 0.2, kana: 0.6, han: 0.8 },
  readsAcross: true,
  scale: AS_IT_IS,
};

/**
 * Models that were not measured: words lead. On two conversations of LoCoMo a good model behind an endpoint finds as much
 * with 0.3 as with 0.6 (recall@10 80.6 and 80.8, words alone 78.7), while a poor one, hashed words, costs one point with 0.3 and four with 0.6.
 */
const UNMEASURED: Omit<ModelConstants, 'scale'> = {
  cosine: { english: 0.3, glossed: 0.3, other: 0.3, hangul: 0.3, kana: 0.3, han: 0.3 },
  late: { english: 0, glossed: 0, other: 0, hangul: 0, kana: 0, han: 0 },
  readsAcross: false,
};

/** Hashed n-grams see the same words that the lexical arm sees: they find what it misses (parts of words). More weight falls below words alone. */
const HASHING: ModelConstants = {
  cosine: { english: 0.05, glossed: 0.05, other: 0.05, hangul: 0.05, kana: 0.05, han: 0.05 },
  late: UNMEASURED.late,
  readsAcross: false,
  scale: AS_IT_IS,
};

/** The local model on the texts of embed/band.ts. */
export const MINILM_BAND: Band = { unrelated: 0.02, matching: 0.74 };
/** A model that hardly tells an answer from anything else must not have its noise blown up. */
const MAX_FACTOR = 6;

export function constantsOf({ id, band }: Pick<Embedder, 'id' | 'band'>): ModelConstants {
  if (id.startsWith('minilm-l6-v2')) return MINILM;
  if (id.startsWith('hashing')) return HASHING;
  return { ...UNMEASURED, scale: band ? scaleOf(band) : AS_IT_IS };
}

/** Maps both ends of the band to those of the local model, so that cosines of 0.7 to 0.85 weigh as much as those of 0.0 to 0.7. */
function scaleOf({ unrelated, matching }: Band): ModelConstants['scale'] {
  const width = Math.max(0, matching - unrelated);
  const factor = Math.min(MAX_FACTOR, (MINILM_BAND.matching - MINILM_BAND.unrelated) / width);
  return { factor, offset: MINILM_BAND.unrelated - factor * unrelated };
}

/**
 * Weights of answerability: a logistic fit on development questions asked of the right and of a wrong owner, and of the right one about the
 * wrong person.
 */
export const ANSWERABLE = {
  cosine: 1.35,
  coverage: 2.58,
  lexical: 2.47,
  late: 7.44,
  share: 7.45,
  constant: -14.6,
} as const;

/** Set by hand, mapped so that the two thresholds below mean the same: 0.40 and 0.35 of the weighted sum. */
export const ANSWERABLE_WITHOUT_LATE = {
  cosine: 0.4,
  coverage: 0.4,
  lexical: 0.2,
  slope: 33.8,
  middle: 0.4223,
} as const;

/** Strict search answers when the answerability of the question reaches this. */
export const STRICT_THRESHOLD = 0.32;

/** Below this a pack holds nothing: at most 2 % of the questions that have an answer fall under it. */
export const WEAK_THRESHOLD = 0.08;

/**
 * The few constants of retrieval, with where they come from: measured on public development sets, chosen on half of the owners and tested
 * on the other half; docs/retrieval.md has the table. Everything that depends on the embedding model stands in one record a model.
 */
import type { Band, Embedder } from '../embed/embedder.ts';
import type { Script } from '../text/analyse.ts';

/** Candidates that each arm brings. More found nothing in the first ten and cost time. */
export const ARM_LIMIT = 50;

/** BM25 (Robertson): saturation and length normalisation. */
export const K1 = 1.2;
export const B = 0.75;

/** bm25 / (bm25 + HALF): the score that counts half; any value from 8 to 12 gives the same. */
export const LEXICAL_HALF = 8;

/** The length prior's weight on ln(2 + terms): small models like short filler ("Wow!") too much. */
export const LENGTH_PRIOR = 0.1;

export const BOOSTS = {
  /** The memory is by the only author whom the question names. */
  author: 0.3,
  /** It lies in, or near, a time that the question names. */
  date: 0.2,
  /** It ends in a question mark: it asks, it seldom answers. */
  asks: -0.05,
  /** Share of the better neighbour's score inside one document. */
  documentLift: 0.3,
  /** Share of the best score of its session. */
  session: 0.3,
  /** Active working state, when it is preferred. */
  working: 0.15,
  /** Importance and confidence, centred: they break ties between equals and no more. */
  importance: 0.05,
  confidence: 0.05,
} as const;

export interface ModelConstants {
  /** Weight of the cosine beside the lexical score, by the script of the question. */
  readonly cosine: Readonly<Record<Script, number>>;
  /** Weight of late interaction, by the script; 0 where the model gives no token vectors. */
  readonly late: Readonly<Record<Script, number>>;
  /** Brings a cosine of the model to the scale of the local model, for which weights and thresholds were measured. */
  readonly scale: { readonly factor: number; readonly offset: number };
}

const AS_IT_IS = { factor: 1, offset: 0 };

const MINILM: ModelConstants = {
  // The model is English: in Chinese, Japanese and Korean a higher weight falls below BM25 alone.
  cosine: { latin_or_other: 0.6, hangul: 0.3, han_kana: 0.3 },
  late: { latin_or_other: 1, hangul: 0.5, han_kana: 0 },
  scale: AS_IT_IS,
};

/**
 * Hashed n-grams and models that were not measured: words lead. On two conversations of LoCoMo a good model behind an endpoint finds as much
 * with 0.3 as with 0.6 (recall@10 80.6 and 80.8, words alone 78.7), while a poor one, hashed words, costs one point with 0.3 and four with 0.6.
 */
const UNMEASURED: Omit<ModelConstants, 'scale'> = {
  cosine: { latin_or_other: 0.3, hangul: 0.3, han_kana: 0.3 },
  late: { latin_or_other: 0, hangul: 0, han_kana: 0 },
};

/** The local model on the texts of embed/band.ts. */
export const MINILM_BAND: Band = { unrelated: 0.02, matching: 0.74 };
/** A model that hardly tells an answer from anything else must not have its noise blown up. */
const MAX_FACTOR = 6;

export function constantsOf({ id, band }: Pick<Embedder, 'id' | 'band'>): ModelConstants {
  if (id.startsWith('minilm-l6-v2')) return MINILM;
  return { ...UNMEASURED, scale: band ? scaleOf(band) : AS_IT_IS };
}

/** Maps both ends of the band to those of the local model, so that cosines of 0.7 to 0.85 weigh as much as those of 0.0 to 0.7. */
function scaleOf({ unrelated, matching }: Band): ModelConstants['scale'] {
  const width = Math.max(0, matching - unrelated);
  const factor = Math.min(MAX_FACTOR, (MINILM_BAND.matching - MINILM_BAND.unrelated) / width);
  return { factor, offset: MINILM_BAND.unrelated - factor * unrelated };
}

/** Strict search answers when the answerability of the question reaches this; recall context says `below_threshold` below the other. */
export const STRICT_THRESHOLD = 0.4;
export const WEAK_THRESHOLD = 0.35;

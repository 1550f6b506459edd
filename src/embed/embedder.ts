/** What turns text into vectors. One interface for the local model, the hashing fallback and a remote endpoint. */

export type EmbedKind = 'query' | 'passage';

/**
 * Sign bits of the content tokens of a text, for late interaction: one token is 384 signs in 48 bytes.
 * `pieces[i]` is the word piece (without `##`), `words[i]` the index of the word it belongs to, `bits` holds the tokens one after another.
 */
export interface TokenBits {
  readonly pieces: readonly string[];
  readonly words: readonly number[];
  readonly bits: Uint8Array;
}

export interface Embedding {
  /** L2-normalised, `dimensions` long. */
  readonly vector: Float32Array;
  /** Only from models that give token vectors. */
  readonly tokens?: TokenBits;
  /** The text in English, where the model read that in its place. */
  readonly gloss?: string;
}

/** A part of a text: UTF-16 offsets, end exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Mean cosines of texts that have nothing to do with each other, and of questions with their answers. */
export interface Band {
  readonly unrelated: number;
  readonly matching: number;
}

/** Why texts were not embedded, in one sentence without secrets and without any of the texts. */
export class EmbeddingFailed extends Error {
  override readonly name = 'EmbeddingFailed';
  /** `later`: the same call may succeed then. `texts`: one of the texts is at fault. `never`: only another configuration helps. */
  readonly cure: 'later' | 'texts' | 'never';
  /** Milliseconds that the embedder asks to be left alone. */
  readonly retryAfter: number | undefined;

  constructor(message: string, cure: EmbeddingFailed['cure'], retryAfter?: number) {
    super(message);
    this.cure = cure;
    this.retryAfter = retryAfter;
  }
}

export interface Embedder {
  /** Stands with every stored vector; vectors of two ids are never compared. */
  readonly id: string;
  readonly dimensions: number;
  /** Set when this is not the embedder that was asked for: why, in one sentence without secrets. */
  readonly degraded?: string;
  /** Set while the last call failed: why, in one sentence without secrets. */
  readonly failing?: string | undefined;
  /** Calls that wait or are under way, and calls that failed since the start. Absent where calls neither wait nor fail. */
  readonly load?: { readonly calls: number; readonly failures: number };
  /** Of models that nobody measured, known from the first query on: ranking maps their cosines to those of the local model. */
  readonly band?: Band | undefined;
  /** One embedding a text, in order. Texts longer than the model's window are cut by the model: split them first. */
  embed(texts: readonly string[], kind: EmbedKind): Promise<Embedding[]>;
  /**
   * Cuts a text into passages that fit the model's window beside `prefix` (which is put before each of them when it is embedded).
   * Spans are in order, do not overlap and together cover every non-blank character.
   */
  split(text: string, prefix: string): Promise<Span[]>;
  close(): Promise<void>;
}

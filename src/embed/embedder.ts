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
}

/** A part of a text: UTF-16 offsets, end exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Embedder {
  /** Stands with every stored vector; vectors of two ids are never compared. */
  readonly id: string;
  readonly dimensions: number;
  /** Set when this is not the embedder that was asked for: why, in one sentence without secrets. */
  readonly degraded?: string;
  /** One embedding a text, in order. Texts longer than the model's window are cut by the model: split them first. */
  embed(texts: readonly string[], kind: EmbedKind): Promise<Embedding[]>;
  /**
   * Cuts a text into passages that fit the model's window beside `prefix` (which is put before each of them when it is embedded).
   * Spans are in order, do not overlap and together cover every non-blank character.
   */
  split(text: string, prefix: string): Promise<Span[]>;
  close(): Promise<void>;
}

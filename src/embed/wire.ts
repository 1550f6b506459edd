/** What an embeddings endpoint says, checked; and what a text would cost there. Pure. */
import { EmbeddingFailed } from './embedder.ts';

/** The vectors in the order of the texts, whatever the order of the answer, with unit length. @throws EmbeddingFailed */
export function vectorsOf(answer: unknown, count: number, dimensions: number): Float32Array[] {
  const data = isObject(answer) ? answer.data : undefined;
  if (!Array.isArray(data)) throw wrong('holds no list of vectors');
  if (data.length !== count) throw wrong(`holds ${data.length} vectors for ${count} texts`);
  const vectors = new Array<Float32Array | undefined>(count).fill(undefined);
  for (const entry of data as unknown[]) {
    const { index, embedding } = isObject(entry) ? entry : {};
    if (!Number.isInteger(index) || !((index as number) in vectors) || vectors[index as number])
      throw wrong('does not name each text once by its index');
    vectors[index as number] = unit(embedding, dimensions);
  }
  return vectors as Float32Array[];
}

function unit(embedding: unknown, dimensions: number): Float32Array {
  if (!Array.isArray(embedding)) throw wrong('holds something that is not a vector');
  if (embedding.length !== dimensions)
    throw wrong(`holds vectors of ${embedding.length} dimensions and not of ${dimensions}`);
  if (!embedding.every((value) => typeof value === 'number')) throw wrong('holds something that is not a vector');
  const norm = Math.hypot(...(embedding as number[]));
  if (!Number.isFinite(norm) || norm === 0) throw wrong('holds a vector without direction');
  return Float32Array.from(embedding as number[], (value) => value / norm);
}

/** A model that is not the configured one stays so: asking again does not help. */
const wrong = (what: string): EmbeddingFailed =>
  new EmbeddingFailed(`The answer of the embedding endpoint ${what}.`, 'never');

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Milliseconds of a Retry-After header: seconds, or a date (RFC 9110, 10.2.3). Undefined when absent or not understood. */
export function retryAfterOf(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  const ms = /^\s*\d+\s*$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - now;
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

/**
 * At least as many tokens as the usual tokenizers make of a text: three lower-case letters or blanks a token (English has four to five
 * characters a token), and a token for every other character: digits, capitals, signs, and all of other scripts, where two an emoji.
 */
export function estimateTokens(text: string): number {
  let cheap = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if ((code >= 97 && code <= 122) || code === 32) cheap++;
  }
  return Math.ceil(text.length - (cheap * 2) / 3);
}

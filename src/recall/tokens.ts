/**
 * Counts tokens; the only door to tiktoken. Budgets are hard, so a count is exact, save for a text with an unbroken run
 * longer than LONG_RUN, where it is an upper bound.
 */
import { LRUCache } from 'lru-cache';
import { get_encoding, type Tiktoken } from 'tiktoken';
import type { CountTokens, TokenizerName } from '../types.ts';

/** UTF-16 units. Byte pair encoding is quadratic in a run of one class: 10,000 equal letters take 0.2 s, 100,000 take 9 s. */
const LONG_RUN = 1000;

/** UTF-16 units of the pieces that a longer run is cut into: 0.16 ms each, 100,000 equal letters in 60 ms. */
const PIECE = 250;

/** What a cut can hide. One token is not enough: of 80,000 random cuts into 40 alphabets 17 hid two, none hid more. */
const TOKENS_PER_CUT = 2;

/** UTF-16 units of the longest text that is remembered: words, marks and short lines come again and again. */
const REMEMBERED_LENGTH = 64;

/** Texts remembered per encoding; some 3 MB. */
const REMEMBERED_TEXTS = 20_000;

/** Encoders are large (about 100 MB each, built in 0.1 to 1 s) and know no request, so the process shares them and never frees them. */
const encoders = new Map<TokenizerName, Tiktoken>();

/** A counter with a memory of its own. `<|endoftext|>` and its like are ordinary text. */
export function makeCountTokens(): CountTokens {
  const remembered = new Map<TokenizerName, LRUCache<string, number>>();
  return (text, tokenizer) => {
    if (text.length > REMEMBERED_LENGTH) return count(text, tokenizer);
    let known = remembered.get(tokenizer);
    if (known === undefined) {
      known = new LRUCache({ max: REMEMBERED_TEXTS });
      remembered.set(tokenizer, known);
    }
    let tokens = known.get(text);
    if (tokens === undefined) {
      tokens = count(text, tokenizer);
      // a part of a long text is a view that would keep the whole of it in memory: remember a copy
      known.set(Buffer.from(text, 'utf16le').toString('utf16le'), tokens);
    }
    return tokens;
  };
}

/**
 * True when both encodings always begin a new token between two texts, so that their counts add up exactly. Read off
 * the two patterns that cut a text before it is encoded: digits stand alone; white space and punctuation never follow a
 * letter inside a token, while marks and the `'` of a contraction do, and what is unassigned for us may be a letter
 * there; of what follows a line feed only another blank or, in o200k_base, a slash can belong to it. False: not sure.
 */
export function isTokenBorder(before: string, after: string): boolean {
  if (before === '' || after === '') return true;
  const last = before.slice(-2);
  const first = String.fromCodePoint(after.codePointAt(0) ?? 0);
  if (/\p{N}$/u.test(last)) return !/\p{N}/u.test(first);
  if (/\p{N}/u.test(first)) return !/[\s\u0085]$/u.test(last) || last.endsWith('\n');
  if (/\p{L}$/u.test(last)) return !/[\p{L}\p{M}\p{Cn}']/u.test(first);
  return last.endsWith('\n') && !/[\s/\u0085]/u.test(first);
}

function encoder(tokenizer: TokenizerName): Tiktoken {
  let found = encoders.get(tokenizer);
  if (found === undefined) {
    found = get_encoding(tokenizer);
    encoders.set(tokenizer, found);
  }
  return found;
}

function count(text: string, tokenizer: TokenizerName): number {
  if (text === '') return 0;
  if (!mayHoldLongRun(text)) return encode(text, tokenizer);
  let tokens = 0;
  let start = 0;
  for (const cut of cutsOfLongRuns(text)) {
    tokens += encode(text.slice(start, cut), tokenizer) + TOKENS_PER_CUT;
    start = cut;
  }
  return tokens + encode(text.slice(start), tokenizer);
}

function encode(text: string, tokenizer: TokenizerName): number {
  return encoder(tokenizer).encode_ordinary(text).length;
}

/** What one token of either encoding can be made of; digits come in threes at most. */
const ONE_CLASS = /^(?:[\p{L}\p{M}]+|[^\s\p{L}\p{N}]+|\s+)$/u;
const RUNS = /[\p{L}\p{M}]+|[^\s\p{L}\p{N}]+|\s+/gu;

/** A long run fills at least one of the halves of LONG_RUN that the text is laid out in: a look that ordinary text ends at once. */
function mayHoldLongRun(text: string): boolean {
  const step = LONG_RUN / 2;
  for (let start = 0; start + step <= text.length; start += step) {
    if (ONE_CLASS.test(text.slice(codePointBorder(text, start), codePointBorder(text, start + step)))) return true;
  }
  return false;
}

function* cutsOfLongRuns(text: string): Generator<number> {
  for (const { index, 0: run } of text.matchAll(RUNS)) {
    if (run.length <= LONG_RUN) continue;
    for (let at = PIECE; at < run.length; at += PIECE) yield codePointBorder(text, index + at);
  }
}

/** `at`, or one before when a surrogate pair stands across it. */
function codePointBorder(text: string, at: number): number {
  const low = text.charCodeAt(at);
  return low >= 0xdc00 && low <= 0xdfff && at > 0 && isHigh(text.charCodeAt(at - 1)) ? at - 1 : at;
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

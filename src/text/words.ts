/** The words of a statement as they are written, for comparing two of them word by word. Retrieval has its own terms: see analyse. */

const SCRIPTS = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}ー';
/** Han and kana count sign by sign. */
const WORDS = new RegExp(
  `[${SCRIPTS}]|[[\\p{L}\\p{N}\\p{M}]--[${SCRIPTS}]]+(?:['’][[\\p{L}\\p{M}]--[${SCRIPTS}]]+)*`,
  'gv',
);

/** In order. English contractions are opened: "isn't" is "is not", "it's" is "it is", but "Tom's" may be his and stays. */
export function wordsOf(form: string): string[] {
  const written = form.match(WORDS) ?? [];
  return CONTRACTED.test(form) ? written.flatMap((word) => (CONTRACTED.test(word) ? opened(word) : word)) : written;
}

const CONTRACTED = /['’]|cannot/i;

function opened(word: string): string[] {
  if (/^can(not|['’]t)$/i.test(word)) return [word.slice(0, 3), 'not'];
  if (/^won['’]t$/i.test(word)) return ['will', 'not'];
  const [, stem, short = ''] = /^(.+)(n['’]t|['’](?:re|m|ve|ll|s))$/i.exec(word) ?? [];
  const full = FULL[short.toLowerCase().replace('’', "'")];
  if (stem === undefined || full === undefined || (full === 'is' && !PRONOUN.test(stem))) return [word];
  return [stem, full];
}

const FULL: Readonly<Record<string, string>> = {
  "n't": 'not',
  "'re": 'are',
  "'m": 'am',
  "'ve": 'have',
  "'ll": 'will',
  "'s": 'is',
};

/** Behind these 's is a verb; behind a name it mostly tells whose. */
const PRONOUN = /^(it|that|there|here|he|she|what|who|where)$/i;

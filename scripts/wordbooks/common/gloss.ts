/** The form of a gloss, which is the same in all tables. */

/** English words of a gloss; a longer translation explains. */
const LONGEST_GLOSS = 3;

/** Senses that tell about the word and not its meaning. */
const ABOUT_THE_WORD =
  /^(surname|variant|old variant|archaic|japanese variant|erhua|see |cl:|abbr\.|also |used |kangxi|taiwan pr|classifier|counter|suffix|prefix|particle|phonetic|same as|onomat|emphatic|equivalent|indicates?|expresses|nominal|written form|place name|given name|radical)/i;

/** One to three English words in Latin letters; figures alone and signs such as brackets make none. */
export function isGloss(text: string): boolean {
  const plain = /^[\p{Script=Latin}\d][\p{Script=Latin}\d '.+#&/-]*$/u.test(text) && /\p{L}/u.test(text);
  return plain && text.split(' ').length <= LONGEST_GLOSS;
}

/** An English translation as a gloss: no remark in brackets, no "to" of a verb, no article, no "something". Undefined where the rest is none. */
export function cleanGloss(translation: string): string | undefined {
  const gloss = withoutRemarks(translation)
    .normalize('NFC')
    .replace(/[’ʼ]/g, "'")
    .replace(/[“”"]/g, '')
    .trim()
    .replace(/[.!?…]+$/, '')
    .replace(/^to (?!the |a )(?=\S)/i, '')
    .replace(/^(a|an|the) (?=\S)/i, '')
    .replace(/ (oneself|someone|something|sb|sth|somebody)$/, '')
    .trim();
  return isGloss(gloss) ? gloss : undefined;
}

/**
 * A sense of EDICT or CC-CEDICT as a gloss: what stands before a comma ("Tokyo, capital of Japan") tells enough, without "be" and "one's".
 * Undefined where it explains.
 */
export function cleanSense(sense: string): string | undefined {
  const first = withoutRemarks(sense)
    .split(/,(?!\d)|[;:]/)[0]!
    .trim();
  if (ABOUT_THE_WORD.test(first)) return undefined;
  return cleanGloss(
    first
      .replace(/^(to )?be (?=\S)/i, '')
      .replace(/ (one's|one)$/, '')
      .replace(/^(to )?(one's|oneself|someone's) (?=\S)/, ''),
  );
}

function withoutRemarks(text: string): string {
  return text
    .replace(/\([^()]*\)/g, ' ') // twice, for brackets in brackets: "dog (Canis (lupus) familiaris)"
    .replace(/\([^()]*\)|\[[^\]]*\]|\{[^}]*\}/g, ' ')
    .replace(/\s+/g, ' ');
}

/**
 * Small questions about raw text: can it be stored, does it show anything, how long is it, and its compatibility form.
 * Nothing here knows about words.
 */

/**
 * Why a text cannot be stored, or null. Postgres refuses NUL in text; a lone surrogate has no UTF-8 form and would
 * silently come back as U+FFFD.
 */
export function invalidText(text: string): 'nul' | 'lone_surrogate' | null {
  if (text.includes('\0')) return 'nul';
  // with the u flag a surrogate pair is one character, so only lone ones match
  return /\p{Surrogate}/u.test(text) ? 'lone_surrogate' : null;
}

/** White space, control and zero-width characters only (the blank Braille pattern and Hangul fillers show nothing either). */
export function isBlank(text: string): boolean {
  return !/[^\s\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u.test(text);
}

/** Length in bytes as stored and sent. */
export function utf8Length(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}

/** U+200B is kept, since it stands between words in scripts that write none of their spaces. */
const INVISIBLE = /(?!\u200b)\p{Default_Ignorable_Code_Point}/gu;

/**
 * Unicode's own bound for a stream-safe text (UAX 15). Normalising sorts a run of combining marks by insertion: 256 KB
 * of them take 16 s without the bound. U+FF9E and U+FF9F are letters that turn into marks.
 */
const TOO_MANY_MARKS = /([\p{M}\uff9e\uff9f]{30})[\p{M}\uff9e\uff9f]+/gu;

/**
 * The text in NFKC without invisible characters (soft hyphens, joiners, variation selectors, byte order marks), in time
 * linear in its length. For comparing, never for storing or showing.
 */
export function compatibilityForm(text: string): string {
  return text.replace(INVISIBLE, '').replace(TOO_MANY_MARKS, '$1').normalize('NFKC');
}

/**
 * Makes stored text safe to stand in a pack: no blank line inside a block, no line that could be taken for one of ours.
 * It does not judge what a text says; recalled text is data.
 */
import { isBlank } from '../text/unicode.ts';

/** Everything that some reader takes for a line end: CRLF, CR, VT, FF, the separators U+001C to U+001E, NEL, LS and PS. */
const LINE_ENDS = /\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]/g;

/**
 * Bidi embeddings, overrides and isolates can show a text in another order than it reads and, left open, reach into the
 * next block. Right-to-left text needs none of them; the marks that it may need (LRM, RLM, ALM) stay, as do joiners.
 */
const BIDI_CONTROLS = '\\u202a-\\u202e\\u2066-\\u2069';

/** Control characters show nothing and mean something to terminals. */
const UNPRINTABLE = new RegExp(`[^\\P{Cc}\\t\\n]|[${BIDI_CONTROLS}]`, 'gu');

/** The content as a block shows it: LF ends lines, no line is blank or ends in white space, nothing is unprintable. */
export function foldContent(text: string): string {
  return text
    .replace(LINE_ENDS, '\n')
    .replace(UNPRINTABLE, '')
    .split('\n')
    .filter((line) => !isBlank(line))
    .map((line) => line.trimEnd())
    .join('\n');
}

/** Puts a backslash before every line that looks like one of ours, and one more where backslashes stand already. */
export function neutralise(text: string): string {
  return mapLines(text, (line) => (looksLikeOurs(line) ? `\\${line}` : line));
}

/** Takes back what `neutralise` did: `restore(neutralise(text)) === text` for every text. */
export function restore(text: string): string {
  return mapLines(text, (line) => (line.startsWith('\\') && looksLikeOurs(line) ? line.slice(1) : line));
}

function mapLines(text: string, change: (line: string) => string): string {
  return text.split('\n').map(change).join('\n');
}

/**
 * Beginnings only, so that a line cut at its end looks like ours no more than the whole line does, and short ones, so
 * that a cut inside of what a reader tells our lines by (`### XMemo…`) does not make them unlike ours.
 */
const OURS =
  /^(?:#+ ?xmemo|(?:items|unchanged|budget|reference|context|withdrawn) ?:|\[ ?\p{Nd}+ ?\]|no matching xmemo)/u;

/** Nothing that begins like this looks like ours: the usual line, told without taking it apart. */
const PLAINLY_NOT_OURS = /^[\t ]*[ad-hj-mo-qstvx-z\d.,;:!?"'()<>*+-]/iu;

/** Whether a reader could take the line for a heading, a label, a reference or the empty answer; backslashes in front do not count. */
export function looksLikeOurs(line: string): boolean {
  return !PLAINLY_NOT_OURS.test(line) && OURS.test(skeleton(line));
}

/** UTF-16 units of a visible beginning that are looked at: more than ours are long. */
const LOOKED_AT = 80;

const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{M}]+/gu;
const LEADING = /^[\s\\\uff3c\ufe68]+/u;

/** Letters and signs of other scripts that look like those of our lines (after lower-casing, hence н for Н). */
const LOOK_ALIKES = new Map(
  ['аaαaвbβbсcϲcԁdеeεeһhнhıiіiιiмmμmոnνnоoοoгrѕsтtτtυuуyγyхxχx', 'ː:˸:։:׃:∶:꞉:♯#']
    .flatMap((pairs) => pairs.match(/../gu) ?? [])
    .map((pair) => [pair[0] ?? '', pair[1] ?? '']),
);

/** The line's beginning as it looks: without leading blanks, backslashes, marks and what is invisible, in plain lower case. */
function skeleton(line: string): string {
  const seen = line.replace(INVISIBLE, '').replace(LEADING, '').replace(/\s+/gu, ' ').slice(0, LOOKED_AT);
  const plain = seen.normalize('NFKD').replace(INVISIBLE, '').replace(LEADING, '').toLowerCase();
  return plain.replace(/[^\0-\x7f]/gu, (sign) => LOOK_ALIKES.get(sign) ?? sign);
}

const CONTROLS = new RegExp(`[\\s\\p{Cc}${BIDI_CONTROLS}]+`, 'gu');

/** A text as it stands inside one of our own lines: one line of at most `max` UTF-16 units, without `|`; blank text gives ''. */
export function inline(text: string, max: number): string {
  if (isBlank(text)) return '';
  const line = text.replace(CONTROLS, ' ').trim().replaceAll('|', '¦');
  return line.length <= max ? line : `${line.slice(0, graphemeCut(line, max - 1))}…`;
}

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });

/** Characters that stand for themselves whatever is beside them; the segmenter takes 0.5 µs for each. */
const ALWAYS_APART =
  /^[ -~\u00c0-\u02ff\u3001-\u3011\u3041-\u3096\u30a1-\u30fa\u30fc\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]*$/;

/**
 * The last grapheme border at or before `at`, counted from the beginning of `text`, which must be one. A first grapheme
 * longer than that (a letter under a heap of marks) is cut between code points: nothing may be too long to be cut.
 */
export function graphemeCut(text: string, at: number): number {
  if (text.length <= at) return text.length;
  const head = text.slice(0, at + 2);
  if (ALWAYS_APART.test(head)) return at;
  let cut = 0;
  for (const { index } of graphemes.segment(head)) {
    if (index > at) break;
    cut = index;
  }
  if (cut > 0) return cut;
  return /[\ud800-\udbff]$/.test(text.slice(0, at)) ? at - 1 : at;
}

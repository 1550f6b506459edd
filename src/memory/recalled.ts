/**
 * Recognises our own answers when they come back as a memory. An agent that stores what it was just told is told it twice the next time,
 * and then four times; services have been seen with thousands of such copies after a day.
 */

/** Beginnings of lines that people put before quoted text. */
const QUOTED = /^[\s>|*-]*/;

const HEADING = /^#{1,6} XMemo Context\s*$/i;
const REFERENCE = /^Reference: \S+ \| Type: \S+ \| Location: \S/;
const BUDGET = /^Budget: used_items=\d+\/\d+ used_tokens=\d+\/\d+/;
/** `[1] 2026-05-04 · agent · path`, the label line of a block. */
const LABEL = /^\[(\d{1,2})\] \d{4}-\d\d-\d\d( · .+)?$/;
const EMPTY = /^No matching XMemo memory was found\.?$/;
/** The structured pack, or a list of results, as JSON. */
const STRUCTURED = /^\s*\{[\s\S]*"retrieval_plan"\s*:/;

/** Share of a text that must be ours: less is a text about a pack, and worth keeping. */
const MOSTLY = 0.5;

/** Why a text is taken for one of our own answers, or undefined. */
export function recalledText(text: string): string | undefined {
  if (STRUCTURED.test(text) && /"usage_tracking_id"\s*:/.test(text)) return 'it is a structured answer of recall';
  const lines = text.split(/\r?\n/).map((line) => line.replace(QUOTED, '').trimEnd());
  const first = firstBlock(lines);
  const at = lines.findIndex((line, i) => isOpening(line) || i === first);
  if (at < 0) return undefined;
  const length = (part: readonly string[]) => part.reduce((sum, line) => sum + line.length, 0);
  if (length(lines.slice(at)) < MOSTLY * length(lines)) return undefined;
  return at === 0
    ? 'it begins with the heading, a reference or a label line of a recall answer'
    : 'most of it is a recall answer';
}

function isOpening(line: string): boolean {
  return HEADING.test(line) || REFERENCE.test(line) || BUDGET.test(line) || EMPTY.test(line);
}

/** A first label with its text below; further labels, where there are any, count on, so that only the last number 1 can begin them. */
function firstBlock(lines: readonly string[]): number | undefined {
  const labels = lines.flatMap((line, at) => {
    const number = LABEL.exec(line)?.[1];
    return number === undefined ? [] : [{ at, number: Number(number) }];
  });
  const blocks = labels.slice(labels.findLastIndex(({ number }) => number === 1));
  const at = blocks[0]?.at;
  if (at === undefined || !lines[at]!.startsWith('[1] ') || (lines[at + 1] ?? '') === '') return undefined;
  return blocks.every(({ number }, i) => number === i + 1) ? at : undefined;
}

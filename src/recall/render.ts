/** The exact text of a pack. Every fixed line ends with LF; context_text ends without one, and so does the answer. */
import { inline, neutralise } from './sanitize.ts';

export const EMPTY_ANSWER = 'No matching XMemo memory was found.';

/** UTF-16 units. A label is paid from the budget: it is 18 of 58 tokens of a short memory, so it is kept short. */
const LABEL_AUTHOR = 48;
const LABEL_PATH = 80;
/** UTF-16 units. References are read by programs: only what no program can mean is cut. */
const REFERENCE_PART = 512;

export interface Labelled {
  readonly author: string | null;
  readonly path: string | null;
  readonly occurredAt: Date | null;
  /** A newer memory of the same pack says something else. */
  readonly contradicted?: boolean | undefined;
}

export interface Referenced {
  readonly id: string;
  readonly type: string;
  readonly path: string | null;
}

export interface AnswerLines {
  readonly items: readonly Referenced[];
  readonly contextText: string;
  readonly maxItems: number;
  readonly maxTokens: number;
  /** Tokens of `contextText`, also when the budget is that of the whole answer. */
  readonly usedTokens: number;
  readonly dropped: number;
  readonly shortened: number;
  /** Memories that the reader holds already; undefined: no earlier pack was named. */
  readonly unchanged?: number | undefined;
}

const CONTRADICTED = 'contradicted by a newer memory';

/** `[n] 2026-05-04 · author · path`; what is unknown is left out. */
export function renderLabel(n: number, { author, path, occurredAt, contradicted }: Labelled): string {
  const parts = [day(occurredAt), inline(author ?? '', LABEL_AUTHOR), inline(path ?? '', LABEL_PATH)];
  if (contradicted) parts.push(CONTRADICTED);
  const known = parts.filter((part) => part !== '').join(' · ');
  return known === '' ? `[${n}]` : `[${n}] ${known}`;
}

/** The label line and, below it, folded text with lines that look like ours made harmless; no text, no second line. */
export function renderBlock(n: number, candidate: Labelled, text: string): string {
  const label = renderLabel(n, candidate);
  return text === '' ? label : `${label}\n${neutralise(text)}`;
}

export const BLOCK_GAP = '\n\n';

/** What a reader of an earlier pack should no longer rely on: `Withdrawn: <id> (gone), <id> (changed)`. */
export function renderWithdrawn(withdrawn: readonly { readonly id: string; readonly reason: string }[]): string {
  return `Withdrawn: ${withdrawn.map(({ id, reason }) => `${id} (${reason})`).join(', ')}`;
}

/** Blocks with one blank line between them, and nothing before or after. */
export function renderContext(blocks: readonly string[]): string {
  return blocks.join(BLOCK_GAP);
}

export function renderReference({ id, type, path }: Referenced): string {
  const [shownId, shownType, location] = [id, type, path ?? ''].map((part) => inline(part, REFERENCE_PART));
  return `Reference: ${shownId} | Type: ${shownType} | Location: ${location || '-'}`;
}

/** Everything before context_text, with its closing LF. */
export function renderHead(answer: Omit<AnswerLines, 'contextText'>): string {
  const { items, maxItems, maxTokens, usedTokens, dropped, shortened, unchanged } = answer;
  const budget =
    `Budget: used_items=${items.length}/${maxItems} used_tokens=${usedTokens}/${maxTokens} ` +
    `dropped=${dropped} shortened=${shortened}`;
  const lines = [
    '### XMemo Context',
    `Items: ${items.length}`,
    ...(unchanged === undefined ? [] : [`Unchanged: ${unchanged}`]),
    ...(dropped > 0 || shortened > 0 ? [budget] : []),
    ...items.map(renderReference),
    'Context:',
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/** The whole text answer. Nothing matched (nothing shown, dropped, known or withdrawn): the empty sentence alone. */
export function renderAnswer(answer: AnswerLines): string {
  if (answer.contextText === '' && answer.dropped === 0 && !answer.unchanged) return EMPTY_ANSWER;
  return renderHead(answer) + answer.contextText;
}

function day(date: Date | null): string {
  return date === null || Number.isNaN(date.getTime()) ? '' : (date.toISOString().split('T')[0] ?? '');
}

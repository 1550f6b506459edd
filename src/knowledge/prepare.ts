/** Everything of a document that needs no connection: its sections with their words and vectors, made before the transaction. */
import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import type { Deps } from '../deps.ts';
import { MAX_PATH } from '../http/fields.ts';
import { ownTerms } from '../text/indexed.ts';
import type { Engine } from './engine.ts';
import type { Section } from './sections.ts';

export interface Prepared {
  readonly id: string;
  readonly place: string;
  readonly position: number;
  readonly path: string;
  readonly section: Section;
  readonly content_hash: Buffer;
  readonly words: ReturnType<Engine['wordsOf']>;
  /** Number of the section's own terms. */
  readonly termCount: number;
  /** Undefined: they are made later. */
  readonly passages: Awaited<ReturnType<Engine['passagesOf']>>[number] | undefined;
}

/** Sections that follow each other, and the contents beside them, which lend their words; null at the ends of the document. */
export interface Piece {
  /** Place of the first section in its document. */
  readonly first: number;
  readonly sections: readonly Section[];
  readonly before: string | null;
  readonly after: string | null;
}

/** A sender waits this long for vectors; the rest are made in the background, as those of memories are. */
const PATIENCE_MS = 5_000;
const EMBEDDED_AT_ONCE = 16;

/** What is searched of a document beside its text. */
export interface Described {
  readonly title: string;
  readonly occurred_at: Date;
}

type Memory = Parameters<Engine['wordsOf']>[0];

const toMemory = ({ title, occurred_at }: Described, content: string, headings: readonly string[]): Memory => ({
  content,
  path: pathOf(title, headings),
  author: null,
  occurred_at,
  created_at: occurred_at,
});

const memoriesOf = (document: Described, sections: readonly Section[]): Memory[] =>
  sections.map(({ content, headings }) => toMemory(document, content, headings));

type Passages = Awaited<ReturnType<Engine['passagesOf']>>;

/** `passages`: the vectors of the first sections, as far as there are any. */
export async function prepare(
  engine: Engine,
  document: Described,
  { first, sections, before, after }: Piece,
  passages: Passages = [],
): Promise<Prepared[]> {
  const { occurred_at } = document;
  const beside = (content: string | null) => (content === null ? undefined : toMemory(document, content, []));
  const memories = memoriesOf(document, sections);
  const prepared: Prepared[] = [];
  for (const [i, memory] of memories.entries()) {
    const id = uuidv7();
    const position = first + i;
    prepared.push({
      id,
      place: engine.placeOf({ id, position, occurred_at, created_at: occurred_at }),
      position,
      path: memory.path!,
      section: sections[i]!,
      content_hash: createHash('sha256').update(memory.content).digest(),
      words: engine.wordsOf(memory, memories[i - 1] ?? beside(before), memories[i + 1] ?? beside(after)),
      termCount: ownTerms(memory).length,
      passages: passages[i],
    });
    // a long document must not hold up everybody else
    await nextTurn();
  }
  return prepared;
}

/** The vectors of the first sections, as far as time goes; fewer when the embedder fails. */
export async function embed(
  deps: Deps,
  engine: Engine,
  document: Described,
  sections: readonly Section[],
): Promise<Passages> {
  const memories = memoriesOf(document, sections);
  const deadline = performance.now() + PATIENCE_MS;
  const made: Passages = [];
  try {
    while (made.length < memories.length && performance.now() < deadline) {
      made.push(
        ...(await engine.passagesOf(deps.embedder, memories.slice(made.length, made.length + EMBEDDED_AT_ONCE))),
      );
      await nextTurn();
    }
  } catch (error) {
    deps.log.warn({ err: error, event: 'embedding_failed' }, 'a document is stored without all of its vectors');
  }
  return made;
}

const MAX_TITLE = 500;
const PATH_PART = 80;

/** One line, also when it comes from the document. */
export function titleOf(title: string | undefined | null): string {
  const line = (title ?? '').replace(/[\s\p{Cc}]+/gu, ' ').trim();
  return whole(line.slice(0, MAX_TITLE)) || 'Untitled';
}

/** `title/heading/heading`: its words are searched, and it stands in the reference line. */
function pathOf(title: string, headings: readonly string[]): string {
  const parts = [title, ...headings.filter((heading, i) => i > 0 || heading !== title)];
  const clean = (part: string) => whole(titleOf(part.replaceAll('/', ' ')).slice(0, PATH_PART)).trim();
  return whole(parts.map(clean).join('/').slice(0, MAX_PATH)).replace(/\/$/, '');
}

/** Without half of a pair at the cut. */
const whole = (text: string): string => text.replace(/\p{Surrogate}$/u, '');

/** Everything of a document that needs no connection: its sections with their words and vectors, made before the transaction. */
import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import type { Deps } from '../deps.ts';
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

/** A sender waits this long for vectors; the rest are made in the background, as those of memories are. */
const PATIENCE_MS = 5_000;
const EMBEDDED_AT_ONCE = 16;

/** @param document its title and time are part of what is searched */
export async function prepare(
  deps: Deps,
  engine: Engine,
  document: { readonly title: string; readonly occurredAt: Date },
  sections: readonly Section[],
): Promise<Prepared[]> {
  const { title, occurredAt: occurred_at } = document;
  const memories = sections.map(({ content, headings }) => ({
    content,
    path: pathOf(title, headings),
    author: null,
    occurred_at,
    created_at: occurred_at,
  }));
  const passages = await embed(deps, engine, memories);
  const prepared: Prepared[] = [];
  for (const [position, memory] of memories.entries()) {
    const id = uuidv7();
    prepared.push({
      id,
      place: engine.placeOf({ id, position, occurred_at, created_at: occurred_at }),
      position,
      path: memory.path,
      section: sections[position]!,
      content_hash: createHash('sha256').update(memory.content).digest(),
      words: engine.wordsOf(memory, memories[position - 1], memories[position + 1]),
      termCount: ownTerms(memory).length,
      passages: passages[position],
    });
    // a long document must not hold up everybody else
    await nextTurn();
  }
  return prepared;
}

/** The vectors of the first sections, as far as time goes; fewer when the embedder fails. */
async function embed(deps: Deps, engine: Engine, memories: Parameters<Engine['passagesOf']>[1]) {
  const deadline = performance.now() + PATIENCE_MS;
  const made: Awaited<ReturnType<Engine['passagesOf']>> = [];
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

const MAX_TITLE = 256;
const PATH_PART = 80;
const MAX_PATH = 1_024;

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

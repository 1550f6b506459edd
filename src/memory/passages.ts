/** The vectors of a memory, made before any connection is taken. */
import type { Deps } from '../deps.ts';
import type { Embedder } from '../embed/embedder.ts';
import { densePrefix, type Indexable } from '../text/indexed.ts';
import type { PassageRow } from './store.ts';

/** When the embedder fails the memory is stored all the same: it is found by its words. */
export async function embedPassages(deps: Deps, memory: Indexable): Promise<PassageRow[]> {
  try {
    return await passagesOf(deps.embedder, memory);
  } catch (error) {
    deps.log.warn({ err: error, event: 'embedding_failed' }, 'a memory is stored without vectors');
    return [];
  }
}

async function passagesOf(embedder: Embedder, memory: Indexable): Promise<PassageRow[]> {
  const prefix = densePrefix(memory);
  const spans = await embedder.split(memory.content, prefix);
  const embeddings = await embedder.embed(
    spans.map((span) => prefix + memory.content.slice(span.start, span.end)),
    'passage',
  );
  return spans.map((span, i) => ({ ...span, embedding: embeddings[i]! }));
}

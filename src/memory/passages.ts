/** The vectors of a memory, made before any connection is taken. */
import type { Deps } from '../deps.ts';
import type { Embedder } from '../embed/embedder.ts';
import { densePrefix, type Indexable } from '../text/indexed.ts';
import type { PassageRow } from './passage-store.ts';

/** When the embedder fails the memory is stored all the same: it is found by its words, and embedded later. */
export async function embedPassages(deps: Deps, memory: Indexable): Promise<PassageRow[]> {
  try {
    const [passages] = await passagesOf(deps.embedder, [memory]);
    return passages!;
  } catch (error) {
    deps.log.warn({ err: error, event: 'embedding_failed' }, 'a memory is stored without vectors');
    return [];
  }
}

/** The passages of each memory. All texts go to the embedder in one call, which makes fewer requests to an endpoint. */
export async function passagesOf(embedder: Embedder, memories: readonly Indexable[]): Promise<PassageRow[][]> {
  const cut = await Promise.all(
    memories.map(async (memory) => {
      const prefix = densePrefix(memory);
      const spans = await embedder.split(memory.content, prefix);
      return { spans, texts: spans.map((span) => prefix + memory.content.slice(span.start, span.end)) };
    }),
  );
  const embeddings = (
    await embedder.embed(
      cut.flatMap(({ texts }) => texts),
      'passage',
    )
  ).values();
  return cut.map(({ spans }) => spans.map((span) => ({ ...span, embedding: embeddings.next().value! })));
}

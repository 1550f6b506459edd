/** The vectors of a memory, made before any connection is taken. */
import type { Deps } from '../deps.ts';
import { type Embedder, EmbeddingFailed } from '../embed/embedder.ts';
import { densePrefix, type Indexable } from '../text/indexed.ts';
import type { PassageRow } from './passage-store.ts';

/** When the embedder fails the memory is stored all the same: it is found by its words, and embedded later. */
export async function embedPassages(deps: Deps, memory: Indexable): Promise<PassageRow[]> {
  const [passages] = await embedEach(deps, [memory]);
  return passages!;
}

const AT_ONCE = 64;

/** The passages of each memory, some memories a call. Where one of them is refused, its call has none; where the embedder fails, none after it. */
export async function embedEach(deps: Deps, memories: readonly Indexable[]): Promise<PassageRow[][]> {
  const made: PassageRow[][] = [];
  let failed = false;
  for (let from = 0; from < memories.length; from += AT_ONCE) {
    const some = memories.slice(from, from + AT_ONCE);
    try {
      made.push(...(failed ? some.map(() => []) : await passagesOf(deps.embedder, some)));
    } catch (error) {
      deps.log.warn({ err: error, event: 'embedding_failed' }, 'memories are stored without vectors');
      failed = !(error instanceof EmbeddingFailed && error.cure === 'texts');
      made.push(...some.map(() => []));
    }
  }
  return made;
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

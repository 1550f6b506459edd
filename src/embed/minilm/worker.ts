/**
 * The thread that runs the model, since a forward pass is synchronous (2 ms for a query, 30 ms for a full passage) and
 * must not hold the event loop of the server.
 *
 * Queries go first. Everything else takes turns one text at a time, so that a query waits for one forward pass at most
 * and a small write is not stuck behind a bulk import.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { Embedding, EmbedKind, Span } from '../embedder.ts';
import { gloss } from './gloss/index.ts';
import { loadModel, type Model, type ModelFiles, ModelUnavailable } from './model.ts';
import { splitSpans } from './split.ts';
import { MAX_TOKENS, SPECIAL_TOKENS } from './tokenizer.ts';

export type Order =
  | { readonly type: 'embed'; readonly texts: readonly string[]; readonly kind: EmbedKind }
  | { readonly type: 'split'; readonly text: string; readonly prefix: string };

export type ToWorker =
  | { readonly type: 'order'; readonly id: number; readonly order: Order }
  | { readonly type: 'close' };

export type FromWorker =
  | { readonly type: 'ready' }
  | { readonly type: 'unavailable'; readonly reason: string; readonly detail: string }
  | { readonly type: 'done'; readonly id: number; readonly result: Embedding[] | Span[] }
  | { readonly type: 'failed'; readonly id: number; readonly detail: string };

interface Job {
  readonly id: number;
  readonly order: Order;
  readonly embeddings: Embedding[];
}

/** However long the prefix, a passage is left this much of the window: an excess is cut off the end by the model. */
const MIN_PASSAGE_TOKENS = 64;

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

function split(model: Model, text: string, prefix: string): Span[] {
  const count = (part: string) => model.wordPieces.count(gloss(part));
  const room = MAX_TOKENS - SPECIAL_TOKENS - count(prefix);
  return splitSpans(text, Math.max(MIN_PASSAGE_TOKENS, room), count);
}

/** Does one text of a job; the result once there is no text left. */
async function step(model: Model, { order, embeddings }: Job): Promise<Embedding[] | Span[] | undefined> {
  if (order.type === 'split') return split(model, order.text, order.prefix);
  const text = order.texts[embeddings.length];
  if (text !== undefined) {
    const read = gloss(text);
    embeddings.push({ ...(await model.embed(read)), ...(read !== text && { gloss: read }) });
  }
  return embeddings.length === order.texts.length ? embeddings : undefined;
}

function serve(port: MessagePort, model: Model): void {
  const send = (message: FromWorker) => port.postMessage(message);
  const queries: Job[] = [];
  const others: Job[] = [];
  let busy = false;
  let closing = false;

  async function advance(queue: Job[]): Promise<void> {
    const job = queue.shift()!;
    try {
      const result = await step(model, job);
      if (result) send({ type: 'done', id: job.id, result });
      else queue.push(job);
    } catch (error) {
      send({ type: 'failed', id: job.id, detail: messageOf(error) });
    }
  }

  async function work(): Promise<void> {
    if (busy) return;
    busy = true;
    while (!closing && queries.length + others.length > 0) {
      await advance(queries.length > 0 ? queries : others);
      // Lets messages in: a query that came meanwhile is next.
      await nextTurn();
    }
    busy = false;
    if (closing) {
      await model.close();
      port.close();
    }
  }

  port.on('message', (message: ToWorker) => {
    if (message.type === 'close') closing = true;
    else {
      const { id, order } = message;
      const queue = order.type === 'embed' && order.kind === 'query' ? queries : others;
      queue.push({ id, order, embeddings: [] });
    }
    void work();
  });
  send({ type: 'ready' });
}

async function start(port: MessagePort, files: ModelFiles): Promise<void> {
  try {
    serve(port, await loadModel(files));
  } catch (error) {
    const reason = error instanceof ModelUnavailable ? error.message : 'it cannot be loaded';
    const detail = messageOf(error instanceof ModelUnavailable ? (error.cause ?? error) : error);
    const message: FromWorker = { type: 'unavailable', reason, detail };
    port.postMessage(message);
    port.close();
  }
}

if (parentPort) await start(parentPort, workerData as ModelFiles);

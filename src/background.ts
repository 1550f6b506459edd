/** Work that goes on beside the requests for as long as the process serves. */
import { setTimeout as sleep } from 'node:timers/promises';

export interface Background {
  /** Returns when the work has ended. */
  stop(): Promise<void>;
}

/** Begins at once. `work` ends soon after the signal aborts, and never rejects. */
export function inBackground(work: (signal: AbortSignal) => Promise<void>): Background {
  const stopping = new AbortController();
  const ended = work(stopping.signal);
  return {
    async stop() {
      stopping.abort();
      await ended;
    },
  };
}

/** Milliseconds until the next turn, or less when the signal aborts. Keeps no process alive. */
export const pauseFor = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal, ref: false }).catch(() => {});

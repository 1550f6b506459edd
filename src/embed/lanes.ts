/** Bounds how many calls are under way; the others wait in order. */
export type Lanes = <T>(signal: AbortSignal, work: () => Promise<T>) => Promise<T>;

/** A call whose signal is aborted while it waits rejects with the signal's reason. */
export function makeLanes(width: number): Lanes {
  const waiting = new Set<() => void>();
  let free = width;

  function turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        waiting.delete(go);
        reject(signal.reason);
      };
      const go = () => {
        waiting.delete(go);
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      waiting.add(go);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }

  return async (signal, work) => {
    signal.throwIfAborted();
    if (free > 0) free--;
    else await turn(signal);
    try {
      return await work();
    } finally {
      const [next] = waiting;
      if (next) next();
      else free++;
    }
  };
}

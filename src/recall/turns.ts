/** Work that is told in steps, so that other requests have their turn between them. */
import { setImmediate as nextTurn } from 'node:timers/promises';

const TURN_MS = 20;

export async function inTurns<T>(steps: Generator<void, T>): Promise<T> {
  for (let turned = performance.now(); ; ) {
    const step = steps.next();
    if (step.done) return step.value;
    if (performance.now() - turned < TURN_MS) continue;
    await nextTurn();
    turned = performance.now();
  }
}

/** Decides `memory_type: auto` from what the memory says of itself. Rules, not a model: predictable, free, and easy to overrule. */
import type { MemoryType } from '../types.ts';

const IDENTITY =
  /^(my name is|i am an?\b|i'm an?\b|i work (as|at|for)\b|ich bin|ich heiße|me llamo|soy\b|저는|제 이름|私は|我是|我叫)/i;
const PROCEDURE =
  /^(always|never|to \w+,|how to|first,|step \d|when you|before you|after you|run\b|use\b|don't|do not|must)|```|^\s*1[.)] /im;

export function classify(memory: {
  readonly content: string;
  readonly sessionId?: string | undefined;
  readonly occurredAt?: Date | undefined;
}): MemoryType {
  const start = memory.content.slice(0, 2_000).trim();
  if (memory.sessionId !== undefined || memory.occurredAt !== undefined) return 'episodic';
  if (IDENTITY.test(start)) return 'identity';
  if (PROCEDURE.test(start)) return 'procedural';
  return 'semantic';
}

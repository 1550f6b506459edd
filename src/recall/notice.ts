/** The line of a pack that names what is withdrawn. */
import type { Withdrawn } from './delta.ts';
import { BLOCK_GAP, renderWithdrawn } from './render.ts';

export interface Notice {
  /** Undefined: nothing is withdrawn, or nothing fits. */
  readonly text: string | undefined;
  /** Tokens that it leaves to the items. */
  readonly room: number;
}

/** As many as fit. A line that is cut leaves nothing to the items, since a larger budget would take back what one of them was given. */
export function makeNotice(withdrawn: readonly Withdrawn[], room: number, count: (text: string) => number): Notice {
  if (withdrawn.length === 0) return { text: undefined, room };
  const costOf = (named: number) => count(`${BLOCK_GAP}${renderWithdrawn(withdrawn.slice(0, named))}`);
  const cost = costOf(withdrawn.length);
  if (cost <= room) return { text: renderWithdrawn(withdrawn), room: room - cost };
  // every name costs more than none, so halving finds the most that fit, in eight counts and not in hundreds
  let [fits, tooMany] = [0, withdrawn.length];
  while (tooMany - fits > 1) {
    const named = (fits + tooMany) >> 1;
    if (costOf(named) <= room) fits = named;
    else tooMany = named;
  }
  return { text: fits === 0 ? undefined : renderWithdrawn(withdrawn.slice(0, fits)), room: 0 };
}

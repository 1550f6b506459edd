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
  for (let named = withdrawn.length; named > 0; named--) {
    const text = renderWithdrawn(withdrawn.slice(0, named));
    const cost = count(`${BLOCK_GAP}${text}`);
    if (cost <= room) return { text, room: named === withdrawn.length ? room - cost : 0 };
  }
  return { text: undefined, room: 0 };
}

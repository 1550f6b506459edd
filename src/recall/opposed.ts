/** Two sides of one matter stand side by side, the newer first, so that a reader sees that there are two and which one holds. */
import type { MemoryRow } from '../db/memories.ts';
import { type Contradiction, contradictionOf, type Statement, toStatement } from '../text/contradiction.ts';
import type { Scored } from './rank.ts';

export interface Opposition {
  readonly newer: string;
  readonly older: string;
  readonly reason: Contradiction | 'semantic_key';
}

interface Side {
  readonly id: string;
  readonly entry: Scored;
}

/**
 * The first `depth` in rank order, but for those that another one of them contradicts: they follow it, newest first. So the order depends on
 * no budget of tokens.
 */
export function sideBySide<S extends Side>(
  ranked: readonly S[],
  depth: number,
  rows: ReadonlyMap<string, MemoryRow>,
): { ordered: S[]; oppositions: Opposition[] } {
  const said = new Map<string, Said>();
  for (const [seq, row] of rows) said.set(seq, { row, statement: toStatement(row.content) });
  const saidBy = (side: S) => said.get(side.entry.candidate.seq);
  const left = ranked.slice(0, depth);
  const ordered: S[] = [];
  const oppositions: Opposition[] = [];
  for (let first = left.shift(); first !== undefined; first = left.shift()) {
    const side = first;
    const against = left.flatMap((other) => {
      const reason = opposes(saidBy(side), saidBy(other));
      return reason ? [{ other, reason }] : [];
    });
    for (const { other, reason } of against) {
      left.splice(left.indexOf(other), 1);
      const [newer, older] = isNewer(other, side) ? [other, side] : [side, other];
      oppositions.push({ newer: newer.id, older: older.id, reason });
    }
    ordered.push(...[side, ...against.map(({ other }) => other)].sort((a, b) => (isNewer(a, b) ? -1 : 1)));
  }
  return { ordered: [...ordered, ...ranked.slice(depth)], oppositions };
}

interface Said {
  readonly row: MemoryRow;
  readonly statement: Statement;
}

function opposes(a: Said | undefined, b: Said | undefined): Opposition['reason'] | undefined {
  if (!a || !b || a.row.content === b.row.content) return undefined;
  const sameKey = a.row.semantic_key !== null && a.row.semantic_key === b.row.semantic_key;
  if (sameKey && a.row.space_id === b.row.space_id) return 'semantic_key';
  return contradictionOf(a.statement, b.statement);
}

/** By when it was true, or became known where that is unknown; of two from one instant the later arrival. */
function isNewer({ entry: { candidate: a } }: Side, { entry: { candidate: b } }: Side): boolean {
  const [x, y] = [a, b].map(({ occurred_at, created_at }) => (occurred_at ?? created_at).getTime());
  return x === y ? BigInt(a.seq) > BigInt(b.seq) : x! > y!;
}

/** Forgets everything that a filter matches, all or nothing and without a cap. */
import { auditAll } from '../db/audit.ts';
import { assertInside, spacesOf } from '../db/boundary.ts';
import type { Tx } from '../db/db.ts';
import { findSpaces } from '../db/spaces.ts';
import { type Sql, sql } from '../db/sql.ts';
import { type Filters, matches, visible } from '../db/visible.ts';
import type { Deps } from '../deps.ts';
import { invalid } from '../errors.ts';
import type { Principal } from '../types.ts';
import { proveAllGone, writeReceipts } from './receipt.ts';
import { removeMemories } from './remove.ts';
import { touchSpace } from './store.ts';
import { addTotals, lockAllSessions } from './words.ts';

export interface ForgetManyInput {
  readonly filters: Filters;
  readonly team: string | undefined;
  /** Must be said when no filter narrows the request. */
  readonly all: boolean;
  readonly mode: 'soft_delete' | 'hard_delete';
  readonly reason: string | null;
  readonly dryRun: boolean;
}

export interface ForgottenMany {
  readonly count: number;
  readonly at: Date;
}

/** Memories a statement: bounds the time of each, not their number. */
const BATCH = 500;

/** @throws ApiError validation_error when nothing narrows the request and `all` is not said; boundary_denied */
export async function forgetMany(deps: Deps, principal: Principal, input: ForgetManyInput): Promise<ForgottenMany> {
  const { filters, team, mode, reason, dryRun } = input;
  if (!input.all && team === undefined && !narrows(filters)) {
    throw invalid('body', 'all', 'no filter was given: say all=true to forget everything that this token may see');
  }
  assertInside(principal, filters);
  const spaces = await findSpaces(deps.db, spacesOf(principal, team));
  const at = deps.now();
  const predicate = sql`${visible(principal, at)} and ${matches(filters)}`;
  if (dryRun) {
    const [row] = await deps.db.transaction({ spaces, readOnly: true }, (tx) =>
      tx.query<{ n: number }>(
        sql`select count(*)::int as n from memories m where m.space_id = any (${spaces}::int[]) and ${predicate}`,
      ),
    );
    return { count: row!.n, at };
  }
  return deps.db.transaction({ spaces, owner: principal.owner }, async (tx) => {
    let count = 0;
    for (const space of [...spaces].sort((a, b) => a - b)) {
      await lockAllSessions(tx, space);
      const before = count;
      let totals = { memories: 0, terms: 0 };
      for (;;) {
        const rows = await nextBatch(tx, space, predicate);
        if (rows.length === 0) break;
        const seqs = rows.map((row) => row.seq);
        const removed = await removeMemories(
          tx,
          space,
          seqs,
          mode === 'hard_delete' ? { kind: 'hard' } : { kind: 'soft', at },
        );
        const checks = await proveAllGone(tx, principal, space, seqs, at);
        await writeReceipts(tx, space, rows, { mode, reason, forgotten_at: at, checks });
        count += rows.length;
        totals = addTotals(totals, removed);
        await auditAll(
          tx,
          principal,
          rows.map(({ id }) => ({ action: 'memory.forget', target: id, at })),
        );
      }
      if (count > before) await touchSpace(tx, space, totals);
    }
    return { count, at };
  });
}

/** Whether a filter beside the status was given. */
function narrows({ statuses: _, ...rest }: Filters): boolean {
  return Object.values(rest).some(
    (value) =>
      value !== undefined &&
      !(typeof value === 'object' && Object.keys(value).length === 0 && !(value instanceof Date)),
  );
}

function nextBatch(
  tx: Tx,
  space: number,
  predicate: Sql,
): Promise<{ seq: string; id: string; bucket: string; scope: string | null }[]> {
  return tx.query(sql`
    select m.seq, m.id, m.bucket, m.scope from memories m where m.space_id = ${space} and ${predicate}
    order by m.seq limit ${BATCH} for update of m`);
}

/** What a month came to, by currency; summed in SQL, exactly. */
import { spacesOf } from '../db/boundary.ts';
import { findSpaces } from '../db/spaces.ts';
import type { Deps } from '../deps.ts';
import type { Principal } from '../types.ts';
import { DEFAULT_CURRENCY, type Monthly } from './schema.ts';
import { sumByMonth, sumSpent, type TransactionFilters } from './store.ts';

export interface SummaryInput {
  readonly team: string | undefined;
  /** Absent: the present ones, UTC. */
  readonly month: number | undefined;
  readonly year: number | undefined;
  /** How many months, ending with that one. */
  readonly months: number;
  readonly filters: Pick<TransactionFilters, 'currency' | 'type' | 'bucket' | 'scope' | 'asOf'>;
}

export interface Summary {
  readonly month: string;
  readonly year: number;
  readonly currency: string;
  /** Exact decimal: expenses less refunds, or the sum of the one type that was asked for. */
  readonly total: string;
  /** The transactions behind it. */
  readonly count: number;
  readonly summary: readonly Monthly[];
}

export async function summarise(deps: Deps, principal: Principal, input: SummaryInput): Promise<Summary> {
  const now = deps.now();
  const year = input.year ?? now.getUTCFullYear();
  const month = input.month ?? now.getUTCMonth() + 1;
  const first = firstDay(year, month - input.months + 1);
  const range = { dateFrom: day(first), dateTo: day(new Date(firstDay(year, month + 1).getTime() - 1)) };
  const spaces = await findSpaces(deps.db, spacesOf(principal, input.team));
  return deps.db.transaction({ spaces, readOnly: true }, async (tx) => {
    const summary = await sumByMonth(tx, spaces, principal, { ...input.filters, ...range });
    const name = day(firstDay(year, month)).slice(0, 7);
    const currency =
      input.filters.currency ?? summary.find((line) => line.month === name)?.currency ?? DEFAULT_CURRENCY;
    const spent = await sumSpent(tx, spaces, principal, {
      ...input.filters,
      ...range,
      dateFrom: `${name}-01`,
      currency,
    });
    return { month: name, year, currency, ...spent, summary };
  });
}

/** Months below 1 and above 12 reach into other years. */
const firstDay = (year: number, month: number): Date => new Date(Date.UTC(year, month - 1, 1));
const day = (date: Date): string => date.toISOString().slice(0, 10);

/** The verbs of the ledger: enter, find, list and delete a transaction. */
import { v7 as uuidv7 } from 'uuid';
import { audit } from '../db/audit.ts';
import { spacesOf, spaceToWrite } from '../db/boundary.ts';
import { ensureSpace, findSpaces } from '../db/spaces.ts';
import type { Deps } from '../deps.ts';
import { ApiError } from '../errors.ts';
import type { Agent, Principal } from '../types.ts';
import {
  deleteTransaction,
  findTransaction,
  insertTransaction,
  listTransactions,
  type NewTransaction,
  type TransactionFilters,
  type TransactionRow,
} from './store.ts';

/** Checked and normalised, boundaries included. */
export interface RecordInput
  extends Omit<NewTransaction, 'id' | 'owner_id' | 'transaction_date' | 'agent_id' | 'agent_instance' | 'created_at'> {
  readonly team: string | undefined;
  /** Undefined: today, UTC. */
  readonly transaction_date: string | undefined;
}

export async function record(
  deps: Deps,
  principal: Principal,
  agent: Agent,
  input: RecordInput,
): Promise<TransactionRow> {
  const { team, transaction_date, ...rest } = input;
  const now = deps.now();
  const transaction: NewTransaction = {
    ...rest,
    id: uuidv7({ msecs: now.getTime() }),
    owner_id: principal.owner,
    transaction_date: transaction_date ?? now.toISOString().slice(0, 10),
    agent_id: agent.id ?? null,
    agent_instance: agent.instance ?? null,
    created_at: now,
  };
  const space = await ensureSpace(deps.db, spaceToWrite(principal, team));
  const { id } = await deps.db.transaction({ spaces: [space], owner: principal.owner }, async (tx) => {
    await insertTransaction(tx, space, transaction);
    await audit(tx, principal, { action: 'ledger.record', target: transaction.id, at: now });
    return { id: transaction.id };
  });
  return find(deps, principal, id);
}

/** @throws ApiError not_found */
export async function find(deps: Deps, principal: Principal, id: string): Promise<TransactionRow> {
  const spaces = await findSpaces(deps.db, spacesOf(principal));
  const row = await deps.db.transaction({ spaces, readOnly: true }, (tx) => findTransaction(tx, spaces, principal, id));
  if (!row) throw noSuch();
  return row;
}

export async function list(
  deps: Deps,
  principal: Principal,
  team: string | undefined,
  filters: TransactionFilters,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ rows: TransactionRow[]; total: number }> {
  const spaces = await findSpaces(deps.db, spacesOf(principal, team));
  return deps.db.transaction({ spaces, readOnly: true }, (tx) =>
    listTransactions(tx, spaces, principal, filters, page),
  );
}

/** For good. A bucket or scope that is named must be the transaction's. @throws ApiError not_found */
export async function remove(
  deps: Deps,
  principal: Principal,
  id: string,
  named: Pick<TransactionFilters, 'bucket' | 'scope'> = {},
): Promise<{ id: string; at: Date }> {
  const spaces = await findSpaces(deps.db, spacesOf(principal));
  const at = deps.now();
  return deps.db.transaction({ spaces, owner: principal.owner }, async (tx) => {
    if (!(await deleteTransaction(tx, spaces, principal, id, named))) throw noSuch();
    await audit(tx, principal, { action: 'ledger.delete', target: id, at });
    return { id, at };
  });
}

const noSuch = (): ApiError => new ApiError('not_found', 'no such transaction is visible to this token');

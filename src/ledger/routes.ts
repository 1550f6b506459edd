/** HTTP of the ledger. */
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { assertInside } from '../db/boundary.ts';
import type { Deps } from '../deps.ts';
import { invalid } from '../errors.ts';
import { agentOf, principalOf, requireScope } from '../http/auth.ts';
import { filterOf, idParams, toDate, uuidOf } from '../http/fields.ts';
import { repeatable } from '../http/idempotency.ts';
import { targetOf } from '../http/target.ts';
import { withWarnings } from '../http/wire.ts';
import * as schema from './schema.ts';
import type { TransactionRow, TransactionType } from './store.ts';
import { summarise } from './summary.ts';
import { find, list, type RecordInput, record, remove } from './transactions.ts';

const READ = { scopes: ['ledger:read' as const] };
const WRITE = { scopes: ['ledger:write' as const] };
const TAGS = ['ledger'];

export const ledgerRoutes =
  (deps: Deps): FastifyPluginAsyncZod =>
  async (app) => {
    app.post('/ledger/transactions', {
      config: WRITE,
      schema: {
        operationId: 'recordTransaction',
        tags: TAGS,
        summary: 'Enter a transaction',
        description: 'An expense, income, refund or transfer. The amount is positive; the type gives the direction.',
        body: schema.transactionBody,
        response: { 201: schema.transactionReply },
      },
      handler: async (request, reply) => reply.code(201).send(await enter(request, request.body)),
    });

    app.post('/ledger/expenses', {
      config: WRITE,
      schema: {
        operationId: 'recordExpense',
        tags: TAGS,
        summary: 'Enter an expense',
        body: schema.expenseBody,
        response: { 201: schema.transactionReply },
      },
      handler: async (request, reply) =>
        reply.code(201).send(await enter(request, { ...request.body, transaction_type: 'expense' })),
    });

    app.get('/me/ledger/transactions', {
      config: READ,
      schema: {
        operationId: 'listTransactions',
        tags: TAGS,
        summary: 'List transactions',
        description: 'The latest day first. Every filter narrows; absent, null and `%` do not.',
        querystring: schema.listQuery,
        response: { 200: schema.listReply },
      },
      handler: async (request) => {
        const { query: q } = request;
        const filters = {
          ...commonFilters(request, q),
          query: q.query,
          dateFrom: q.date_from,
          dateTo: q.date_to,
          category: filterOf(q.category),
          minAmount: q.min_amount,
          maxAmount: q.max_amount,
        };
        const { rows, total } = await list(deps, principalOf(request), filterOf(q.team_id), filters, q);
        const transactions = rows.map(toWire);
        return withWarnings(request, { transactions, items: transactions, total, limit: q.limit, offset: q.offset });
      },
    });

    app.get('/me/ledger/monthly-summary', {
      config: READ,
      schema: {
        operationId: 'ledgerSummary',
        tags: TAGS,
        summary: 'Sum up a month',
        description: 'Currencies are never added to each other: total speaks of one, summary has a line for each.',
        querystring: schema.summaryQuery,
        response: { 200: schema.summaryReply },
      },
      handler: async (request) => {
        const { month, year, months, team_id, ...q } = request.query;
        const filters = commonFilters(request, q);
        const done = await summarise(deps, principalOf(request), {
          team: filterOf(team_id),
          month,
          year,
          months,
          filters,
        });
        return withWarnings(request, {
          ...done,
          total: Number(done.total),
          total_exact: done.total,
          summary: [...done.summary],
        });
      },
    });

    app.get('/ledger/transactions/:id', {
      config: READ,
      schema: {
        operationId: 'getTransaction',
        tags: TAGS,
        summary: 'Read a transaction',
        params: idParams,
        response: { 200: schema.transaction },
      },
      handler: async (request) => toWire(await find(deps, principalOf(request), uuidOf(request.params.id))),
    });

    app.delete('/ledger/transactions/:id', {
      config: { scopes: ['memory:delete'] },
      schema: {
        operationId: 'deleteTransaction',
        tags: TAGS,
        summary: 'Delete a transaction',
        description: 'For good. Needs `ledger:read` as well.',
        params: idParams,
        response: { 200: schema.deleteReply },
      },
      handler: async (request) => {
        const principal = requireScope(request, 'ledger:read');
        const id = uuidOf(request.params.id);
        await remove(await repeatable(deps, request), principal, id);
        return withWarnings(request, { id, status: 'deleted' as const });
      },
    });

    async function enter(request: FastifyRequest, body: schema.TransactionBody) {
      const row = await record(
        await repeatable(deps, request),
        principalOf(request),
        agentOf(request, body),
        toRecord(request, body),
      );
      return withWarnings(request, { ...toWire(row), transaction_id: row.id, status: 'recorded' as const });
    }
  };

/** Where a transaction of a type lies without a path of its own. */
const PATHS: Readonly<Record<TransactionType, string>> = {
  expense: 'finance/ledger/expenses',
  income: 'finance/ledger/income',
  refund: 'finance/ledger/refunds',
  transfer: 'finance/ledger/transfers',
};

function toRecord(request: FastifyRequest, body: schema.TransactionBody): RecordInput {
  const { date, transaction_date = date, device_id, device_label } = body;
  if (date !== undefined && date !== transaction_date)
    throw invalid('body', 'date', 'differs from transaction_date, whose alias it is');
  return {
    ...targetOf(principalOf(request), { ...body, path: body.path?.trim() || PATHS[body.transaction_type] }),
    transaction_type: body.transaction_type,
    item: body.item.trim(),
    amount: body.amount,
    currency: body.currency ?? schema.DEFAULT_CURRENCY,
    transaction_date,
    category: body.category ?? null,
    merchant: body.merchant ?? null,
    payment_method: body.payment_method ?? null,
    note: body.note ?? null,
    source: body.source ?? null,
    metadata: {
      ...body.metadata,
      ...(device_id !== undefined && { device_id }),
      ...(device_label !== undefined && { device_label }),
    },
  };
}

function commonFilters(
  request: FastifyRequest,
  q: Pick<schema.SummaryQuery, 'bucket' | 'scope' | 'currency' | 'transaction_type' | 'as_of'>,
) {
  const filters = {
    bucket: filterOf(q.bucket),
    scope: filterOf(q.scope),
    currency: q.currency,
    type: filterOf(q.transaction_type),
    asOf: toDate(q.as_of),
  };
  assertInside(principalOf(request), filters);
  return filters;
}

function toWire({ created_at, ...row }: TransactionRow): schema.Transaction {
  return { ...row, type: 'transaction', created_at: created_at.toISOString() };
}

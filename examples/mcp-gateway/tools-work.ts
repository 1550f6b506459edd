/** Todos and the ledger: one tool each, with an action. */
import { z } from 'zod';
import { id, line, name, text, tool, WRITES } from './tool.ts';

const due = z.string().describe('RFC 3339, or YYYY-MM-DD.');
const bucket = (fallback: string) => name.optional().describe(`Namespace. Default: ${fallback}.`);
const given = <T>(value: T | undefined, field: string): T => {
  if (value === undefined) throw new MissingArgument(field);
  return value;
};

/** Told to the model as a tool error. */
class MissingArgument extends Error {
  constructor(field: string) {
    super(`this action needs the argument ${field}: add it and call again`);
  }
}

interface Reminder {
  readonly id: string;
  readonly content: string;
  readonly item_status: string;
  readonly due_at: string | null;
}

const show = (todo: Reminder): string =>
  `${line({ Reference: todo.id, Status: todo.item_status, Due: todo.due_at })}\n${todo.content}`;

export const todos = tool({
  name: 'todos',
  title: 'Todos',
  description:
    'List, create and complete todos that outlive this conversation. To complete one, give its Reference as todo_id.',
  annotations: WRITES,
  input: z.strictObject({
    action: z.enum(['list', 'create', 'complete']).default('list'),
    content: text.max(12_000).optional().describe('create: what is to be done.'),
    due_at: due.optional().describe('create: when it is due.'),
    path: z.string().min(1).max(1_024).optional().describe('create: a category.'),
    todo_id: id.optional().describe('complete: the Reference of the todo.'),
    note: z.string().max(12_000).optional().describe('complete: how it ended.'),
    item_status: z.enum(['open', 'completed', '%']).default('open').describe('list: which ones. %: all.'),
    due_before: due.optional().describe('list: due before this.'),
    limit: z.number().int().min(1).max(100).default(20).describe('list: how many, 1 to 100.'),
    bucket: bucket('all for list, the service decides for create'),
    scope: name.optional().describe('Narrowing tag.'),
  }),
  async run(service, input) {
    const { bucket, scope } = input;
    if (input.action === 'list') {
      const { item_status, due_before, limit } = input;
      const query = { item_status, due_before, limit, bucket: bucket ?? '%', scope };
      const { reminders } = JSON.parse(
        await service({ method: 'GET', path: '/reminders', query, accept: 'application/json' }),
      ) as { reminders: Reminder[] };
      return reminders.length === 0 ? 'There are no such todos.' : reminders.map(show).join('\n\n');
    }
    if (input.action === 'create') {
      const body = { content: given(input.content, 'content'), due_at: input.due_at, path: input.path, bucket, scope };
      return show(
        JSON.parse(await service({ method: 'POST', path: '/reminders', body, accept: 'application/json' })) as Reminder,
      );
    }
    const path = `/reminders/${encodeURIComponent(given(input.todo_id, 'todo_id'))}/complete`;
    const body = { note: input.note, bucket, scope };
    return show(JSON.parse(await service({ method: 'POST', path, body, accept: 'application/json' })) as Reminder);
  },
});

interface Transaction {
  readonly id: string;
  readonly transaction_type: string;
  readonly transaction_date: string;
  readonly item: string;
  readonly amount: string;
  readonly currency: string;
  readonly category: string | null;
  readonly merchant: string | null;
  readonly note: string | null;
}

const entry = (t: Transaction): string =>
  line({
    Reference: t.id,
    Type: t.transaction_type,
    Date: t.transaction_date,
    Item: t.item,
    Amount: `${t.amount} ${t.currency}`,
    Category: t.category,
    Merchant: t.merchant,
    Note: t.note,
  });

export const ledger = tool({
  name: 'ledger',
  title: 'Ledger',
  description:
    'Record an expense, list transactions, or sum up a month. Amounts are exact: pass them as the user said them.',
  annotations: WRITES,
  input: z.strictObject({
    action: z.enum(['list', 'add_expense', 'monthly_summary']).default('list'),
    item: text.optional().describe('add_expense: what was paid for.'),
    amount: z.union([z.string(), z.number()]).optional().describe('add_expense: a positive number.'),
    currency: name.optional().describe('A code or a common name. add_expense: CNY when not given; otherwise all.'),
    transaction_date: z.string().optional().describe('add_expense: YYYY-MM-DD; default: today, UTC.'),
    category: name.optional(),
    merchant: name.optional().describe('add_expense.'),
    payment_method: name.optional().describe('add_expense.'),
    note: z.string().max(12_000).optional().describe('add_expense.'),
    query: text.optional().describe('list: words of the item, merchant or note.'),
    date_from: z.string().optional().describe('list: YYYY-MM-DD.'),
    date_to: z.string().optional().describe('list: YYYY-MM-DD.'),
    min_amount: z.union([z.string(), z.number()]).optional().describe('list.'),
    max_amount: z.union([z.string(), z.number()]).optional().describe('list.'),
    transaction_type: z.enum(['expense', 'income', 'refund', 'transfer']).optional().describe('list.'),
    limit: z.number().int().min(1).max(100).default(30).describe('list: how many, 1 to 100.'),
    offset: z.number().int().min(0).default(0).describe('list: how many to skip.'),
    month: z.number().int().min(1).max(12).optional().describe('monthly_summary; default: this month.'),
    year: z.number().int().min(1970).max(9999).optional().describe('monthly_summary; default: this year.'),
    bucket: bucket('all for list and monthly_summary, private for add_expense'),
    scope: name.optional().describe('Narrowing tag.'),
  }),
  async run(service, input) {
    const { currency, category, bucket, scope } = input;
    if (input.action === 'add_expense') {
      const { item, amount, transaction_date, merchant, payment_method, note } = input;
      const body = {
        item: given(item, 'item'),
        amount: given(amount, 'amount'),
        currency,
        transaction_date,
        category,
        merchant,
        payment_method,
        note,
        bucket,
        scope,
      };
      const stored = JSON.parse(
        await service({ method: 'POST', path: '/ledger/expenses', body, accept: 'application/json' }),
      ) as Transaction;
      return entry(stored);
    }
    if (input.action === 'monthly_summary') {
      const { month, year } = input;
      return service({
        method: 'GET',
        path: '/me/ledger/monthly-summary',
        query: { month, year, currency, bucket, scope },
        accept: 'application/json',
      });
    }
    const { query: words, date_from, date_to, min_amount, max_amount, transaction_type, limit, offset } = input;
    const query = {
      query: words,
      date_from,
      date_to,
      category,
      currency,
      min_amount,
      max_amount,
      transaction_type,
      limit,
      offset,
      bucket,
      scope,
    };
    const list = await service({ method: 'GET', path: '/me/ledger/transactions', query, accept: 'application/json' });
    const { transactions, total } = JSON.parse(list) as { transactions: Transaction[]; total: number };
    return [`Transactions: ${transactions.length} of ${total}`, ...transactions.map(entry)].join('\n');
  },
});

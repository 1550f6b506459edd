/** The wire of the ledger. */
import { z } from 'zod';
import { idempotencyKey, instant, isInYears, jsonObject, name, pathText, YEARS } from '../http/fields.ts';
import { warningsSchema } from '../http/wire.ts';
import { AMOUNT_FAULTS, parseAmount } from './amount.ts';
import { currencyCode } from './currency.ts';

export const TRANSACTION_TYPES = ['expense', 'income', 'refund', 'transfer'] as const;

/** What an expense is in when it does not say. */
export const DEFAULT_CURRENCY = 'CNY';

const text = (max: number) => z.string().max(max);

const decimal = (zero: boolean) =>
  z.union([z.string().max(64), z.number()], { error: AMOUNT_FAULTS.not_a_number }).transform((given, context) => {
    const parsed = parseAmount(given, zero);
    if ('text' in parsed) return parsed.text;
    context.addIssue({ code: 'custom', message: AMOUNT_FAULTS[parsed.fault] });
    return z.NEVER;
  });

const toCode = (given: string, context: z.RefinementCtx): string => {
  const code = currencyCode(given);
  if (code !== undefined) return code;
  context.addIssue({ code: 'custom', message: 'is no currency that is known; use its ISO 4217 code' });
  return z.NEVER;
};

const currency = z.string().max(64).transform(toCode);

const anyCurrency = z.union([z.literal('%').transform(() => undefined), currency]);

const date = z.iso.date({ error: 'must be a day that exists, as YYYY-MM-DD' }).refine(isInYears, YEARS);

/** Of what is written an empty text means "not given"; of a filter it does not, since it would widen. */
const dateOrBlank = z.union([z.literal(''), date]).transform((given) => given || undefined);
const currencyOrBlank = z
  .string()
  .max(64)
  .transform((given, context) => (given === '' ? undefined : toCode(given, context)));

export const transactionBody = z.object({
  item: text(2_000).refine((given) => given.trim() !== '', 'must hold more than white space'),
  amount: decimal(false).describe('A positive decimal, at most 4 decimals, as text or number.'),
  currency: currencyOrBlank
    .optional()
    .describe(`ISO 4217 code, or a name or sign like RMB, yen, €. Default ${DEFAULT_CURRENCY}.`),
  transaction_type: z.enum(TRANSACTION_TYPES).default('expense'),
  transaction_date: dateOrBlank.optional().describe('YYYY-MM-DD. Default: today, UTC.'),
  date: dateOrBlank.optional().describe('Alias of transaction_date.'),
  category: text(256).optional(),
  merchant: text(512).optional(),
  payment_method: text(256).optional(),
  note: text(8_000).optional(),
  path: pathText.optional().describe('Default `finance/ledger/expenses`, by its type.'),
  bucket: name.default('private'),
  scope: name.optional(),
  team_id: name.optional(),
  source: name.optional(),
  metadata: jsonObject.optional(),
  agent_id: name.optional(),
  agent_instance_id: name.optional(),
  device_id: name.optional().describe('Kept in metadata.'),
  device_label: name.optional().describe('Kept in metadata.'),
  idempotency_key: idempotencyKey,
});

export const expenseBody = transactionBody.omit({ transaction_type: true });

const where = {
  bucket: name.optional().describe('Exact. `%`: all.'),
  scope: name.optional().describe('Exact. `%`: all.'),
  team_id: name.optional(),
  currency: anyCurrency.optional(),
  transaction_type: z.enum([...TRANSACTION_TYPES, '%']).optional(),
  as_of: instant.optional().describe('What was in the ledger at this instant, less what was deleted since.'),
  output_json: z.boolean().optional().describe('Ignored: the answer is JSON.'),
};

export const listQuery = z.object({
  query: text(1_000).optional().describe('Words that stand in item, merchant, category or note, in any case.'),
  date_from: date.optional().describe('First day.'),
  date_to: date.optional().describe('Last day, included.'),
  category: text(256).optional().describe('In any case. `%`: all.'),
  min_amount: decimal(true).optional(),
  max_amount: decimal(true).optional(),
  ...where,
  limit: z.number().int().min(1).max(100).default(30),
  offset: z.number().int().min(0).max(1_000_000).default(0),
});

export const summaryQuery = z.object({
  month: z.number().int().min(1).max(12).optional().describe('1 to 12; default: the present month, UTC.'),
  year: z.number().int().min(1970).max(9999).optional().describe('Default: the present year.'),
  months: z.number().int().min(1).max(24).default(1).describe('So many months that end with this one, in summary.'),
  ...where,
});

export const transaction = z.object({
  id: z.uuid(),
  type: z.literal('transaction'),
  transaction_type: z.enum(TRANSACTION_TYPES),
  item: z.string(),
  amount: z.string().describe('Exact decimal.'),
  currency: z.string(),
  transaction_date: z.string(),
  category: z.string().nullable(),
  merchant: z.string().nullable(),
  payment_method: z.string().nullable(),
  note: z.string().nullable(),
  bucket: z.string(),
  scope: z.string().nullable(),
  team_id: z.string().nullable(),
  path: z.string().nullable(),
  source: z.string().nullable(),
  metadata: jsonObject,
  agent_id: z.string().nullable(),
  created_at: z.string(),
});

export const transactionReply = transaction.extend({
  transaction_id: z.uuid().describe('The same as id.'),
  status: z.literal('recorded'),
  warnings: warningsSchema,
});

export const listReply = z.object({
  transactions: z.array(transaction),
  items: z.array(transaction).describe('The same as transactions.'),
  total: z.number().int().describe('All that match, whatever the limit.'),
  limit: z.number().int(),
  offset: z.number().int(),
  warnings: warningsSchema,
});

const exact = z.string().describe('Exact decimal.');

const monthly = z.object({
  month: z.string().describe('YYYY-MM'),
  currency: z.string(),
  expense_total: exact,
  income_total: exact,
  refund_total: exact,
  transfer_total: exact,
  net_total: exact.describe('Income and refunds, less expenses.'),
  transaction_count: z.number().int(),
});

export const summaryReply = z.object({
  month: z.string().describe('YYYY-MM'),
  year: z.number().int(),
  currency: z.string().describe('As asked; else the one with most transactions in the month.'),
  total: z
    .number()
    .describe('Expenses less refunds of this month in this currency; for one transaction_type, its sum.'),
  total_exact: exact.describe('The same, to the last digit.'),
  count: z.number().int().describe('The transactions behind total.'),
  summary: z.array(monthly).describe('One line a month and currency that has any, newest first.'),
  warnings: warningsSchema,
});

export const deleteReply = z.object({ id: z.uuid(), status: z.literal('deleted'), warnings: warningsSchema });

export type TransactionBody = z.infer<typeof transactionBody>;
export type SummaryQuery = z.infer<typeof summaryQuery>;
export type Transaction = z.infer<typeof transaction>;
export type Monthly = z.infer<typeof monthly>;

import fc from 'fast-check';
import t from 'tap';
import { parseAmount } from '../../src/ledger/amount.ts';
import type { TokenScope } from '../../src/types.ts';
import { startService } from '../helpers/service.ts';

const SEED = process.env.FC_SEED === undefined ? {} : { seed: Number(process.env.FC_SEED) };
const RUNS = Number(process.env.FC_RUNS ?? 20);
const ALL = ['ledger:read', 'ledger:write', 'memory:delete'];
const BOTH: TokenScope[] = ['ledger:read', 'memory:delete'];

t.test('the ledger', async (t) => {
  const service = await startService();
  t.teardown(() => service.close());
  const { call, token } = service;
  const as = (owner: string, more: object = {}) => ({ token: token({ owner, scopes: ALL, ...more }) });
  const alice = as('alice');
  const post = (body: object, options: object = alice) => call('POST', '/ledger/transactions', { body, ...options });
  const list = async (query: object = {}, options: object = alice) =>
    (await call('GET', '/me/ledger/transactions', { query: { ...query }, ...options })).body;
  const summary = async (query: object = {}, options: object = alice) =>
    (await call('GET', '/me/ledger/monthly-summary', { query: { ...query }, ...options })).body;

  await t.test('an expense is entered with its defaults, read, listed and deleted', async (t) => {
    service.setNow(new Date('2026-05-04T23:30:00Z'));
    const made = await call('POST', '/ledger/expenses', {
      body: { item: ' Lunch ', amount: '15.50', idempotency_key: 'k' },
      ...alice,
    });
    t.equal(made.status, 201, made.text);
    const { id } = made.body;
    t.match(made.body, {
      transaction_id: id,
      status: 'recorded',
      transaction_type: 'expense',
      item: 'Lunch',
      amount: '15.5',
    });
    t.match(made.body, {
      currency: 'CNY',
      transaction_date: '2026-05-04',
      bucket: 'private',
      path: 'finance/ledger/expenses',
    });
    t.match((await call('GET', `/ledger/transactions/${id}`, alice)).body, { id, amount: '15.5' });
    t.match(await list(), { transactions: [{ id }], items: [{ id }], total: 1, limit: 30, offset: 0 });
    const gone = await call('DELETE', `/ledger/transactions/${id}`, alice);
    t.match(gone.body, { id, status: 'deleted' }, gone.text);
    t.equal((await call('DELETE', `/ledger/transactions/${id}`, alice)).status, 404);
    t.equal((await call('DELETE', '/ledger/transactions/nope', alice)).body.error.code, 'not_found');
    t.equal((await list()).total, 0);
  });

  await t.test(
    'a transaction is forgotten by its id where memories are, by a token that may delete both',
    async (t) => {
      const enter = async (item: string): Promise<string> =>
        (await call('POST', '/ledger/expenses', { body: { item, amount: 1 }, ...alice })).body.id;
      const as = (scopes: TokenScope[]) => ({ token: token({ scopes }) });
      const forget = (id: string, body: object, who: { token: string }) =>
        call('POST', `/v1/memories/${id}/forget`, { body, ...who });
      const id = await enter('a wrong entry');
      const both = as(BOTH);
      t.match(await forget(id, {}, as(['memory:delete'])), { status: 404, body: { error: { code: 'not_found' } } });
      t.match(await forget(id, {}, as(['memory:write', 'ledger:read'])), {
        status: 403,
        body: { error: { code: 'insufficient_scope' } },
      });
      t.equal((await forget(id, { mode: 'redact' }, both)).status, 422);
      t.equal((await forget(id, { bucket: 'work' }, both)).status, 404, 'not in that bucket');
      t.equal((await forget(id, {}, { token: token({ owner: 'mallory', scopes: BOTH }) })).status, 404);
      t.match(
        await call('PATCH', `/v1/memories/${id}`, {
          body: { status: 'deleted' },
          token: token({ scopes: [...BOTH, 'memory:write'] }),
        }),
        { status: 404 },
        'it is no memory that could be changed',
      );
      const once = { mode: 'soft_delete', bucket: '%', idempotency_key: 'forget once' };
      const gone = await forget(id, once, both);
      t.match(gone, { status: 200, body: { id, memory_id: id, status: 'deleted', mode: 'hard_delete' } }, gone.text);
      t.match(await forget(id, once, both), { status: 200, body: gone.body }, 'sent again');
      t.equal((await call('GET', `/ledger/transactions/${id}`, alice)).status, 404);
      t.match(
        await forget(id, {}, both),
        { status: 404, body: { detail: /a memory with this id/ } },
        'whoever asks means a memory',
      );
    },
  );

  await t.test('names and signs of currencies become codes, and what is ambiguous or unknown is refused', async (t) => {
    const codes = {
      RMB: 'CNY',
      yuan: 'CNY',
      yen: 'JPY',
      Ｙｅｎ: 'JPY',
      '€': 'EUR',
      usd: 'USD',
      'U.S. dollars': 'USD',
      us$: 'USD',
      won: 'KRW',
      'Swiss Francs': 'CHF',
      '': 'CNY',
    };
    for (const [given, code] of Object.entries(codes)) {
      const reply = await post({ item: 'x', amount: 1, currency: given }, as('coins'));
      t.equal(reply.body.currency, code, `${given} ${reply.text}`);
    }
    for (const currency of ['¥', 'peso', 'XQZ', 'constructor', '<b>', 'x'.repeat(65)]) {
      const reply = await post({ item: 'x', amount: 1, currency }, as('coins'));
      t.equal(reply.status, 422, currency);
      t.equal(reply.body.error.code, 'validation_error');
    }
    t.equal((await list({ currency: 'renminbi' }, as('coins'))).total, 3);
  });

  await t.test('amounts that are no positive exact decimals, and days that do not exist, are coded 422s', async (t) => {
    const amounts = [
      '',
      'abc',
      '1,5',
      '0',
      0,
      -1,
      '-0.01',
      '1e3',
      'NaN',
      'Infinity',
      '0x10',
      '1.00001',
      `0.${'1'.repeat(20)}`,
      0.1 + 0.2,
      1e21,
      '1'.repeat(17),
      Number('12345678901234.567'),
      Number('9007199254740993'),
      true,
      null,
      {},
    ];
    for (const amount of amounts) {
      const reply = await post({ item: 'x', amount }, as('fool'));
      t.equal(reply.status, 422, `${String(amount)} ${reply.text}`);
      t.equal(reply.body.error.code, 'validation_error');
      t.match(reply.body.detail[0].loc, ['body', 'amount']);
    }
    for (const transaction_date of [
      '2026-02-30',
      '2025-02-29',
      '2026-13-01',
      '2026-5-4',
      'yesterday',
      '2026-05-04T00:00:00Z',
      '0000-00-00',
    ]) {
      t.equal((await post({ item: 'x', amount: 1, transaction_date }, as('fool'))).status, 422, transaction_date);
    }
    t.equal((await post({ item: ' ', amount: 1 }, as('fool'))).status, 422);
    t.equal((await post({ item: 'x', amount: 1, transaction_type: 'theft' }, as('fool'))).status, 422);
    t.equal(
      (await post({ item: 'x', amount: 1, date: '2026-01-01', transaction_date: '2026-01-02' }, as('fool'))).status,
      422,
    );
    t.equal((await post({ item: 'x', amount: 1, bucket: '%' }, as('fool'))).status, 422);
    for (const query of [{ date_from: '2026-02-30' }, { min_amount: 'much' }, { limit: 101 }, { currency: 'beads' }]) {
      t.equal(
        (await call('GET', '/me/ledger/transactions', { query, ...as('fool') })).status,
        422,
        JSON.stringify(query),
      );
    }
    for (const query of [{ month: 13 }, { month: 0 }, { months: 25 }, { year: 'soon' }]) {
      t.equal(
        (await call('GET', '/me/ledger/monthly-summary', { query, ...as('fool') })).status,
        422,
        JSON.stringify(query),
      );
    }
    t.equal((await list({}, as('fool'))).total, 0, 'nothing of all this was entered');
  });

  await t.test('every filter narrows, and nothing else does', async (t) => {
    const who = as('filters');
    const rows = [
      {
        item: 'Train to Porto',
        amount: '99.9999',
        currency: 'EUR',
        transaction_date: '2026-04-30',
        category: 'Travel',
        merchant: 'CP',
      },
      {
        item: '100% juice',
        amount: 2,
        currency: 'EUR',
        transaction_date: '2026-05-01',
        category: 'food',
        note: 'under_scored',
      },
      {
        item: 'Salary',
        amount: '5000',
        currency: 'EUR',
        transaction_date: '2026-05-31',
        transaction_type: 'income',
        bucket: 'work',
      },
      {
        item: 'Refund juice',
        amount: '1.25',
        currency: 'EUR',
        transaction_date: '2026-05-30',
        transaction_type: 'refund',
        scope: 's',
      },
      {
        item: 'To savings',
        amount: '300',
        currency: 'USD',
        transaction_date: '2026-06-01',
        transaction_type: 'transfer',
      },
    ];
    for (const row of rows) t.equal((await post(row, who)).status, 201);
    const items = async (query: object) => (await list(query, who)).transactions.map((r: { item: string }) => r.item);
    t.same(await items({}), ['To savings', 'Salary', 'Refund juice', '100% juice', 'Train to Porto']);
    t.same(
      await items({ bucket: '%', scope: '%', category: '%', currency: '%', transaction_type: '%' }),
      await items({}),
    );
    t.same(await items({ date_from: '2026-05-01', date_to: '2026-05-31' }), ['Salary', 'Refund juice', '100% juice']);
    t.same(await items({ category: 'TRAVEL' }), ['Train to Porto']);
    t.same(await items({ currency: 'usd' }), ['To savings']);
    t.same(await items({ min_amount: '99.9999', max_amount: '300' }), ['To savings', 'Train to Porto']);
    t.same(await items({ min_amount: '100' }), ['To savings', 'Salary']);
    t.same(await items({ transaction_type: 'income' }), ['Salary']);
    t.same(await items({ bucket: 'work' }), ['Salary']);
    t.same(await items({ scope: 's' }), ['Refund juice']);
    t.same(await items({ query: 'JUICE' }), ['Refund juice', '100% juice']);
    t.same(await items({ query: '%' }), ['100% juice'], 'a percent sign is a character');
    t.same(await items({ query: 'r_s' }), ['100% juice'], 'so is an underscore');
    t.same(await items({ query: 'ju_ce' }), []);
    t.same(await items({ query: 'cp porto' }), ['Train to Porto']);
    t.match(await list({ limit: 2, offset: 4 }, who), { transactions: [{ item: 'Train to Porto' }], total: 5 });
    const may = await summary({ month: 5, year: 2026 }, who);
    t.match(may, { month: '2026-05', year: 2026, currency: 'EUR', total: 0.75, total_exact: '0.75', count: 2 });
    t.match(may.summary, [
      {
        month: '2026-05',
        currency: 'EUR',
        expense_total: '2',
        income_total: '5000',
        refund_total: '1.25',
        transfer_total: '0',
        net_total: '4999.25',
        transaction_count: 3,
      },
    ]);
    const as_of = '2026-05-31T00:00:00Z';
    service.setNow(new Date('2026-06-01T00:00:00Z'));
    const later = await post({ ...rows[0], item: 'Entered later' }, who);
    t.ok((await items({})).includes('Entered later'));
    t.notOk((await items({ as_of })).includes('Entered later'), 'a ledger of then');
    t.same(await summary({ month: 5, year: 2026, as_of }, who), may);
    t.same(await items({ as_of: '2020-01-01' }), []);
    await call('DELETE', `/ledger/transactions/${later.body.id}`, who);
    service.setNow(new Date('2026-05-04T23:30:00Z'));
    t.match(await summary({ month: '6', year: '2026', months: '3', currency: 'EUR' }, who), {
      total: 0,
      count: 0,
      currency: 'EUR',
      summary: [{ month: '2026-05' }, { month: '2026-04' }],
    });
    t.match(await summary({ month: 1, year: 2020 }, who), {
      month: '2020-01',
      currency: 'CNY',
      total: 0,
      count: 0,
      summary: [],
    });
    t.match(await summary({ month: 5, year: 2026, transaction_type: 'income' }, who), { total: 5000, count: 1 });
  });

  await t.test('currencies of one month stand side by side and are never added', async (t) => {
    const who = as('two-coins');
    for (const [amount, currency] of [
      [1, 'USD'],
      [2, 'USD'],
      [1000, 'JPY'],
    ] as const)
      await post({ item: 'x', amount, currency, date: '2026-03-03' }, who);
    const march = await summary({ month: 3, year: 2026 }, who);
    t.match(march, {
      currency: 'USD',
      total: 3,
      count: 2,
      summary: [
        { currency: 'USD', expense_total: '3' },
        { currency: 'JPY', expense_total: '1000' },
      ],
    });
    t.match(await summary({ month: 3, year: 2026, currency: 'yen' }, who), { currency: 'JPY', total: 1000, count: 1 });
  });

  await t.test('the scopes of memory do not open the ledger, nor those of another owner, bucket or team', async (t) => {
    const { id } = (await post({ item: 'secret gift', amount: 7 }, as('giver', { teams: ['red'] }))).body;
    await post({ item: 'team lunch', amount: 8, team_id: 'red' }, as('giver', { teams: ['red'] }));
    const memory = { token: token({ owner: 'giver', scopes: ['memory:read', 'memory:write', 'memory:delete'] }) };
    t.equal((await call('GET', '/me/ledger/transactions', memory)).body.error.code, 'insufficient_scope');
    t.equal((await call('GET', '/me/ledger/monthly-summary', memory)).status, 403);
    t.equal((await post({ item: 'x', amount: 1 }, memory)).status, 403);
    t.equal((await call('DELETE', `/ledger/transactions/${id}`, memory)).body.error.code, 'insufficient_scope');
    t.equal(
      (await call('DELETE', `/ledger/transactions/${id}`, as('giver', { scopes: ['ledger:read', 'ledger:write'] })))
        .status,
      403,
    );
    t.same((await call('GET', '/recall', { ...memory, query: { query: 'secret gift' } })).body.results, []);
    for (const other of [as('thief'), as('giver', { buckets: ['work'] }), as('giver', { memoryScopes: ['s'] })]) {
      t.notMatch(JSON.stringify(await list({}, other)), 'secret gift');
      t.equal((await call('GET', `/ledger/transactions/${id}`, other)).status, 404);
      t.equal((await call('DELETE', `/ledger/transactions/${id}`, other)).status, 404);
      t.equal((await summary({}, other)).count, 0);
    }
    t.match(await list({}, as('mate', { teams: ['red'] })), {
      total: 1,
      transactions: [{ item: 'team lunch', team_id: 'red' }],
    });
    t.equal(
      (
        await call('GET', '/me/ledger/transactions', {
          query: { bucket: 'private' },
          ...as('giver', { buckets: ['work'] }),
        })
      ).status,
      403,
    );
  });

  await t.test('property: what goes in comes out to the last digit, and sums are exact', async (t) => {
    const cents = fc.bigInt({ min: 1n, max: 10n ** 15n });
    const toText = (n: bigint) => `${n / 10_000n}.${String(n % 10_000n).padStart(4, '0')}`;
    let month = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(cents, { minLength: 1, maxLength: 6 }), async (amounts) => {
        const year = 1971 + Math.floor(month / 12);
        const date = `${year}-${String((month++ % 12) + 1).padStart(2, '0')}-15`;
        for (const n of amounts) {
          const reply = await post({ item: 'x', amount: toText(n), date, currency: 'EUR' }, as('exact'));
          const parsed = parseAmount(toText(n));
          t.equal(reply.body.amount, 'text' in parsed && parsed.text);
        }
        const sum = amounts.reduce((a, b) => a + b, 0n);
        const { total_exact } = await summary({ month: Number(date.slice(5, 7)), year }, as('exact'));
        const expected = parseAmount(toText(sum));
        t.equal(total_exact, 'text' in expected && expected.text);
      }),
      { ...SEED, numRuns: RUNS },
    );
  });
});

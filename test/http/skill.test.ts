import t from 'tap';
import { startService } from '../helpers/service.ts';

t.test('skill operations', async (t) => {
  const service = await startService();
  t.teardown(() => service.close());
  const { call, token } = service;
  const scopes = ['memory:read', 'memory:write', 'memory:delete', 'memory:restore', 'ledger:read', 'ledger:write'];
  const mine = token({ owner: 'skilled', scopes });
  const run = (operation: string, args: object = {}, options: object = {}) =>
    call('POST', '/v1/skill/operations', { token: mine, body: { operation, arguments: args }, ...options });
  const result = async (operation: string, args: object = {}) => {
    const reply = await run(operation, args);
    t.equal(reply.status, 200, `${operation} ${reply.text}`);
    t.match(reply.body, { ok: true, operation, request_id: String });
    return reply.body.result;
  };

  await t.test('remember gives a bare id, recall and search bare arrays', async (t) => {
    const id = await result('remember', {
      content: 'Okapis live in the Ituri forest',
      path: 'animals',
      'memory-type': 'semantic',
    });
    t.type(id, 'string');
    for (const operation of ['recall', 'search']) {
      const found = await result(operation, { query: 'okapis forest', limit: '5' });
      t.ok(Array.isArray(found));
      t.match(found[0], { id, path: 'animals', content: 'Okapis live in the Ituri forest' });
    }
    t.same(await result('recall', { query: 'zzz', bucket: 'none' }), []);
    t.match(await result('forget', { id, reason: 'test' }), { id, status: 'deleted' });
    t.same(await result('search', { query: 'okapis forest' }), []);
  });

  await t.test('a state is saved and restored by its key, and null when there is none', async (t) => {
    t.equal(await result('state-restore', { key: 'nothing' }), null);
    await result('state-save', { key: 'port', content: 'half done' });
    t.match(await result('state-restore', { key: 'port' }), { state_key: 'port', content: 'half done' });
    t.match(await result('state-restore', { state_key: 'port' }), { state_key: 'port' });
  });

  await t.test('todos are added, listed and done', async (t) => {
    const id = await result('todo-add', { content: 'water the okapi', due: '2026-06-01' });
    t.match(await result('todo-list'), [
      { id, content: 'water the okapi', status: 'open', due_at: '2026-06-01T00:00:00.000Z' },
    ]);
    t.match(await result('todo-done', { todo_id: id, note: 'done' }), { id, status: 'done' });
    t.match(await result('todo-done', { id }), { id, status: 'done' });
    t.same(await result('todo-list'), []);
    t.match(await result('todo-list', { status: 'done' }), [{ id, status: 'done' }]);
  });

  await t.test('expenses are added, listed, summed up and deleted', async (t) => {
    const id = await result('expense-add', { item: 'hay', amount: '15.5', currency: 'euro', date: '2026-05-04' });
    t.type(id, 'string');
    t.match(await result('ledger-list', { limit: '30', min_amount: 15 }), {
      transactions: [{ id, item: 'hay', amount: '15.5', currency: 'EUR' }],
      total: 1,
    });
    service.setNow(new Date('2026-06-10T00:00:00Z'));
    t.match(await result('ledger-summary'), {
      summary: [
        {
          month: '2026-05',
          currency: 'EUR',
          expense_total: '15.5',
          income_total: '0',
          net_total: '-15.5',
          transaction_count: 1,
        },
      ],
    });
    t.same(await result('ledger-summary', { months: '1' }), { summary: [] });
    service.setNow(new Date());
    t.match(await result('expense-delete', { id }), { id, status: 'deleted' });
    t.match((await run('ledger-delete', { id })).body, { ok: false, error: { code: 'not_found' } });
  });

  await t.test('overview and activity speak of this account alone', async (t) => {
    const who = { token: token({ owner: 'fresh', scopes }) };
    const headers = { 'x-memory-os-agent-id': 'hermes' };
    t.match((await run('overview', {}, who)).body.result, {
      memories_total: 0,
      memories_active: 0,
      storage_mb: 0,
      tokens_30d: 0,
    });
    service.setNow(new Date('2026-07-01T00:00:00Z'));
    const a = (await run('remember', { content: 'x'.repeat(400), path: 'p' }, { ...who, headers })).body.result;
    service.setNow(new Date('2026-07-01T00:00:01Z'));
    const b = (await run('todo-add', { content: 'two\n lines' }, who)).body.result;
    const gone = (await run('remember', { content: 'secret' }, who)).body.result;
    const redacted = (await run('remember', { content: 'secret for good' }, who)).body.result;
    await run('todo-done', { id: b }, who);
    await run('forget', { id: gone }, who);
    await run('forget', { id: redacted, mode: 'redact' }, who);
    service.setNow(new Date('2026-07-01T00:00:02Z'));
    const e = (await run('expense-add', { item: 'tea', amount: 3 }, who)).body.result;
    t.match((await run('overview', {}, who)).body.result, {
      memories_total: 2,
      memories_active: 1,
      memories_archived: 1,
      memories_forgotten: 1,
      agents_active: 1,
      tokens_30d: 103,
    });
    const { activity, total } = (await run('activity', {}, who)).body.result;
    t.equal(total, 3);
    t.match(activity, [
      { type: 'ledger', ref_id: e, summary: 'expense: tea, 3 CNY' },
      { type: 'reminder', ref_id: b, summary: 'two lines' },
      { type: 'memory', ref_id: a, summary: /^x{119}…$/ },
    ]);
    const noLedger = { token: token({ owner: 'fresh' }) };
    t.equal((await run('activity', { limit: '1' }, noLedger)).body.result.total, 2);
    t.equal(
      (await run('overview', {}, { token: token({ owner: 'fresh', buckets: ['other'] }) })).body.result
        .memories_forgotten,
      0,
    );
  });

  await t.test('doctor answers without a token, and says what a token is worth', async (t) => {
    t.match((await run('doctor', {}, { token: null })).body, {
      ok: true,
      result: { status: 'ok', auth_valid: false, scopes: [] },
    });
    t.match((await run('doctor')).body.result, { status: 'ok', auth_valid: true, scopes });
    t.match((await run('doctor', {}, { token: 'mos_abc:r-not-a-token' })).body.result, { auth_valid: false });
    const expired = await run('doctor', {}, { token: token({ ttlSeconds: -60 }) });
    t.match(expired.body.result, { auth_valid: false, reason: 'token_expired' });
  });

  await t.test('refusals are those of the route behind, with ok: false', async (t) => {
    const unknown = await run('launch');
    t.equal(unknown.status, 422);
    t.match(unknown.body, { ok: false, error: { code: 'validation_error', message: /operation/ }, request_id: String });
    t.match(await run('remember', { content: 'x' }, { token: null }), {
      status: 401,
      body: { ok: false, error: { code: 'missing_credentials' } },
      headers: { 'www-authenticate': /Bearer/ },
    });
    t.match((await run('remember', { content: 'x' }, { token: 'nonsense-token' })).body, {
      ok: false,
      error: { code: 'invalid_token' },
    });
    t.match((await run('expense-add', { item: 'x', amount: 1 }, { token: token() })).body, {
      ok: false,
      error: { code: 'insufficient_scope' },
    });
    const bad: [string, object][] = [
      ['remember', {}],
      ['recall', { query: '' }],
      ['recall', { query: 'x', limit: '5001' }],
      ['forget', {}],
      ['todo-done', { id: '' }],
      ['expense-add', { item: 'x', amount: '-1' }],
      ['expense-add', { item: 'x', amount: '0.12345678901234567890' }],
      ['ledger-summary', { months: 25 }],
      ['todo-list', { status: 'maybe' }],
    ];
    for (const [operation, args] of bad) {
      const reply = await run(operation, args);
      t.match(
        reply,
        { status: 422, body: { ok: false, error: { code: 'validation_error' } } },
        `${operation} ${JSON.stringify(args)} ${reply.text}`,
      );
      t.equal(reply.body.request_id, reply.headers['x-request-id']);
      t.equal(reply.body.error.request_id, reply.headers['x-request-id']);
    }
    // an id that a URL would take for a step up or for nothing leads to no other route: '.' to that which forgets all that match
    const kept = await result('remember', { content: 'stays', bucket: 'kept' });
    for (const id of ['../../../etc/passwd', '.', '..'])
      t.match((await run('forget', { id, bucket: 'kept' })).body, { ok: false, error: { code: 'not_found' } });
    t.match(await result('update', { id: kept, content: 'stays here' }), { id: kept });
    t.equal(
      (await call('POST', '/v1/skill/operations', { token: mine, body: { operation: 'recall', arguments: 'query' } }))
        .status,
      422,
    );
    t.equal((await call('POST', '/v1/skill/operations', { token: mine, body: '{' })).body.ok, false);
  });

  await t.test('unknown arguments are refused on the canonical mount and named elsewhere', async (t) => {
    const body = {
      operation: 'recall',
      arguments: { query: 'x', json: true },
      client: { surface: 'standalone_skill' },
    };
    t.match((await call('POST', '/skill/operations', { token: mine, body })).body, {
      ok: false,
      error: { message: /json: unknown field/ },
    });
    t.match((await call('POST', '/v1/skill/operations', { token: mine, body })).body, {
      ok: true,
      warnings: [/^json/],
    });
  });
});

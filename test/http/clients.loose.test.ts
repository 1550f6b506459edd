/** Slips of clients that are out there: mended on their mounts, refused where the service documents itself. */
import t from 'tap';
import { bearer, hermes, openClaw } from '../helpers/clients.ts';
import { startService } from '../helpers/service.ts';

const SCOPES = ['memory:read', 'memory:write', 'memory:delete', 'memory:restore', 'ledger:read', 'ledger:write'];

t.test('what clients send loosely', async (t) => {
  const service = await startService();
  t.teardown(() => service.close());
  const { app, token } = service;
  const keyOf = (owner: string) => token({ owner, scopes: SCOPES });
  const STRICT = '/docs/api/memory';

  await t.test('H, OC: a time as a model writes it is understood, one without an offset as UTC', async (t) => {
    const send = hermes(app, t, keyOf('times'));
    for (const [due_at, means, warned] of [
      ['2026-12-05T09:00:00', '2026-12-05T09:00:00.000Z', true],
      ['2026-12-05 09:00', '2026-12-05T09:00:00.000Z', true],
      ['2026-12-05T09:00:00.123456', '2026-12-05T09:00:00.123Z', true],
      ['2026-12-05T09:00Z', '2026-12-05T09:00:00.000Z', false],
      ['2026-12-05T09:00:00+0200', '2026-12-05T07:00:00.000Z', false],
      ['2026-12-05T09:00:00-05', '2026-12-05T14:00:00.000Z', false],
      ['2026-12-05', '2026-12-05T00:00:00.000Z', false],
    ] as const) {
      const made = await send('POST', '/v1/reminders', { content: `due ${due_at}`, due_at });
      t.match(made, { status: 201, body: { due_at: means } }, due_at);
      t.same(made.body.warnings, warned ? ['due_at: names no offset and was read as UTC'] : undefined, due_at);
    }
    for (const due_at of ['tomorrow', '2026-13-05T09:00:00', '2026-12-05T25:00', '1796109458'])
      t.equal((await send('POST', '/v1/reminders', { content: 'x', due_at })).status, 422, due_at);
    const naive = '2026-01-01T00:00:00';
    const event = await send('POST', '/v1/timeline/events', { content: 'x', occurred_at: naive });
    t.equal(event.body.occurred_at, '2026-01-01T00:00:00.000Z');
    const { id } = (await send('POST', '/v1/remember', { content: 'kept a while', expires_at: '2099-01-01 00:00' }))
      .body;
    t.equal((await send('PATCH', `/v1/memories/${id}`, { expires_at: '2098-01-01T00:00' })).status, 200);
    t.equal((await send('GET', `/v1/memories/${id}`)).body.expires_at, '2098-01-01T00:00:00.000Z');
    for (const [at, field] of [
      ['/timeline', 'since'],
      ['/reminders', 'due_before'],
      ['/decisions', 'due_before'],
      ['/memories', 'until'],
      ['/memories/stats', 'since'],
      ['/recall', 'as_of'],
    ] as const) {
      const asked = `${at}?query=x&${field}=${encodeURIComponent(naive)}`;
      t.match(await send('GET', `/api/v1${asked}`), { status: 200, body: { warnings: [] } }, at);
      t.equal((await send('GET', STRICT + asked)).status, 422, `${STRICT}${at}`);
    }
    const done = await send('POST', '/v1/skill/operations', {
      operation: 'todo-add',
      arguments: { content: 'by an operation', due_at: naive },
    });
    t.match(done, { status: 200, body: { result: String, warnings: [/^due_at/] } });
  });

  await t.test('OC, DSH: a text that was cut inside of an emoji is taken, query and memory alike', async (t) => {
    const send = openClaw(app, t, keyOf('cut'));
    const cut = 'The quokka eats leaves \ud83c';
    const made = await send('POST', '/v1/remember', { content: cut, path: 'p', metadata: { tags: [cut] } });
    t.match(made, { status: 201, body: { warnings: [/^content: holds half/, /^metadata: holds half/] } });
    t.match((await send('GET', `/v1/memories/${made.body.id}`)).body, {
      content: 'The quokka eats leaves \ufffd',
      metadata: { tags: ['The quokka eats leaves \ufffd'] },
    });
    for (const at of ['/v1/recall/context', '/v1/recall', '/api/v1/memories/search']) {
      const found = await send('POST', at, { query: `quokka leaves ${'\ud83c\udf43'.repeat(10)}\ud83c` });
      t.match(found, { status: 200, body: { warnings: [/^query/] } }, at);
      t.equal((found.body.items ?? found.body.results)[0]?.id, made.body.id, at);
    }
    for (const [at, body] of [
      ['/timeline/events', { content: cut }],
      ['/reminders', { content: cut }],
      ['/decisions', { context: cut, options: [cut] }],
      ['/update_state', { current_task: cut }],
      ['/skill/operations', { operation: 'remember', arguments: { content: cut } }],
    ] as const) {
      t.ok((await send('POST', `/v1${at}`, body)).status < 300, at);
      t.equal((await send('POST', STRICT + at, body)).status, 422, `${STRICT}${at}`);
    }
    t.equal((await send('POST', '/v1/remember', { content: 'a\u0000b' })).status, 422, 'a NUL is no slip');
    const deep = `${'['.repeat(40_000)}"\\ud83c"${']'.repeat(40_000)}`;
    const reply = await app.inject({
      method: 'POST',
      url: '/v1/remember',
      headers: { 'x-api-key': keyOf('cut'), 'content-type': 'application/json' },
      payload: `{"content":"x","metadata":{"tags":["\\ud83c"],"deep":${deep}}}`,
    });
    t.equal(reply.statusCode, 422);
  });

  await t.test('CLI+, SK+: a limit beyond fifty gives the best fifty', async (t) => {
    const send = bearer(app, t, keyOf('limit'));
    for (const at of ['/api/v1/recall?query=x&limit=5000', '/v1/memories/search?query=x&limit=51'])
      t.match(
        await send('GET', at),
        { status: 200, body: { warnings: [/^limit: no more than 50/], retrieval_plan: { limits: { limit: 50 } } } },
        at,
      );
    for (const operation of ['recall', 'search'])
      t.match(
        await send('POST', '/v1/skill/operations', { operation, arguments: { query: 'x', limit: 100 } }),
        { status: 200, body: { ok: true, result: [], warnings: [/^limit/] } },
        operation,
      );
    t.equal((await send('POST', '/v1/recall', { query: 'x', limit: '100' })).status, 200);
    t.equal((await send('GET', '/v1/recall?query=x&limit=50')).body.warnings, undefined);
    for (const at of [
      '/v1/recall?query=x&limit=5001',
      '/v1/recall?query=x&limit=0',
      `${STRICT}/recall?query=x&limit=51`,
    ])
      t.equal((await send('GET', at)).status, 422, at);
    for (const field of ['max_items', 'limit'])
      t.equal((await send('POST', '/v1/recall/context', { query: 'x', [field]: 101 })).status, 422, field);
  });

  await t.test('OC: a path is listed, and the memory at it read, by a search for its own words', async (t) => {
    const send = openClaw(app, t, keyOf('paths'));
    for (const [content, path] of [
      ['Deploys go out on Tuesdays.', 'team/rules'],
      ['Nobody deploys on Fridays.', 'team/rules'],
      ['Bruno takes the early train.', 'team/Daily log'],
      ['数据库每晚两点备份。', '项目/计划'],
    ] as const)
      await send('POST', '/v1/remember', { content, path, bucket: 'openclaw' });
    const found = async (query: string, path: string, at = '/v1/memories/search') => {
      const asked = new URLSearchParams({ query, path, bucket: '%', status: 'active', limit: '20' });
      return (await send('GET', `${at}?${asked}`)).body;
    };
    for (const [path, count] of [
      ['team/rules', 2],
      ['team/Daily log', 1],
      ['项目/计划', 1],
      ['team/%', 3],
    ] as const)
      for (const query of [path, `${path.split('/').pop()} ${path}`, `/${path.toUpperCase()}/`])
        t.match(await found(query, path), { status: 'ok', results: { length: count } }, `${query} in ${path}`);
    t.match(await found('team rules', 'team'), { status: 'empty', results: [] }, 'the path itself stays exact');
    t.match(await found('zebra rules', 'team/rules'), { results: [] }, 'a question is a question');
    t.equal((await found('rules', 'team/rules', '/v1/recall')).results.length, 2);
  });

  await t.test('H: an empty type is none', async (t) => {
    const send = hermes(app, t, keyOf('type'));
    const made = await send('POST', '/v1/remember', { content: 'Wombats dig', path: 'p', memory_type: '' });
    t.match(made, { status: 201, body: { memory_type: 'semantic' } });
    t.equal((await send('GET', '/v1/memories/search?query=wombats&memory_type=')).body.results.length, 1);
    t.equal((await send('POST', '/v1/recall/context', { query: 'wombats', memory_type: '' })).body.items.length, 1);
    t.equal((await send('GET', '/v1/memories/search?query=wombats&bucket=')).status, 422, 'other filters do not widen');
    t.equal((await send('GET', `${STRICT}/recall?query=wombats&memory_type=`)).status, 422);
  });

  await t.test('a whole number beyond 2^53 is taken as JavaScript reads it, and named', async (t) => {
    const payload = '{"content":"Numbats eat termites","metadata":{"ts_ns":1712345678901234567}}';
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${keyOf('ns')}` };
    const send = (url: string) => app.inject({ method: 'POST', url, headers, payload });
    const made = await send('/v1/remember');
    t.match(made.json(), { id: String, warnings: ['metadata: holds a whole number beyond 2^53, which was rounded'] });
    t.equal((await send(`${STRICT}/remember`)).statusCode, 422);
  });

  await t.test('nothing is written to the scope or bucket that stands for all', async (t) => {
    const send = bearer(app, t, keyOf('all'));
    for (const [at, body] of [
      ['/remember', { content: 'x' }],
      ['/timeline/events', { content: 'x' }],
      ['/reminders', { content: 'x' }],
      ['/decisions', { context: 'x' }],
      ['/update_state', { content: 'x' }],
      ['/ledger/expenses', { item: 'x', amount: 1 }],
    ] as const)
      for (const field of ['scope', 'bucket'])
        t.match(
          await send('POST', `/v1${at}`, { ...body, [field]: '%' }),
          { status: 422, body: { detail: [{ loc: ['body', field] }] } },
          `${at} ${field}`,
        );
    const { id } = (await send('POST', '/v1/restart/snapshot', { scope: '%', bucket: '%' })).body;
    t.match((await send('GET', `/v1/memories/${id}/explain`)).body, { scope: null, bucket: 'work' });
  });

  await t.test('CLI+: a memory that cannot be restored is told from a service that cannot restore', async (t) => {
    const send = bearer(app, t, keyOf('restore'));
    for (const id of ['0198c2aa-0000-7000-8000-000000000000', 'nope'])
      t.match(await send('POST', `/v1/memories/${id}/restore`, {}), {
        status: 404,
        body: { error: { code: 'not_found', message: /Memory .* not found/i } },
      });
  });
});

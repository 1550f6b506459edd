/** Clients' requests about the life of a memory, tokens and audit, and every endpoint of the contract. */
import t from 'tap';
import { anonymous, bearer, deepSeek, hermes, openClaw } from '../helpers/clients.ts';
import { startService } from '../helpers/service.ts';

const SCOPES = [
  'memory:read',
  'memory:write',
  'memory:delete',
  'memory:restore',
  'ledger:read',
  'ledger:write',
  'audit:read',
];
const OPAQUE = /^[^\s/]{1,256}$/;

/** Every endpoint of the contract that lies below a mount. */
const ENDPOINTS = [
  'POST /recall/context',
  'GET /recall',
  'GET /memories/search',
  'POST /remember',
  'GET /memories/:id',
  'GET /memories/:id/explain',
  'GET /memories',
  'GET /memories/stats',
  'POST /memories/export',
  'POST /memories/import',
  'PATCH /memories/:id',
  'POST /memories/:id/forget',
  'POST /memories/:id/usage',
  'POST /timeline/events',
  'GET /timeline',
  'POST /reminders',
  'GET /reminders',
  'POST /reminders/:id/complete',
  'POST /decisions',
  'GET /decisions',
  'POST /decisions/:id/resolve',
  'POST /update_state',
  'POST /restart/snapshot',
  'POST /restart/restore',
  'GET /me/ledger/monthly-summary',
  'GET /me/ledger/transactions',
  'POST /ledger/expenses',
  'GET /audit/events',
  'GET /audit/consolidation',
  'GET /auth/token/validate',
  'POST /auth/token/revoke-self',
  'POST /auth/device/start',
  'POST /auth/device/token',
  'POST /agents/register',
  'GET /agents/status',
  'POST /agents/bind/confirm-current-user',
  'POST /agents/bind/deny-current-user',
  'POST /skill/operations',
  'GET /onboarding/status',
  'GET /mcp/config/:client',
  'GET /health',
  'GET /ready',
];

/** At the root of the origin. */
const ROOT_ENDPOINTS = [
  'GET /.well-known/memory-os.json',
  'GET /.well-known/agent-discovery.json',
  'GET /.well-known/oauth-authorization-server',
  'GET /.well-known/oauth-protected-resource',
  'GET /.well-known/xmemo-agent.json',
  'POST /oauth/register',
  'GET /oauth/authorize',
  'POST /oauth/token',
  'POST /oauth/revoke',
  'GET /health',
  'GET /ready',
];

const LEFT_OUT: Readonly<Record<string, string>> = {
  'POST /mcp': 'the gateway is a process of its own, in examples/mcp-gateway',
};

t.test('the life of a memory as clients live it', async (t) => {
  const service = await startService();
  t.teardown(() => service.close());
  const { app, token } = service;
  const keyOf = (owner: string) => token({ owner, scopes: SCOPES });

  await t.test('every endpoint of the contract is there, or left out for a reason', async (t) => {
    const parts = (endpoint: string) => endpoint.split(' ') as ['GET' | 'POST' | 'PATCH', string];
    for (const mount of ['/v1', '/api/v1', '/docs/api/memory']) {
      for (const endpoint of ENDPOINTS) {
        const [method, path] = parts(endpoint);
        t.ok(app.hasRoute({ method, url: mount + path }), `${method} ${mount}${path}`);
      }
    }
    for (const endpoint of ROOT_ENDPOINTS) {
      const [method, url] = parts(endpoint);
      t.ok(app.hasRoute({ method, url }), endpoint);
    }
    for (const endpoint of Object.keys(LEFT_OUT)) {
      const [method, path] = parts(endpoint);
      t.notOk(
        app.hasRoute({ method, url: path }) || app.hasRoute({ method, url: `/v1${path}` }),
        `${endpoint} is not left out any more`,
      );
    }
  });

  await t.test('LIB: the old shapes of search, of a memory and of a conflict are understood', async (t) => {
    const send = bearer(app, t, keyOf('lib'));
    const saved = await send('POST', '/api/v1/memories', {
      text: 'Run the linter before each push.',
      category: 'workflow',
    });
    t.match(saved, { status: 201, body: { id: String, status: 'saved' } });
    t.match((await send('GET', `/api/v1/memories/${saved.body.id}`)).body, {
      content: 'Run the linter before each push.',
      path: 'workflow',
      memory_type: 'procedural',
    });
    const found = await send('GET', '/api/v1/memories/search?q=linter%20push&limit=5');
    t.match(found, { status: 200, body: { results: [{ id: saved.body.id }] } });
    t.notOk('warnings' in found.body);
    t.equal((await send('GET', '/api/v1/memories/search?q=nothing&query=linter%20push')).body.results.length, 1);
    const conflict = await send('POST', '/v1/memory-conflicts', {
      title: 'Tabs or blanks',
      context: 'Both were said.',
      resolution: 'Blanks it is.',
    });
    t.match(conflict, { status: 201, body: { id: String } });
    t.match((await send('GET', `/v1/memories/${conflict.body.id}`)).body, { content: /^Tabs.*Blanks it is\.$/s });
    for (const [path, body] of [
      ['/memories', {}],
      ['/memories', { text: 'x', category: 'other' }],
      ['/memories', { text: '  ' }],
      ['/memory-conflicts', { title: 'x' }],
    ] as const)
      t.equal((await send('POST', `/v1${path}`, body)).status, 422);
    const reader = bearer(app, t, token({ owner: 'lib', scopes: ['memory:read'] }));
    t.equal((await reader('POST', '/v1/memories', { text: 'x' })).status, 403);
    for (const path of ['/memories', '/memory-conflicts'])
      t.notOk(
        app.hasRoute({ method: 'POST', url: `/docs/api/memory${path}` }),
        'not where the service documents itself',
      );
  });

  await t.test('OC, LP: a memory is patched with nulls that mean "leave"', async (t) => {
    const send = openClaw(app, t, keyOf('oc'));
    const { id } = (
      await send('POST', '/v1/remember', { content: 'old words', path: 'openclaw', bucket: 'openclaw', scope: null })
    ).body;
    const patched = await send('PATCH', `/v1/memories/${id}`, {
      content: 'new words',
      path: null,
      bucket: null,
      scope: null,
      team_id: null,
      memory_type: null,
      status: null,
      importance: 0.9,
    });
    t.match(patched, { status: 200, body: { id } });
    t.match((await send('GET', `/v1/memories/${id}`)).body, {
      content: 'new words',
      path: 'openclaw',
      bucket: 'openclaw',
    });
    const explained = await send('GET', `/v1/memories/${id}/explain?include_embedding=false`);
    t.match(explained.body, {
      id,
      content: 'new words',
      path: 'openclaw',
      bucket: 'openclaw',
      status: 'active',
      memory: { memory_id: id, content: 'new words', version: 2 },
    });
    t.equal(
      (await send('PATCH', '/v1/memories/0198c2aa-0000-7000-8000-000000000000', { importance: 0.1 })).status,
      404,
    );
  });

  await t.test('OC: the probe finds a valid token with its scopes, and audit events', async (t) => {
    const send = openClaw(app, t, keyOf('oc-probe'));
    t.match((await send('GET', '/v1/auth/token/validate')).body, {
      status: 'valid',
      scopes: SCOPES,
      setup_state: 'setup_completed',
    });
    await send('POST', '/v1/remember', { content: 'audited' });
    t.match((await send('GET', '/v1/audit/events?limit=50')).body.events[0], {
      id: OPAQUE,
      action: String,
      created_at: String,
    });
  });

  await t.test('5. H: a replay under one key in three copies answers the same, on every write', async (t) => {
    const send = hermes(app, t, keyOf('h'));
    const { id } = (await send('POST', '/v1/remember', { content: 'x', bucket: 'work', idempotency_key: 'a' })).body;
    t.equal((await send('POST', '/v1/remember', { content: 'x', bucket: 'work', idempotency_key: 'a' })).body.id, id);
    const todo = (await send('POST', '/v1/reminders', { content: 'once', idempotency_key: 'todo' })).body.id;
    for (const [at, body] of [
      ['/v1/timeline/events', { content: 'x' }],
      ['/v1/reminders', { content: 'x' }],
      [`/v1/reminders/${todo}/complete`, { note: 'n' }],
      ['/v1/decisions', { context: 'x' }],
      ['/v1/update_state', { content: 'x' }],
      ['/v1/restart/snapshot', { label: 'x' }],
      ['/v1/ledger/expenses', { item: 'x', amount: '1' }],
      [`/v1/memories/${id}/usage`, { action: 'used' }],
      [`/v1/memories/${id}/forget`, { reason: 'x', bucket: '%' }],
    ] as const) {
      const keyed = { ...body, idempotency_key: `key ${at}`.replace(/[^\w]/g, '-') };
      const first = await send('POST', at, keyed);
      t.ok(first.status < 300, `${at} ${JSON.stringify(first.body)}`);
      const again = await send('POST', at, keyed);
      t.ok(again.status < 300, `${at} again: ${JSON.stringify(again.body)}`);
      t.equal(again.body.id, first.body.id, at);
    }
    t.equal((await send('GET', '/v1/timeline?limit=20')).body.total, 1, 'a replay writes nothing');
    t.equal((await send('GET', '/v1/me/ledger/transactions')).body.total, 1);
  });

  await t.test('5. H: its outbox sends a write again with empty texts for what was not given', async (t) => {
    const send = hermes(app, t, keyOf('h-outbox'));
    const place = { bucket: 'work', scope: 'hermes/default' };
    const { id } = (await send('POST', '/v1/remember', { content: 'x', ...place })).body;
    for (const [at, online, later] of [
      ['/v1/timeline/events', { content: 'x', ...place }, { session_id: '' }],
      ['/v1/reminders', { content: 'x', ...place }, { session_id: '', due_at: '' }],
      [
        '/v1/update_state',
        { state_key: 'active_task', current_task: 'x', ttl_seconds: 86_400, ...place },
        { state_key: undefined, next_action: '', blocked_reason: '' },
      ],
      [`/v1/memories/${id}/usage`, { action: 'used' }, { context: '' }],
      [`/v1/memories/${id}/forget`, { bucket: '%' }, { scope: null, reason: '' }],
    ] as const) {
      const idempotency_key = `outbox ${at}`.replace(/[^\w]/g, '-');
      const first = await send('POST', at, { ...online, idempotency_key });
      const again = await send('POST', at, { ...online, ...later, idempotency_key });
      t.match(again, { status: first.status, body: { id: first.body.id } }, `${at} ${JSON.stringify(again.body)}`);
    }
    const todo = (await send('POST', '/v1/reminders', { content: 'alone', due_at: '', session_id: '', ...place })).body;
    t.match(todo, { due_at: null, session_id: null });
    t.match((await send('POST', `/v1/reminders/${todo.id}/complete`, { bucket: '%', note: '' })).body, { note: null });
    for (const filter of ['bucket', 'scope', 'session_id'])
      t.equal(
        (await send('POST', '/v1/memories/forget', { [filter]: '' })).status,
        422,
        `an empty ${filter} does not widen what is forgotten`,
      );
  });

  await t.test('DSH: a forgotten memory is a 404 with a code, status reads the token', async (t) => {
    const send = deepSeek(app, t, keyOf('dsh'));
    t.equal((await send('GET', '/v1/auth/token/validate')).body.status, 'valid');
    t.match(
      await send('POST', '/v1/memories/0198c2aa-0000-7000-8000-000000000000/forget', {
        mode: 'soft_delete',
        reason: 'x',
      }),
      { status: 404, body: { detail: String, error: { code: 'not_found' } } },
    );
  });

  await t.test('CLI+: lists by literal prefix, counts, exports and imports', async (t) => {
    const send = bearer(app, t, keyOf('cli'));
    for (const path of ['a_b/one', 'aXb/two', 'a_b'])
      await send('POST', '/api/v1/remember', { content: `at ${path}`, path, bucket: 'private' });
    const listed = (await send('GET', '/api/v1/memories?path_prefix=a_b&limit=100&offset=0')).body;
    t.same((listed.items ?? listed.memories).map((m: { path: string }) => m.path).sort(), ['a_b', 'a_b/one']);
    t.match(listed, { total: 2, limit: 100, offset: 0 });
    const stats = (await send('GET', '/v1/memories/stats?group_by=path&top_n=10')).body;
    t.match(stats, {
      total_count: 3,
      filtered_count: 3,
      type_counts: Object,
      status_counts: { active: 3 },
      bucket_counts: { private: 3 },
      groups: Array,
    });
    t.same((await send('GET', '/v1/memories/stats?group_by=type%2Cstatus&top_n=10')).body.groups, [
      { group_by: { type: 'semantic', status: 'active' }, count: 3 },
    ]);
    const exported = (await send('POST', '/v1/memories/export', { limit: 500, bucket: '%' })).body;
    t.match(exported, { jsonl: String, next_cursor: null });
    const into = bearer(app, t, keyOf('cli-2'));
    const file = { limit: 2, bucket: 'private', jsonl: exported.jsonl, dry_run: false, idempotency_key: 'i' };
    for (const time of ['first', 'second']) {
      let cursor: number | null = 0;
      const pages: number[] = [];
      while (cursor !== null) {
        const page = await into('POST', '/v1/memories/import', { ...file, cursor });
        t.equal(page.status, 200, JSON.stringify(page.body));
        pages.push(page.body.imported);
        cursor = page.body.next_cursor;
      }
      t.same(pages, [2, 1], `all pages under one key, the ${time} time`);
    }
    t.equal((await into('GET', '/v1/memories')).body.total, 3);
    t.equal((await into('POST', '/v1/memories/import', { ...file, jsonl: 'x', cursor: 0 })).status, 409);
  });

  await t.test('CLI+: no list, export or explanation is longer than the two MiB that it reads', async (t) => {
    const send = bearer(app, t, keyOf('cli-long'));
    const long = 'The "quick" fox\n'.repeat(28_000);
    const ids: string[] = [];
    for (let i = 0; i < 3; i++)
      ids.push((await send('POST', '/api/v1/remember', { content: `${i} ${long}`, path: 'long' })).body.id);
    const { id } = (await send('POST', '/api/v1/remember', { content: long, path: 'history', bucket: 'history' })).body;
    for (let i = 0; i < 4; i++) await send('PATCH', `/v1/memories/${id}`, { content: `changed ${i} ${long}` });
    const read = async (method: 'GET' | 'POST', url: string, body?: object) => {
      const reply = (await send(method, url, body)).body;
      t.ok(JSON.stringify(reply).length < 2 * 1024 * 1024, url);
      return reply;
    };
    const seen: string[] = [];
    for (let cursor = ''; seen.length < 9; ) {
      const page = await read('GET', `/v1/memories?path_prefix=long&limit=100&cursor=${encodeURIComponent(cursor)}`);
      seen.push(...page.items.map((item: { id: string }) => item.id));
      if (page.next_cursor === null) break;
      cursor = page.next_cursor;
    }
    t.same(seen, [...ids].reverse());
    let lines = 0;
    for (let cursor: number | null = 0; cursor !== null && lines < 9; ) {
      const page: { jsonl: string; next_cursor: number | null } = await read('POST', '/v1/memories/export', {
        bucket: 'public',
        cursor,
      });
      lines += page.jsonl.split('\n').length - 1;
      cursor = page.next_cursor;
    }
    t.equal(lines, 3);
    t.match((await read('GET', `/v1/memories/${id}/explain?include_embedding=false`)).versions, [{ version: 5 }]);
    const words = Array.from({ length: 74_000 }, (_, i) => `w${i}`).join(' ');
    const book = (await send('POST', '/api/v1/remember', { content: words, path: 'book', bucket: 'history' })).body;
    t.ok((await read('GET', `/v1/memories/${book.id}/explain?include_embedding=true`)).embedding.length > 0);
    const versions: number[] = [];
    for (let before: number | null = 99; before !== null && versions.length < 9; ) {
      const page: { versions: { version: number }[]; next_before: number | null } = await read(
        'GET',
        `/v1/memories/${id}/versions?before=${before}`,
      );
      versions.push(...page.versions.map(({ version }) => version));
      before = page.next_before;
    }
    t.same(versions, [5, 4, 3, 2, 1]);
  });

  await t.test(
    'CLI+: knowledge asks for its first page with an empty cursor, and sends its text as content',
    async (t) => {
      const send = bearer(app, t, token({ owner: 'cli-kb', scopes: ['knowledge:read', 'knowledge:write'] }));
      const { id } = (await send('POST', '/api/v1/knowledge-bases', { name: 'kb' })).body;
      const listed = await send('GET', '/api/v1/knowledge-bases?include_archived=false&limit=100&cursor=');
      t.match(listed.body.items, [{ id, name: 'kb' }]);
      const added = await send('POST', `/api/v1/knowledge-bases/${id}/items`, {
        title: 'T'.repeat(500),
        content: 'Ferrets sleep eighteen hours a day.',
        status: 'draft',
      });
      t.match(added, { status: 201, body: { title: 'T'.repeat(500) } }, JSON.stringify(added.body));
      const found = await send('POST', '/api/v1/knowledge/search', { query: 'ferrets sleep', cursor: '' });
      t.match(found.body.results, [{ content: /Ferrets sleep/ }]);
      t.equal((await send('POST', '/api/v1/knowledge/search', { query: 'ferrets', cursor: 'x' })).status, 422);
    },
  );

  await t.test('CLI+: a state is looked at with memory:read alone, and taken up with one scope more', async (t) => {
    await bearer(app, t, keyOf('cli-state'))('POST', '/api/v1/update_state', { content: 'on it', ttl_seconds: 3600 });
    const read = bearer(app, t, token({ owner: 'cli-state', scopes: ['memory:read'] }));
    const shown = await read('POST', '/api/v1/skill/operations', {
      operation: 'state-restore',
      arguments: { state_key: 'active_task', bucket: 'work' },
    });
    t.match(shown, {
      status: 200,
      body: { result: { state_key: 'active_task', content: 'on it', version: 1, expires_at: String } },
    });
    const preview = { state_key: 'active_task', restore_state: false, record_restore_event: false };
    t.match(await read('POST', '/api/v1/restart/restore', preview), { status: 200, body: { restored: true } });
    for (const writes of [{ restore_state: true }, { record_restore_event: true }, {}]) {
      const { state_key } = preview;
      const body = Object.keys(writes).length > 0 ? { ...preview, ...writes } : { state_key };
      const refused = await read('POST', '/api/v1/restart/restore', body);
      t.match(refused, { status: 403, body: { error: { code: 'insufficient_scope' }, detail: /memory:restore/ } });
    }
    const both = bearer(app, t, token({ owner: 'cli-state', scopes: ['memory:read', 'memory:restore'] }));
    t.equal((await both('POST', '/api/v1/restart/restore', { ...preview, record_restore_event: true })).status, 200);
  });

  await t.test('SK+: reads by explain, updates, and its update operation gives the memory', async (t) => {
    const send = bearer(app, t, keyOf('sk'), 'node');
    const run = async (operation: string, args: object) =>
      (await send('POST', '/v1/skill/operations', { operation, arguments: args })).body;
    const id = (await run('remember', { content: 'first', path: 'p' })).result;
    t.match(await run('update', { id, content: 'second' }), { ok: true, result: { id } });
    const read = (await send('GET', `/v1/memories/${id}/explain?include_embedding=false`)).body;
    t.match(read, { id, content: 'second', path: 'p', version: 2 });
    t.match(await run('update', { id: '0198c2aa-0000-7000-8000-000000000000', content: 'x' }), {
      ok: false,
      error: { code: 'not_found' },
    });
    t.match(await run('doctor', {}), { result: { auth_valid: true, scopes: SCOPES } });
    t.ok((await send('POST', '/v1/auth/token/revoke-self', {})).status < 300);
    t.match(await run('doctor', {}), { result: { auth_valid: false } });
  });

  await t.test('9. redacted text is found nowhere, not in a list of work nor in a restart snapshot', async (t) => {
    const send = bearer(app, t, keyOf('redactor'));
    const todo = (await send('POST', '/v1/reminders', { content: 'call the numbat keeper' })).body.id;
    const decision = (
      await send('POST', '/v1/decisions', { context: 'numbat or quoll?', options: ['numbat', 'quoll'] })
    ).body.id;
    const state = (
      await send('POST', '/v1/update_state', { content: 'numbat count is 12', current_task: 'count numbats' })
    ).body.id;
    const snapshot = (await send('POST', '/v1/restart/snapshot', {})).body.id;
    for (const id of [todo, decision, state]) {
      const done = await send('POST', `/v1/memories/${id}/forget`, {
        mode: 'redact',
        replacement_content: '[redacted]',
        reason: 'x',
      });
      t.ok(done.status < 300, JSON.stringify(done.body));
    }
    for (const at of [
      '/v1/reminders?item_status=%25',
      '/v1/decisions?item_status=%25',
      '/v1/timeline',
      '/v1/recall?query=numbat&limit=50',
      '/v1/memories/search?query=numbat%20count',
    ]) {
      const results = (await send('GET', at)).body;
      t.notMatch(JSON.stringify({ ...results, retrieval_plan: null }), 'numbat', at);
    }
    const restored = await send('POST', '/v1/restart/restore', { snapshot_id: snapshot, record_restore_event: false });
    t.notMatch(JSON.stringify(restored.body), 'numbat');
    t.notMatch(
      JSON.stringify((await send('POST', '/v1/restart/restore', { record_restore_event: false })).body),
      'numbat',
    );
  });

  await t.test('12. the check of a token without one, and with a bad one, is a 401', async (t) => {
    const send = anonymous(app, t);
    t.equal((await send('GET', '/v1/auth/token/validate')).status, 401);
    t.equal(
      (await send('GET', '/v1/auth/token/validate', undefined, { 'x-api-key': 'mos_abc:r-nonsense-secret' })).status,
      401,
    );
  });

  await t.test('a completed reminder and a resolved decision keep their versions', async (t) => {
    const send = bearer(app, t, keyOf('versions'));
    const { id } = (await send('POST', '/v1/reminders', { content: 'x' })).body;
    await send('POST', `/v1/reminders/${id}/complete`, {});
    const explained = (await send('GET', `/v1/memories/${id}/explain`)).body;
    t.match(explained, { status: 'archived', version: 2 });
    t.equal(explained.versions?.length >= 1, true, 'the open one is an earlier version');
  });
});

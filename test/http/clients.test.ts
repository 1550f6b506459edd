/** What XMemo's clients send, and what they read: written from the wire contract, one client after the other, then its fifteen behaviours. */
import t from 'tap';
import { anonymous, bearer, deepSeek, hermes, openClaw } from '../helpers/clients.ts';
import { startService } from '../helpers/service.ts';

const SCOPES = ['memory:read', 'memory:write', 'memory:delete', 'memory:restore', 'ledger:read', 'ledger:write'];
const OPAQUE = /^[^\s/]{1,256}$/;

t.test('clients', async (t) => {
  const service = await startService();
  t.teardown(() => service.close());
  const { app, token } = service;
  const keyOf = (owner: string, scopes: readonly string[] = SCOPES) => token({ owner, scopes });

  await t.test('OC: OpenClaw stores, recalls, reads, forgets and tracks work with explicit nulls', async (t) => {
    const send = openClaw(app, t, keyOf('oc'));
    const stored = await send('POST', '/v1/remember', {
      content: 'The staging cluster runs in Frankfurt.',
      path: 'openclaw',
      bucket: 'openclaw',
      scope: null,
      team_id: null,
      memory_type: 'semantic',
      semantic_key: null,
      importance: 0.7,
      confidence: 0.7,
      expires_at: null,
      source: 'openclaw',
      metadata: { source_agent: 'openclaw', retrieval_tags: ['infra'] },
    });
    t.ok(stored.status < 300, 'a 2xx');
    const { id } = stored.body;
    t.match(id, OPAQUE);
    const context = await send('POST', '/v1/recall/context', {
      query: 'where does staging run?',
      bucket: '%',
      scope: null,
      team_id: null,
      max_items: 8,
      max_tokens: 4000,
      prefer_working: true,
    });
    t.match(context.body.items[0], { id, content: /Frankfurt/, path: 'openclaw', bucket: 'openclaw', scope: null });
    t.type(context.body.items[0].score, 'number');
    t.match(context.body.budget, { tokens: Number, items: 1 });
    t.equal(context.body.context_text.split(/\n\s*\n/).length, context.body.items.length, 'section i is item i');
    for (const query of ['Frankfurt', id]) {
      const found = await send('GET', `/v1/memories/search?query=${encodeURIComponent(query)}&bucket=%25&limit=5`);
      t.ok(
        found.body.results.some((r: { id: string }) => r.id === id),
        query,
      );
    }
    const got = await send('GET', `/v1/memories/${id}`);
    t.match(got.body, {
      id,
      content: String,
      memory_type: 'semantic',
      status: 'active',
      created_at: String,
      updated_at: String,
    });
    t.ok(Math.abs(got.body.importance - 0.7) < 1e-6);

    const todo = (
      await send('POST', '/v1/reminders', {
        content: 'rotate keys',
        bucket: 'openclaw',
        scope: null,
        team_id: null,
        due_at: null,
        metadata: {},
      })
    ).body;
    const shown = todo.reminder ?? todo.item ?? todo.result ?? todo;
    t.match(shown, { id: todo.id, content: 'rotate keys', status: 'open' });
    const listed = await send('GET', '/v1/reminders?bucket=%25&item_status=open&limit=20');
    t.match(listed.body.reminders, [{ id: todo.id, item_status: 'open', bucket: 'openclaw' }]);
    t.match((await send('POST', `/v1/reminders/${todo.id}/complete`, {})).body, { id: todo.id, status: 'completed' });

    const event = (
      await send('POST', '/v1/timeline/events', {
        content: 'Deployed',
        event_type: 'release',
        bucket: 'openclaw',
        scope: null,
        team_id: null,
        session_id: null,
        occurred_at: null,
        source: 'openclaw',
        metadata: {},
      })
    ).body;
    const unwrapped = event.event ?? event.timeline_event ?? event.result ?? event;
    t.match(unwrapped, { id: OPAQUE, event_type: 'release', occurred_at: String });

    const none = await send('POST', '/v1/restart/restore', {
      snapshot_id: null,
      bucket: 'openclaw',
      scope: null,
      team_id: null,
    });
    t.ok(
      none.status === 200 && none.body.restored === false && none.body.status !== 'restored',
      'nothing to restore is no error',
    );
    const snapshot = await send('POST', '/v1/restart/snapshot', {
      label: null,
      bucket: 'openclaw',
      scope: null,
      team_id: null,
      metadata: {},
    });
    t.match(snapshot.body, { id: OPAQUE, label: null, created_at: String });
    const restored = await send('POST', '/v1/restart/restore', {
      snapshot_id: snapshot.body.id,
      bucket: 'openclaw',
      scope: null,
      team_id: null,
    });
    t.match(restored.body, { restored: true, status: 'restored', snapshot_id: snapshot.body.id });

    const ledger = await send('GET', '/v1/me/ledger/monthly-summary?month=5&year=2026&currency=CNY');
    t.match(ledger.body, { month: String, currency: 'CNY', total: 0, count: 0, summary: [] });
    t.ok(
      (
        await send('POST', `/v1/memories/${id}/forget`, {
          mode: 'soft_delete',
          reason: null,
          replacement_content: null,
        })
      ).status < 300,
    );
    t.equal((await send('GET', `/v1/memories/${id}`)).status, 404);
  });

  await t.test('OC: all three ways to send the key work', async (t) => {
    const key = keyOf('oc-auth');
    const send = anonymous(app, t);
    for (const headers of [
      { 'x-api-key': key },
      { authorization: `Bearer ${key}` },
      { 'x-api-key': key, authorization: `Bearer ${key}` },
    ]) {
      t.equal((await send('GET', '/v1/memories/search?query=x', undefined, headers)).status, 200);
    }
  });

  await t.test(
    'LP: the live proof runs through, a reminder is completed twice, and it cleans up after itself',
    async (t) => {
      const send = openClaw(app, t, keyOf('lp'));
      const mark = 'live-proof-5f1e';
      const bucket = 'openclaw-live-proof';
      const common = { bucket, scope: 'live-proof', team_id: null };
      const stored = await send(
        'POST',
        '/v1/remember',
        {
          content: `${mark} 自注册 无需预注册 Agent Identity`,
          path: bucket,
          memory_type: 'semantic',
          source: bucket,
          ...common,
        },
        { 'x-memory-os-agent-id': 'openclaw-live-proof' },
      );
      t.match(stored.body.id, OPAQUE);
      const found = await send('GET', `/v1/memories/search?query=${mark}&bucket=${bucket}&scope=live-proof&limit=5`);
      t.equal(found.body.results[0]?.id, stored.body.id, 'searched immediately after storing');
      const todo = await send('POST', '/v1/reminders', { content: `${mark} todo`, ...common, due_at: null });
      t.match(todo.body, { id: OPAQUE, content: `${mark} todo`, status: String });
      for (const time of ['first', 'second']) {
        const done = await send('POST', `/v1/reminders/${todo.body.id}/complete`, {});
        t.match(done, { status: 200, body: { id: todo.body.id } }, time);
      }
      t.match(
        (await send('POST', '/v1/timeline/events', { content: `${mark} event`, event_type: 'validation', ...common }))
          .body.id,
        OPAQUE,
      );
      const snapshot = (await send('POST', '/v1/restart/snapshot', { label: mark, ...common })).body;
      const restored = await send('POST', '/v1/restart/restore', {
        snapshot_id: snapshot.id,
        restore_state: false,
        record_restore_event: false,
        ...common,
      });
      t.match(restored.body, { restored: true });
      t.match(
        (await send('GET', '/v1/timeline?bucket=openclaw-live-proof')).body.events.length,
        1,
        'the restore left no event',
      );
      for (const id of [stored.body.id, todo.body.id, snapshot.id]) {
        t.ok(
          (await send('POST', `/v1/memories/${id}/forget`, { reason: 'live proof cleanup' })).status < 300,
          'whatever was written can be forgotten by its id',
        );
      }
      t.same((await send('GET', `/v1/memories/search?query=${stored.body.id}&limit=5`)).body.results, []);
    },
  );

  await t.test('H: Hermes writes with three copies of a key, percent signs and booleans as text', async (t) => {
    const send = hermes(app, t, keyOf('h'));
    t.equal((await send('GET', '/health')).status, 200);
    const stored = await send('POST', '/v1/remember', {
      content: 'Bruno prefers pytest',
      path: 'preferences',
      bucket: 'work',
      scope: 'hermes/default',
      memory_type: 'semantic',
      dedupe: true,
      importance: 0.6,
      confidence: 0.9,
      idempotency_key: 'h-1',
    });
    t.match(stored.body, { id: OPAQUE, status: String });
    const context = await send('POST', '/v1/recall/context', {
      query: 'does Bruno prefer pytest',
      bucket: '%',
      memory_type: 'auto',
      max_items: 5,
      max_tokens: 900,
      prefer_working: true,
    });
    t.match(context.body, {
      context_text: /pytest/,
      items: [{ similarity: Number, scope: 'hermes/default', agent_boundary: 'self' }],
    });
    const pasted = { query: `does Bruno prefer pytest ${'\u{1f4dd}'.repeat(3_000)}`, max_tokens: 900 };
    for (const path of ['/v1/recall/context', '/api/v1/recall'])
      t.match(
        (await send('POST', path, pasted)).body,
        { warnings: [/^query: only its first 4000/] },
        `${path}: a message of any length`,
      );
    const strict = await send(
      'GET',
      '/v1/memories/search?query=pytest&bucket=%25&memory_type=%25&limit=5&explain=false&prefer_working=false',
    );
    t.match(strict.body.results[0], { id: stored.body.id, score: Number, similarity: Number });
    t.match(
      (
        await send('POST', '/v1/timeline/events', {
          content: 'Session began',
          event_type: 'event',
          bucket: 'work',
          scope: 'hermes/default',
          session_id: 's',
          idempotency_key: 'h-2',
        })
      ).body.id,
      OPAQUE,
    );
    const todo = (
      await send('POST', '/v1/reminders', {
        content: 'write tests',
        bucket: 'work',
        scope: 'hermes/default',
        idempotency_key: 'h-3',
      })
    ).body;
    const list = (await send('GET', '/v1/reminders?bucket=%25&item_status=%25&limit=10')).body;
    t.match(list.items ?? list.reminders ?? list, [{ id: todo.id, content: 'write tests' }]);
    const done = await send('POST', `/v1/reminders/${todo.id}/complete`, {
      bucket: '%',
      scope: 'hermes/default',
      note: 'done',
      idempotency_key: 'h-4',
    });
    t.match(done.body, { id: todo.id, item_status: 'completed', note: 'done' });
    const state = await send('POST', '/v1/update_state', {
      state_key: 'active_task',
      current_task: 'tests',
      next_action: 'run them',
      bucket: 'work',
      scope: 'hermes/default',
      ttl_seconds: 86_400,
      idempotency_key: 'h-5',
    });
    t.match(state.body, {
      id: OPAQUE,
      memory_id: state.body.id,
      state_key: 'active_task',
      version: 1,
      expires_at: String,
    });
    t.match(
      (
        await send('POST', '/v1/restart/snapshot', {
          bucket: 'work',
          scope: 'hermes/default',
          session_id: 's',
          state_key: 'active_task',
          timeline_limit: 20,
          reminder_limit: 20,
          decision_limit: 20,
          ttl_seconds: 604_800,
          idempotency_key: 'h-6',
        })
      ).body.id,
      OPAQUE,
    );
    t.ok(
      (
        await send('POST', `/v1/memories/${stored.body.id}/forget`, {
          reason: 'asked to',
          bucket: '%',
          idempotency_key: 'h-7',
        })
      ).status < 300,
    );
  });

  await t.test(
    'DSH: DeepSeek repeats its writes without a key, and reads exact bucket and scope on every item',
    async (t) => {
      for (const credential of ['key', 'bearer'] as const) {
        const send = deepSeek(app, t, keyOf(`dsh-${credential}`), credential);
        const write = {
          content: 'Prefers tabs',
          path: 'dsh/memory',
          bucket: 'private',
          scope: 'dsh',
          semantic_key: 'dsh-local:memory-1',
          dedupe: true,
          importance: 0.5,
          confidence: 0.95,
        };
        const first = await send('POST', '/v1/remember', write);
        t.equal((await send('POST', '/v1/remember', write)).body.id, first.body.id, 'a replay is harmless');
        await send('POST', '/v1/remember', { content: 'Prefers tabs elsewhere', bucket: 'work', scope: 'other' });
        const pack = await send('POST', '/v1/recall/context', {
          query: 'tabs',
          bucket: 'private',
          scope: 'dsh',
          max_items: 8,
          max_tokens: 1200,
          prefer_working: true,
        });
        t.ok(pack.body.items.length > 0);
        for (const item of pack.body.items)
          t.match(item, { bucket: 'private', scope: 'dsh', id: OPAQUE, memory_id: item.id });

        const event = await send('POST', '/v1/timeline/events', {
          content: 'Began',
          event_type: 'milestone',
          path: 'dsh/timeline',
          scope: 'dsh',
          importance: 0.5,
          confidence: 0.95,
        });
        const timeline = (await send('GET', '/v1/timeline?limit=20&bucket=work&scope=dsh&status=active')).body;
        t.match(timeline.events ?? timeline.items, [
          {
            id: event.body.id,
            event_type: 'milestone',
            scope: 'dsh',
            importance: 0.5,
            confidence: Number,
            session_id: null,
          },
        ]);
        const decision = await send('POST', '/v1/decisions', {
          context: 'Tabs or spaces?',
          options: ['tabs', `spaces, ${'since '.repeat(400)}`],
          scope: 'dsh',
          path: 'dsh/decisions',
        });
        const open = (await send('GET', '/v1/decisions?scope=dsh&item_status=open&limit=20')).body.decisions;
        t.match(open, [
          {
            id: decision.body.id,
            context: 'Tabs or spaces?',
            options: ['tabs', /^spaces, since/],
            scope: 'dsh',
            item_status: 'open',
          },
        ]);
        t.equal((await send('POST', `/v1/decisions/${decision.body.id}/resolve`, { resolution: 'tabs' })).status, 200);
        const todo = await send('POST', '/v1/reminders', { content: 'reformat', scope: 'dsh', path: 'dsh/todos' });
        t.equal((await send('POST', `/v1/reminders/${todo.body.id}/complete`, { note: 'done' })).status, 200);
        t.match((await send('GET', '/v1/reminders?scope=dsh&item_status=completed')).body.reminders, [
          { id: todo.body.id, item_status: 'completed' },
        ]);

        await send('POST', '/v1/update_state', {
          state_key: 'active_task',
          content: 'formatting',
          current_task: 'format',
          next_action: 'commit',
          scope: 'dsh',
          path: 'dsh/state',
          ttl_seconds: 604_800,
        });
        const back = await send('POST', '/v1/restart/restore', {
          state_key: 'active_task',
          scope: 'dsh',
          restore_state: true,
          record_restore_event: true,
        });
        t.match(back.body.snapshot.active_state, {
          memory_id: OPAQUE,
          content: /formatting/,
          metadata: { current_task: 'format', next_action: 'commit' },
          expires_at: String,
        });
        t.equal(back.body.content, undefined, 'the state is not at the root');

        const refused = await send('POST', '/v1/remember', { bucket: 'private' });
        t.equal(refused.status, 422);
        t.match(refused.body.detail, [{ loc: ['body', 'content'], msg: String, type: String }]);
        const missing = await send('POST', '/v1/reminders/0198c2aa-0000-7000-8000-000000000000/complete', {});
        t.match(missing, { status: 404, body: { detail: String } });
        t.ok(
          (await send('POST', `/v1/memories/${first.body.id}/forget`, { mode: 'hard_delete', reason: 'x' })).status <
            300,
        );
      }
    },
  );

  await t.test('CLI+: the command line recalls under both mounts and takes a bare list or results', async (t) => {
    const send = bearer(app, t, keyOf('cli'));
    const { id, memory_id } = (
      await send('POST', '/api/v1/remember', { content: 'Lynx are shy', path: 'animals/lynx', bucket: 'public' })
    ).body;
    t.equal(memory_id, id);
    for (const mount of ['/v1', '/api/v1']) {
      const reply = await send(
        'GET',
        `${mount}/recall?query=lynx&limit=5&path=%25&bucket=%25&memory_type=%25&explain=false`,
      );
      const list = Array.isArray(reply.body) ? reply.body : (reply.body.results ?? reply.body.result);
      t.match(list, [{ memory_id: id, path: 'animals/lynx', created_at: String, similarity: Number }]);
    }
    t.equal(
      (
        await send('POST', '/api/v1/recall/context', {
          query: 'lynx',
          max_items: 5,
          max_tokens: 1500,
          prefer_working: true,
          include_knowledge: false,
        })
      ).status,
      200,
    );
    t.equal(
      (await send('POST', '/api/v1/recall/context', { query: 'lynx', max_items: 500 })).status,
      422,
      'beyond the documented bound',
    );
    const refused = await send('GET', '/v1/recall');
    t.match(refused.body, { error: { code: 'validation_error', message: String }, detail: Array });
    const noScope = await bearer(app, t, keyOf('cli', ['memory:read']))('POST', '/v1/remember', { content: 'x' });
    t.match(noScope, { status: 403, body: { error: { code: 'insufficient_scope' }, detail: /scope/ } });
    t.match((await send('POST', '/v1/update_state', { content: 'x', ttl_seconds: 0 })).body, { expires_at: null });
  });

  await t.test('CLI: discovery, onboarding and the config of a client come without a token', async (t) => {
    const send = anonymous(app, t);
    const found = (await send('GET', '/.well-known/memory-os.json')).body;
    t.match(found, {
      service: 'memory-os',
      version: /^0\.4\./,
      urls: { mcp: String },
      auth: { token_in_discovery: false },
    });
    t.equal((await send('GET', new URL(found.urls.onboarding_status).pathname)).body.ready, true);
    for (const client of found.clients.mcp)
      t.equal((await send('GET', new URL(client.config_endpoint).pathname)).status, 200);
    for (const at of ['/health', '/ready', '/v1/health']) t.equal((await send('GET', at)).status, 200, at);
    const started = await send('POST', '/api/v1/auth/device/start', {
      client_id: '@xmemo/client',
      cli_version: '0.4.176',
      token_type: 'mcp_token',
      scopes: ['memory:read', 'memory:write'],
    });
    t.equal(started.status, 200);
    const waiting = await send('POST', '/api/v1/auth/device/token', {
      device_code: started.body.device_code,
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    });
    t.match(waiting, { status: 400, body: { error: 'authorization_pending' } });
  });

  await t.test('SK: the old skill sends every value as text and prints narrow results', async (t) => {
    const send = bearer(app, t, keyOf('sk'), 'node');
    const run = async (operation: string, args: object) => {
      const client = {
        surface: 'standalone_skill',
        skill_version: '1.0.0',
        agent_id: 'xmemo-skill',
        agent_instance_id: 'x',
      };
      const reply = await send('POST', '/v1/skill/operations', { operation, arguments: args, client });
      t.match(reply, { status: 200, body: { ok: true, operation } }, JSON.stringify(reply.body).slice(0, 200));
      return reply.body.result;
    };
    t.match(await run('remember', { content: 'Ibex climb', path: 'animals' }), OPAQUE);
    t.match(await run('recall', { query: 'ibex', limit: '5' }), [
      { id: OPAQUE, path: 'animals', content: 'Ibex climb' },
    ]);
    t.ok(Array.isArray(await run('search', { query: 'ibex', limit: '5' })));
    t.match(await run('expense-add', { item: 'rope', amount: '15.5', currency: 'USD', date: '2026-05-04' }), OPAQUE);
    t.match(await run('todo-add', { content: 'buy rope' }), OPAQUE);
    t.match(await run('todo-list', {}), [{ id: OPAQUE, content: 'buy rope', status: 'open' }]);
    t.equal(await run('state-restore', { key: 'none' }), null);
    t.match(await anonymous(app, t)('POST', '/v1/skill/operations', { operation: 'doctor', arguments: {} }), {
      status: 200,
      body: { ok: true, result: { status: 'ok', auth_valid: false } },
    });
  });

  await t.test(
    'SK+: the new skill sends numbers, reads request ids, and finds a failure by ok, code and status',
    async (t) => {
      const send = bearer(app, t, keyOf('sk+'), 'node');
      const context = await send('POST', '/v1/recall/context', {
        query: 'anything',
        path: '%',
        bucket: '%',
        memory_type: 'auto',
        status: 'active',
        prefer_working: true,
      });
      t.match(context, { status: 200, body: { items: [], context_text: '' } });
      const snapshot = await send('POST', '/v1/restart/snapshot', { label: 'x', ttl_seconds: '3600' });
      t.match(snapshot.body, { id: OPAQUE, expires_at: String });
      t.match((await send('POST', '/v1/restart/restore', {})).body, {
        restored: true,
        restored_at: String,
        id: OPAQUE,
      });
      t.match(
        (await send('POST', '/v1/skill/operations', { operation: 'ledger-summary', arguments: { months: 6 } })).body
          .result,
        { summary: [] },
      );
      t.match(
        (
          await send('POST', '/v1/skill/operations', {
            operation: 'ledger-list',
            arguments: { limit: 30, min_amount: 1.5, transaction_type: 'expense' },
          })
        ).body.result,
        { transactions: [], total: 0 },
      );
      t.match((await send('POST', '/v1/skill/operations', { operation: 'overview', arguments: {} })).body.result, {
        memories_total: Number,
        storage_mb: Number,
      });
      const refused = await send('POST', '/v1/skill/operations', { operation: 'no-such', arguments: {} });
      t.match(refused.body, {
        ok: false,
        error: { code: String, message: String, request_id: String },
        request_id: String,
      });
    },
  );
});

t.test('fifteen behaviours that a naive server gets wrong', async (t) => {
  const service = await startService();
  t.teardown(() => service.close());
  const { app, call, token } = service;
  const key = token({ owner: 'f', scopes: SCOPES });
  const send = openClaw(app, t, key);
  const remember = async (body: object): Promise<string> => (await send('POST', '/v1/remember', body)).body.id;

  await t.test('1. text stands in the items and, in the same order, in context_text', async (t) => {
    for (let i = 0; i < 4; i++)
      await remember({ content: `Ferret fact ${i}.\n\n\nIt has\n\nblank lines ${i}.`, path: 'f/ferrets' });
    const { items, context_text } = (
      await send('POST', '/v1/recall/context', { query: 'ferret fact blank lines', max_tokens: 4000 })
    ).body;
    const sections = context_text.split(/\n\s*\n/);
    t.equal(sections.length, items.length);
    for (const [i, item] of items.entries()) {
      t.ok(item.content.length > 0);
      t.match(sections[i], item.content.slice(0, 13), 'section i is item i');
    }
  });

  await t.test('2. bucket and scope stand on every item, and nothing foreign does', async (t) => {
    await remember({ content: 'ferret in scope', bucket: 'b1', scope: 's1' });
    const { items } = (await send('POST', '/v1/recall/context', { query: 'ferret', bucket: 'b1', scope: 's1' })).body;
    t.match(items, [{ bucket: 'b1', scope: 's1' }]);
    t.equal(items.length, 1);
  });

  await t.test('3. a percent sign, null and absence all mean no filter', async (t) => {
    const ids = async (more: object) =>
      (
        await send('POST', '/v1/recall/context', { query: 'ferret', max_items: 50, max_tokens: 12_000, ...more })
      ).body.items.map((i: { id: string }) => i.id);
    const all = await ids({});
    t.same(await ids({ bucket: '%', scope: '%', path: '%', memory_type: '%', status: null, team_id: null }), all);
    t.same(await ids({ bucket: null, scope: null, path: null, memory_type: 'auto' }), all);
    const query = await send('GET', '/v1/recall?query=ferret&limit=50&bucket=%25&scope=%25&path=%25&memory_type=%25');
    t.same(
      new Set(query.body.results.map((r: { id: string }) => r.id)),
      new Set((await send('GET', '/v1/recall?query=ferret&limit=50')).body.results.map((r: { id: string }) => r.id)),
    );
  });

  await t.test('4. two ways to send a credential, and refusals that say which kind', async (t) => {
    const nobody = anonymous(app, t);
    t.equal((await nobody('GET', '/v1/recall?query=x')).body.error.code, 'missing_credentials');
    t.equal(
      (await nobody('GET', '/v1/recall?query=x', undefined, { 'x-api-key': 'mos_abc:r-wrong-secret' })).body.error.code,
      'invalid_token',
    );
    t.equal(
      (await nobody('GET', '/v1/recall?query=x', undefined, { 'x-api-key': key, authorization: `Bearer ${key}` }))
        .status,
      200,
    );
    t.equal(
      (await nobody('POST', '/v1/reminders', { content: 'x' }, { 'x-api-key': token({ scopes: ['memory:read'] }) }))
        .status,
      403,
    );
  });

  await t.test('5. the key of a write may stand in three places on every route', async (t) => {
    const h = hermes(app, t, key);
    const id = await remember({ content: 'keyed', semantic_key: 'dsh-local:1', dedupe: true, idempotency_key: 'a' });
    t.equal(await remember({ content: 'keyed', semantic_key: 'dsh-local:1', dedupe: true }), id);
    const todo = (await h('POST', '/v1/reminders', { content: 'x', idempotency_key: 'b' })).body.id;
    for (const [at, body] of [
      ['/v1/timeline/events', { content: 'x' }],
      [`/v1/reminders/${todo}/complete`, {}],
      ['/v1/decisions', { context: 'x' }],
      ['/v1/update_state', { content: 'x' }],
      ['/v1/restart/snapshot', {}],
      ['/v1/restart/restore', {}],
      ['/v1/ledger/transactions', { item: 'x', amount: 1 }],
      ['/v1/recall/context', { query: 'x' }],
      [`/v1/memories/${id}/forget`, { bucket: '%' }],
    ] as const) {
      const reply = await h('POST', at, { ...body, idempotency_key: `k-${at}` });
      t.ok(reply.status < 300, `${at} ${JSON.stringify(reply.body)}`);
      t.equal(reply.body.warnings, undefined, `${at} knows the field`);
    }
  });

  await t.test('6. always JSON, never a redirect, never an empty body', async (t) => {
    for (const at of [
      '/v1/recall/?query=x',
      '/v1//recall?query=x',
      '/v1/reminders/',
      '/v1/timeline/',
      '/v1/decisions/',
    ])
      t.equal((await send('GET', at)).status, 200, at);
    for (const at of ['/v1/nothing', '/nothing', '/v1/reminders/x/y/z'])
      t.match(await send('GET', at), { status: 404, body: { error: { code: 'route_not_found' } } });
    const empty = await app.inject({
      method: 'POST',
      url: '/v1/restart/restore',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      payload: '',
    });
    t.equal(empty.statusCode, 200, 'an empty JSON body is {}');
  });

  await t.test('7. an opaque id stands at the root of every write', async (t) => {
    for (const [at, body, isMemory] of [
      ['/v1/remember', { content: 'a' }, true],
      ['/v1/timeline/events', { content: 'a' }, true],
      ['/v1/reminders', { content: 'a' }, true],
      ['/v1/decisions', { context: 'a' }, true],
      ['/v1/update_state', { content: 'a' }, true],
      ['/v1/restart/snapshot', {}, true],
      ['/v1/ledger/transactions', { item: 'a', amount: '1' }, false],
      ['/v1/ledger/expenses', { item: 'a', amount: '1' }, false],
    ] as const) {
      const { body: reply } = await send('POST', at, body);
      t.match(reply.id, OPAQUE, at);
      if (isMemory) t.equal(reply.memory_id, reply.id, at);
      for (const wrapper of ['reminder', 'event', 'timeline_event', 'item', 'result'])
        t.equal(reply[wrapper]?.id ?? reply.id, reply.id);
    }
  });

  await t.test('8. scores are numbers between 0 and 1, descending', async (t) => {
    for (const at of ['/v1/recall?query=ferret&limit=20', '/v1/memories/search?query=ferret%20fact&limit=20']) {
      const scores = (await send('GET', at)).body.results.map((r: { score: number }) => r.score);
      t.ok(
        scores.every((s: unknown) => typeof s === 'number' && s >= 0 && s <= 1),
        at,
      );
      t.same(
        scores,
        [...scores].sort((a, b) => b - a),
        at,
      );
    }
  });

  await t.test('9. an id as the query finds that memory, and a forgotten one is found nowhere', async (t) => {
    const id = await remember({ content: 'a polecat to be forgotten' });
    t.match((await send('GET', `/v1/memories/search?query=${id}&limit=5`)).body.results, [{ id }]);
    await send('POST', `/v1/memories/${id}/forget`, {});
    for (const at of [`/v1/memories/search?query=${id}`, '/v1/recall?query=polecat&limit=50']) {
      t.notOk(
        (await send('GET', at)).body.results.some((r: { id: string }) => r.id === id),
        at,
      );
    }
    t.equal((await send('GET', `/v1/memories/${id}`)).status, 404);
    const todo = (await send('POST', '/v1/reminders', { content: 'a polecat todo' })).body.id;
    await send('POST', `/v1/memories/${todo}/forget`, {});
    t.notMatch(
      JSON.stringify((await send('GET', '/v1/reminders?item_status=%25&limit=100')).body),
      todo,
      'nor in the lists of work',
    );
    t.equal((await send('POST', `/v1/reminders/${todo}/complete`, {})).status, 404);
  });

  await t.test('10. an error is read in several ways, and as a plain string on the routes of OAuth', async (t) => {
    const invalid = await send('POST', '/v1/reminders', {});
    t.match(invalid.body, {
      detail: [{ loc: ['body', 'content'], msg: String, type: String }],
      error: { code: 'validation_error', message: String, request_id: String },
      request_id: invalid.headers['x-request-id'],
    });
    const missing = await send('GET', '/v1/memories/nope');
    t.type(missing.body.detail, 'string');
    t.equal((await send('POST', '/v1/auth/device/token', { device_code: 'nope' })).body.error, 'invalid_grant');
  });

  await t.test('11. completing a reminder is idempotent, under both names of list and status', async (t) => {
    const { id } = (await send('POST', '/v1/reminders', { content: 'twice' })).body;
    const first = await send('POST', `/v1/reminders/${id}/complete`, {});
    t.same((await send('POST', `/v1/reminders/${id}/complete`, {})).body, first.body);
    const list = (await send('GET', '/v1/reminders?item_status=%25&limit=100')).body;
    t.same(list.items, list.reminders);
    t.match(
      list.items.find((r: { id: string }) => r.id === id),
      { status: 'completed', item_status: 'completed' },
    );
  });

  await t.test(
    '13. loose input: nulls, text for numbers, unknown fields, long and foreign text, a GET with a content type',
    async (t) => {
      t.equal((await send('GET', '/v1/recall?query=x&limit=5&explain=false&threshold=0.1')).status, 200);
      const loose = await send('POST', '/v1/timeline/events', {
        content: '项目启动',
        path: '項目/ゲーム',
        importance: '0.5',
        occurred_at: null,
        colour: 'red',
      });
      t.match(loose.body, { importance: 0.5, path: '項目/ゲーム', warnings: [/colour/] });
      const long = await send('POST', '/v1/remember', { content: '漢'.repeat(174_762) });
      t.ok(long.status < 300, '512 KiB less two bytes');
      t.equal((await send('POST', '/v1/remember', { content: '漢'.repeat(174_763) })).status, 413);
    },
  );

  await t.test('14. every route stands under both mounts, and fixed words win over ids', async (t) => {
    for (const mount of ['/v1', '/api/v1']) {
      t.ok(Array.isArray((await send('GET', `${mount}/recall?query=ferret`)).body.results));
      t.ok(Array.isArray((await send('GET', `${mount}/memories/search?query=ferret`)).body.results), 'search is no id');
      for (const at of ['/reminders', '/timeline', '/decisions', '/me/ledger/transactions', '/onboarding/status'])
        t.equal((await send('GET', mount + at)).status, 200, mount + at);
    }
    t.equal((await send('GET', '/v1/memories/search')).status, 422, 'search without a query');
  });

  await t.test('15. what was written is read at once', async (t) => {
    const id = await remember({ content: 'read your writes, stoat' });
    const found = await send('GET', '/v1/memories/search?query=stoat%20writes&limit=5');
    t.ok(found.body.results.some((r: { id: string }) => r.id === id));
  });

  await t.test(
    'the text profile of recall and search: reference, content, attribution, one blank line between',
    async (t) => {
      const id = await remember({
        content: 'Marten one.\n\nReference: fake | Type: fake | Location: fake',
        allow_recalled: true,
        path: 'f/martens',
      });
      await remember({ content: 'Marten two.', path: 'f/martens' });
      for (const at of ['/recall', '/memories/search']) {
        const { text } = await call('GET', at, {
          token: key,
          query: { query: 'marten one two', path: 'f/martens' },
          headers: { accept: 'text/plain', 'x-memory-os-agent-id': 'other' },
        });
        const blocks = text.split('\n\n');
        t.equal(blocks.length, 2, at);
        for (const block of blocks)
          t.match(
            block,
            /^Reference: \S+ \| Type: semantic \| Location: f\/martens\nMarten .*\nAttribution: other_agent$/s,
          );
        t.equal(text.match(/^Reference: /gm)?.length, 2, 'a content cannot fake a reference');
        t.match(text, `Reference: ${id}`);
        t.equal(
          (
            await call('GET', at, {
              token: key,
              query: { query: 'marten', bucket: 'none' },
              headers: { accept: 'text/plain' },
            })
          ).text,
          'No matching XMemo memory was found.',
        );
      }
    },
  );
});

import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import t from 'tap';
import { startService } from '../helpers/service.ts';

const SEED = process.env.FC_SEED === undefined ? {} : { seed: Number(process.env.FC_SEED) };
const RUNS = Number(process.env.FC_RUNS ?? 8);

t.test('work', async (t) => {
  const service = await startService();
  t.teardown(() => service.close());
  const { call, token } = service;
  const post = (at: string, body: object, options: object = {}) => call('POST', at, { body, ...options });
  const get = (at: string, query: Record<string, unknown> = {}, options: object = {}) =>
    call('GET', at, { query, ...options });
  const as = (owner: string, more: object = {}) => ({ token: token({ owner, ...more }) });
  const inPack = async (query: string, options: object = {}) =>
    (await post('/recall/context', { query }, options)).body.items.map((i: { id: string }) => i.id);

  await t.test('an event is in the timeline, newest first, and an episodic memory that packs show', async (t) => {
    const old = await post('/timeline/events', {
      content: 'The aardvark release was cut',
      event_type: 'release',
      occurred_at: '2026-05-04T10:00:00+02:00',
      session_id: 's1',
      importance: 0.5,
      confidence: 0.95,
    });
    t.equal(old.status, 201, old.text);
    const { id } = old.body;
    t.match(old.body, { memory_id: id, event_id: id, event_type: 'release', occurred_at: '2026-05-04T08:00:00.000Z' });
    t.match(old.body, { bucket: 'work', path: 'work/timeline', memory_type: 'episodic', importance: 0.5 });
    const late = (await post('/timeline/events', { content: 'The aardvark release was rolled back' })).body;
    t.equal(late.event_type, 'event');
    const listed = (await get('/timeline')).body;
    t.same(
      listed.events.map((e: { id: string }) => e.id),
      [late.id, id],
    );
    t.same(listed.items, listed.events);
    t.equal(listed.total, 2);
    t.equal((await get('/timeline', { limit: 1, offset: 5 })).body.total, 2, 'the total is that of all pages');
    t.match((await get('/timeline', { event_type: 'release', session_id: 's1' })).body.events, [{ id }]);
    t.same((await get('/timeline', { bucket: 'elsewhere' })).body, { events: [], items: [], total: 0 });
    t.match((await get('/timeline', { since: '2026-05-05' })).body.events, [{ id: late.id }]);
    t.ok((await inPack('aardvark release')).includes(id));
    t.equal((await get(`/memories/${id}`)).body.content, 'The aardvark release was cut');
  });

  await t.test('an open reminder is in packs; completed it is only in its list, however often', async (t) => {
    const made = await post('/reminders', { content: 'Renew the quokka licence', due_at: '2026-06-01T09:00:00Z' });
    t.equal(made.status, 201, made.text);
    const { id } = made.body;
    t.match(made.body, { memory_id: id, todo_id: id, status: 'open', item_status: 'open', memory_type: 'working' });
    t.match(made.body, { due_at: '2026-06-01T09:00:00.000Z', completed_at: null, note: null });
    await post('/reminders', { content: 'Feed the quokka', due_at: null });
    const open = (await get('/reminders')).body;
    t.match(open.reminders, [{ content: 'Renew the quokka licence' }, { content: 'Feed the quokka', due_at: null }]);
    t.same(open.items, open.reminders);
    t.match((await get('/reminders', { due_before: '2026-06-02' })).body.reminders, [{ id }]);
    t.equal((await get('/reminders', { due_before: '2026-05-01' })).body.total, 0);
    t.ok((await inPack('quokka licence')).includes(id));

    const done = await post(`/reminders/${id}/complete`, { note: 'paid', bucket: '%', idempotency_key: 'k' });
    t.match(
      done.body,
      { id, status: 'completed', item_status: 'completed', note: 'paid', completed_at: /Z$/ },
      done.text,
    );
    const again = await post(`/reminders/${id}/complete`, { note: 'paid twice?' });
    t.equal(again.status, 200);
    t.equal(again.text, done.text, 'the second answer is the first');
    t.notOk((await inPack('quokka licence')).includes(id));
    t.notOk((await get('/reminders')).body.items.some((r: { id: string }) => r.id === id));
    for (const item_status of ['completed', 'done', '%', 'all']) {
      const found = (await get('/reminders', { item_status })).body.items.find((r: { id: string }) => r.id === id);
      t.match(found, { id, status: 'completed', note: 'paid' }, item_status);
    }
    t.equal((await post(`/reminders/${id}/complete`, { bucket: 'other' })).status, 404);
  });

  await t.test('as_of lists what was listed at an instant, less what was forgotten since', async (t) => {
    const then = as('then');
    const lists = async (at: object) => {
      const asked: [string, object][] = [
        ['/timeline', {}],
        ['/reminders', {}],
        ['/reminders', { item_status: 'all' }],
        ['/decisions', {}],
        ['/decisions', { item_status: 'resolved' }],
      ];
      const replies = [];
      for (const [list, query] of asked) replies.push((await get(list, { ...query, ...at }, then)).body);
      return replies;
    };
    const idOf = async (at: string, body: object) => (await post(at, body, then)).body.id as string;
    const todo = await idOf('/reminders', { content: 'Oil the bearings', due_at: '2026-06-01T09:00:00Z' });
    const question = await idOf('/decisions', { context: 'Which oil?', options: ['thin', 'thick'] });
    const event = await idOf('/timeline/events', { content: 'The bearings squeaked' });
    const steps = [
      () => call('PATCH', `/memories/${event}`, { body: { content: 'The bearings squealed' }, ...then }),
      () => post(`/decisions/${question}/resolve`, { resolution: 'thin' }, then),
      () => post(`/reminders/${todo}/complete`, { note: 'done' }, then),
      () => post('/reminders', { content: 'Oil the hinges' }, then),
    ];
    const shown: { as_of: string; replies: object[] }[] = [];
    for (const step of steps) {
      const replies = await lists({});
      shown.push({ as_of: new Date().toISOString(), replies });
      await sleep(5);
      t.ok((await step()).status < 300);
    }
    for (const { as_of, replies } of shown) t.same(await lists({ as_of }), replies, as_of);
    t.same(await lists({ as_of: '2099-01-01' }), await lists({}), 'what is to come is now');
    t.equal((await get('/reminders', { as_of: 'yesterday' }, then)).status, 422);
    await post(`/memories/${event}/forget`, {}, then);
    t.equal((await get('/timeline', { as_of: shown[0]!.as_of }, then)).body.total, 0);
    const other = as('then', { buckets: ['elsewhere'] });
    t.equal((await get('/reminders', { as_of: shown[0]!.as_of, bucket: '%' }, other)).body.total, 0);
  });

  await t.test('completions of one reminder at once agree', async (t) => {
    const { id } = (await post('/reminders', { content: 'once only' })).body;
    const all = await Promise.all([1, 2, 3, 4].map((n) => post(`/reminders/${id}/complete`, { note: `n${n}` })));
    t.same(
      all.map((r) => r.status),
      [200, 200, 200, 200],
    );
    t.equal(new Set(all.map((r) => `${r.body.note} ${r.body.completed_at} ${r.body.version}`)).size, 1);
  });

  await t.test('a decision shows its options, is resolved once, and keeps its resolution', async (t) => {
    const made = await post('/decisions', {
      context: 'Which queue for the wombat feed?',
      options: ['Redis', 'Postgres'],
    });
    t.equal(made.status, 201, made.text);
    const { id } = made.body;
    t.match(made.body, {
      decision_id: id,
      context: 'Which queue for the wombat feed?',
      options: ['Redis', 'Postgres'],
    });
    t.match(made.body, { status: 'open', item_status: 'open', resolution: null, path: 'work/decisions' });
    t.ok((await inPack('wombat feed Postgres')).includes(id), 'options are searched');
    t.match((await get('/decisions')).body, { decisions: [{ id, item_status: 'open' }], total: 1 });
    const resolved = await post(`/decisions/${id}/resolve`, { resolution: 'Postgres: one less to run' });
    t.match(resolved.body, { id, status: 'resolved', resolution: 'Postgres: one less to run' }, resolved.text);
    t.equal((await post(`/decisions/${id}/resolve`, { resolution: 'Postgres: one less to run' })).text, resolved.text);
    t.match((await post(`/decisions/${id}/resolve`, { resolution: 'Redis' })).body.error, { code: 'conflict' });
    t.same((await get('/decisions')).body, { decisions: [], total: 0 });
    t.match((await get('/decisions', { item_status: '%' })).body.decisions, [{ id, item_status: 'resolved' }]);
    t.notOk((await inPack('wombat feed Postgres')).includes(id));
  });

  await t.test('a state has one memory a key, which prefer_working lifts and its time takes away', async (t) => {
    const who = as('stateful');
    const now = new Date('2030-01-01T00:00:00Z');
    service.setNow(now);
    const first = await post(
      '/update_state',
      { current_task: 'port the parser', next_action: 'run the tests', ttl_seconds: 60 },
      who,
    );
    t.equal(first.status, 200, first.text);
    const { id } = first.body;
    t.match(first.body, { memory_id: id, state_id: id, state_key: 'active_task', version: 1, status: 'active' });
    t.equal(first.body.expires_at, '2030-01-01T00:01:00.000Z');
    const second = await post(
      '/update_state',
      { content: 'The parser is ported.', blocked_reason: 'CI is down', ttl_seconds: '0' },
      who,
    );
    t.match(second.body, { id, version: 2, expires_at: null });
    const row = (await get(`/memories/${id}`, {}, who)).body;
    t.equal(row.content, 'The parser is ported.\nBlocked by: CI is down');
    t.same(row.metadata, { state_key: 'active_task', blocked_reason: 'CI is down' });
    t.not((await post('/update_state', { state_key: 'other', content: 'x' }, who)).body.id, id);
    t.not((await post('/update_state', { scope: 'dsh', content: 'x' }, who)).body.id, id);
    await post('/update_state', { content: 'short lived numbat', ttl_seconds: 60 }, who);
    t.ok((await inPack('numbat', who)).includes(id));
    service.setNow(new Date(now.getTime() + 60_000));
    t.notOk((await inPack('numbat', who)).includes(id));
    service.setNow(new Date());
  });

  await t.test('a restore with nothing there is a 200 that says so', async (t) => {
    const reply = await post('/restart/restore', { snapshot_id: null, restore_state: false }, as('nobody'));
    t.equal(reply.status, 200);
    t.match(reply.body, { restored: false, status: 'not_found', snapshot: null, snapshot_id: null, id: null });
    for (const snapshot_id of ['0198c2aa-0000-7000-8000-000000000000', 'not an id']) {
      t.match((await post('/restart/restore', { snapshot_id })).body, { restored: false, status: 'not_found' });
    }
  });

  await t.test('a snapshot gives back the state of its time, and what is still there beside it', async (t) => {
    const who = as('restarter');
    await post('/update_state', { content: 'step one', current_task: 'one', session_id: 'a' }, who);
    const event = (await post('/timeline/events', { content: 'began' }, who)).body;
    const todo = (await post('/reminders', { content: 'call back' }, who)).body;
    const gone = (await post('/reminders', { content: 'to be forgotten' }, who)).body;
    const decision = (await post('/decisions', { context: 'left or right' }, who)).body;
    const snap = await post('/restart/snapshot', { label: 'before lunch', session_id: 'a', ttl_seconds: 3600 }, who);
    t.equal(snap.status, 201, snap.text);
    t.match(snap.body, {
      id: snap.body.snapshot_id,
      label: 'before lunch',
      counts: { state: 1, events: 1, reminders: 2, decisions: 1 },
    });
    t.notOk((await inPack('restart snapshot before lunch', who)).includes(snap.body.id), 'it stays out of packs');

    const state = (await post('/update_state', { content: 'step two', current_task: 'two' }, who)).body;
    await post(`/memories/${gone.id}/forget`, {}, who);
    await post(`/reminders/${todo.id}/complete`, {}, who);
    const newer = await post('/restart/restore', { restore_state: true, record_restore_event: false }, who);
    t.match(newer.body, {
      restored: true,
      snapshot_id: snap.body.id,
      snapshot: { active_state: { content: /^step two/, version: 2 } },
    });

    const restore = { snapshot_id: snap.body.id, target_session_id: 'b' };
    const back = await post('/restart/restore', restore, who);
    t.match(back.body, { restored: true, status: 'restored', snapshot_id: snap.body.id, restored_at: /Z$/ }, back.text);
    t.match(back.body.snapshot, {
      label: 'before lunch',
      active_state: { id: state.id, content: 'step one\nCurrent task: one', metadata: { current_task: 'one' } },
      events: [{ id: event.id }],
      reminders: [{ id: todo.id, status: 'completed' }],
      decisions: [{ id: decision.id }],
    });
    t.match(back.body.state_update, { id: state.id, state_key: 'active_task', version: 3, status: 'active' });
    t.equal((await get(`/memories/${state.id}`, {}, who)).body.content, 'step one\nCurrent task: one');
    t.match((await get('/timeline', { event_type: 'restore' }, who)).body.events, [
      { id: back.body.event_id, session_id: 'b' },
    ]);

    await post(`/memories/${state.id}/forget`, {}, who);
    const after = await post('/restart/restore', { ...restore, record_restore_event: false }, who);
    t.match(after.body, { restored: true, snapshot: { active_state: null }, state_update: null });
    t.notMatch(after.text, 'step one', 'a forgotten state is gone from its snapshots');
    t.match((await post('/restart/restore', { snapshot_id: snap.body.id }, as('alice'))).body, { restored: false });
    await post(`/memories/${snap.body.id}/forget`, {}, who);
    t.match((await post('/restart/restore', { snapshot_id: snap.body.id }, who)).body, { restored: false });
  });

  await t.test('without a snapshot the present state is taken up', async (t) => {
    const who = as('dsh-user');
    const state = (await post('/v1/update_state', { content: 'go on here', scope: 'dsh' }, who)).body;
    const reply = await post('/v1/restart/restore', { state_key: 'active_task', scope: 'dsh' }, who);
    t.match(reply.body, {
      restored: true,
      id: state.id,
      snapshot_id: null,
      snapshot: { active_state: { id: state.id, content: 'go on here' } },
    });
    t.match((await post('/v1/restart/restore', { scope: 'other' }, who)).body, { restored: false });
  });

  await t.test('nobody else sees, completes, resolves or restores any of it', async (t) => {
    const mine = as('owner-a', { teams: ['red'] });
    const todo = (await post('/reminders', { content: 'kiwi' }, mine)).body;
    const shared = (await post('/reminders', { content: 'kiwi for all', team_id: 'red' }, mine)).body;
    const decision = (await post('/decisions', { context: 'kiwi?' }, mine)).body;
    const other = as('owner-b');
    for (const list of ['/reminders', '/decisions', '/timeline'])
      t.equal((await get(list, {}, other)).body.total, 0, list);
    t.equal((await post(`/reminders/${todo.id}/complete`, {}, other)).status, 404);
    t.equal((await post(`/decisions/${decision.id}/resolve`, { resolution: 'no' }, other)).status, 404);
    t.equal((await post(`/reminders/${decision.id}/complete`, {}, mine)).status, 404, 'a decision is no reminder');
    t.match((await get('/reminders', {}, as('owner-b', { teams: ['red'] }))).body, {
      reminders: [{ id: shared.id, team_id: 'red' }],
      total: 1,
    });
    t.equal((await get('/reminders', { team_id: 'red' }, mine)).body.total, 1);
    t.equal((await get('/reminders', { team_id: 'red' }, other)).status, 403);
    const narrow = as('owner-a', { buckets: ['private'], scopes: ['memory:read', 'memory:write'] });
    t.equal((await get('/reminders', {}, narrow)).body.total, 0);
    t.equal((await post('/reminders', { content: 'x' }, narrow)).status, 403);
    t.equal((await post(`/reminders/${todo.id}/complete`, {}, narrow)).status, 404);
    t.equal((await post('/reminders', { content: 'x' }, as('owner-a', { scopes: ['memory:read'] }))).status, 403);
    t.equal(
      (await post('/restart/restore', {}, as('owner-a', { scopes: ['memory:write'] }))).body.error.code,
      'insufficient_scope',
    );
  });

  await t.test('bad input is a coded 422', async (t) => {
    const bad: [string, object][] = [
      ['/timeline/events', {}],
      ['/timeline/events', { content: '   ' }],
      ['/timeline/events', { content: 'x', occurred_at: '2026-02-30T00:00:00Z' }],
      ['/timeline/events', { content: 'x', ocurred_at: '2026-02-03' }],
      ['/timeline/events', { content: 'x', bucket: '%' }],
      ['/reminders', { content: 'x', due_at: 'tomorrow' }],
      ['/reminders', { content: 'x', due_at: '2026-02-29' }],
      ['/decisions', { context: 'x', options: Array(21).fill('o') }],
      ['/decisions', { context: 'x', options: 'one' }],
      ['/decisions', { context: 'x'.repeat(20_001) }],
      ['/update_state', {}],
      ['/update_state', { content: 'x', ttl_seconds: -1 }],
      ['/update_state', { content: 'x', ttl_seconds: 2_592_001 }],
      ['/restart/snapshot', { timeline_limit: 101 }],
    ];
    for (const [at, body] of bad) {
      const reply = await post(at, body);
      t.equal(reply.status, 422, `${at} ${JSON.stringify(body).slice(0, 80)} ${reply.text}`);
      t.equal(reply.body.error.code, 'validation_error');
    }
    for (const at of ['/reminders/nope/complete', '/reminders/0198c2aa-0000-7000-8000-000000000000/complete']) {
      t.match((await post(at, {})).body.error, { code: 'not_found' });
    }
    t.equal((await get('/timeline', { limit: 101 })).status, 422);
    t.equal((await get('/reminders', { item_status: 'maybe' })).status, 422);
  });

  await t.test('property: pages of a list put together are the list, each item once', async (t) => {
    const who = as('pager');
    for (let i = 0; i < 23; i++)
      await post('/reminders', { content: `todo ${i}`, due_at: i % 3 ? `2026-0${1 + (i % 4)}-01` : null }, who);
    const whole = (await get('/reminders', { limit: 100 }, who)).body.items.map((r: { id: string }) => r.id);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 25 }), async (limit) => {
        const ids: string[] = [];
        for (let offset = 0; offset < 23; offset += limit) {
          const page = (await get('/reminders', { limit, offset }, who)).body;
          t.equal(page.total, 23);
          ids.push(...page.items.map((r: { id: string }) => r.id));
        }
        t.same(ids, whole);
      }),
      { ...SEED, numRuns: RUNS },
    );
  });
});

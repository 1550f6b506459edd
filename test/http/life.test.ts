import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import { SWEEPS } from '../../src/app.ts';
import { sql } from '../../src/db/sql.ts';
import { analyze, tidy } from '../../src/db/tidy.ts';
import { makeHashing } from '../../src/embed/hashing.ts';
import { keepPurged, purge, type Sleep } from '../../src/memory/purge.ts';
import { recalledText } from '../../src/memory/recalled.ts';
import { type Reply, type Service, startService } from '../helpers/service.ts';

const seed = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31);
const numRuns = Number(process.env.FC_RUNS ?? 15);

/** Calls of one owner. */
function as(service: Service, owner: string, extra: object = {}) {
  const token = service.token({
    owner,
    scopes: ['memory:read', 'memory:write', 'memory:delete', 'memory:restore'],
    ...extra,
  });
  const call = (method: 'GET' | 'POST' | 'PATCH', at: string, body?: object, headers: Record<string, string> = {}) =>
    service.call(method, at, {
      token,
      ...(method === 'GET' ? body && { query: body as Record<string, unknown> } : { body: body ?? {} }),
      headers,
    });
  const ok = async (method: 'GET' | 'POST' | 'PATCH', at: string, body?: object, headers?: Record<string, string>) => {
    const reply = await call(method, at, body, headers);
    if (reply.status >= 300) throw new Error(`${method} ${at}: ${reply.text}`);
    return reply.body;
  };
  const remember = async (content: string, more: object = {}): Promise<string> =>
    (await ok('POST', '/remember', { content, ...more })).id;
  const found = async (query: string) =>
    (await ok('POST', '/recall', { query, limit: 50 })).results.map((r: { id: string }) => r.id) as string[];
  return { call, ok, remember, found };
}

/** Every read that could give a memory or its text away, as one text. */
async function everything(service: Service, owner: string, id: string, text: string): Promise<string> {
  const { call } = as(service, owner);
  const replies = await Promise.all([
    call('GET', `/memories/${id}`),
    call('GET', `/memories/${id}/explain`, { query: text }),
    call('GET', `/memories/${id}/versions`),
    call('GET', '/memories', { limit: 500 }),
    call('POST', '/memories/export', {}),
    call('POST', '/recall', { query: text, limit: 50 }),
    call('POST', '/recall', { query: id, limit: 50 }),
    call('POST', '/memories/search', { query: text, limit: 50 }),
    call('POST', '/recall/context', { query: text, max_items: 50 }),
    call('GET', '/memories/stats', { group_by: 'metadata:note' }),
  ]);
  return replies
    .map((reply) => reply.text.replaceAll(`"terms":${JSON.stringify(reply.body?.retrieval_plan?.terms)}`, ''))
    .join('\n');
}

t.test('the life of a memory', async (t) => {
  const service = await startService();
  t.teardown(() => service.close());
  t.comment(`seed ${seed}`);

  await t.test('a change is a new version; the earlier ones stay, with their validity', async (t) => {
    const { ok, call, remember, found } = as(service, 'changes');
    const id = await remember('The office is in Lisbon.', {
      metadata: { a: 1, b: 2 },
      importance: 0.7,
      path: 'team/office',
    });
    const changed = await ok('PATCH', `/memories/${id}`, {
      content: 'The office is in Porto.',
      importance: null,
      metadata: { b: 3 },
    });
    t.match(changed, {
      id,
      memory_id: id,
      version: 2,
      content: 'The office is in Porto.',
      importance: 0.7,
      metadata: { a: 1, b: 3 },
      path: 'team/office',
    });
    t.match(await ok('PATCH', `/memories/${id}`, { metadata: { c: 1 }, merge_metadata: false }), {
      version: 3,
      metadata: { c: 1 },
    });
    t.match(
      await ok('PATCH', `/memories/${id}`, { metadata: { c: 1 }, importance: 0.7 }),
      { version: 3 },
      'a change that changes nothing is no version',
    );
    const { versions } = await ok('GET', `/memories/${id}/versions`);
    t.match(versions, [
      { version: 3, action: 'update', valid_to: null },
      { version: 2, action: 'update', content: 'The office is in Porto.' },
      { version: 1, action: 'remember', content: 'The office is in Lisbon.', metadata: { a: 1, b: 2 } },
    ]);
    t.equal(versions[2].valid_to, versions[1].valid_from);
    t.same(
      (await ok('GET', `/memories/${id}/versions`, { limit: 1, before: 3 })).versions.map(
        (v: { version: number }) => v.version,
      ),
      [2],
    );
    t.ok((await found('Porto')).includes(id));
    t.notOk(
      (await ok('POST', '/recall', { query: 'Lisbon', explain: true })).results[0].explanation.bm25 > 0,
      'the old words are gone',
    );

    t.equal((await call('GET', `/memories/${id}`)).headers.etag, '"3"');
    t.equal(
      (await call('PATCH', `/memories/${id}`, { content: 'late' }, { 'if-match': '"2"' })).body.error.code,
      'conflict',
    );
    t.match(await ok('PATCH', `/memories/${id}`, { content: 'The office is in Faro.' }, { 'if-match': '"3"' }), {
      version: 4,
    });
    for (const [body, code, status] of [
      [{}, 'validation_error', 422],
      [{ colour: 'red' }, 'validation_error', 422],
      [{ owner_id: 'x' }, 'validation_error', 422],
      [{ content: ' ' }, 'validation_error', 422],
      [{ bucket: '%' }, 'validation_error', 422],
      [{ team_id: 'rockets' }, 'validation_error', 422],
      [{ importance: 2 }, 'validation_error', 422],
      [{ status: 'deleted', content: 'x' }, 'validation_error', 422],
    ] as const) {
      const reply = await call('PATCH', `/memories/${id}`, body);
      t.same([reply.body.error.code, reply.status], [code, status], JSON.stringify(body));
    }
    t.equal((await call('PATCH', `/memories/${id}`, { content: 'x' }, { 'if-match': 'yes' })).status, 422);
    t.equal((await as(service, 'somebody else').call('PATCH', `/memories/${id}`, { content: 'x' })).status, 404);
    t.match(
      await ok('PATCH', `/memories/${id}`, { metadata: { owner_id: 'x', space_id: 1 } }),
      { version: 5 },
      'the owner is no metadata',
    );
    t.match(await ok('PATCH', `/memories/${id}`, { status: 'deleted' }), { id, status: 'deleted' });
    t.equal((await call('GET', `/memories/${id}`)).status, 404);
  });

  await t.test('a semantic key that is taken is a conflict, and writing the same again is no version', async (t) => {
    const { ok, call, remember } = as(service, 'keys');
    const a = await remember('one', { semantic_key: 'k', metadata: { x: [1, 2], y: 'z' }, importance: 0.7 });
    t.match(
      await ok('POST', '/remember', {
        content: 'one',
        semantic_key: 'k',
        metadata: { y: 'z', x: [1, 2] },
        importance: 0.7,
      }),
      { id: a, version: 1, outcome: 'unchanged' },
    );
    t.match(await ok('POST', '/remember', { content: 'one', semantic_key: 'k', importance: 0.7 }), {
      id: a,
      version: 2,
      outcome: 'updated',
    });
    const b = await remember('two');
    t.equal((await call('PATCH', `/memories/${b}`, { semantic_key: 'k' })).body.error.code, 'conflict');
    t.match(await ok('GET', `/memories/${b}`), { version: 1, semantic_key: null }, 'nothing half-done');
    await ok('POST', `/memories/${a}/forget`, {});
    const c = await remember('three', { semantic_key: 'k' });
    t.equal((await call('POST', `/memories/${a}/restore`)).body.error.code, 'conflict');
    await ok('POST', `/memories/${c}/forget`, {});
    t.match(await ok('POST', `/memories/${a}/restore`), { id: a, restored: true });
  });

  await t.test('what is moved in its session takes its words along', async (t) => {
    const { ok, remember } = as(service, 'sessions');
    const question = await remember('Which instrument do you play?', {
      author: 'Ann',
      session_id: 's1',
      occurred_at: '2024-05-04T10:00:00Z',
    });
    const answer = await remember('The bassoon, since school.', {
      author: 'Ben',
      session_id: 's1',
      occurred_at: '2024-05-04T10:01:00Z',
    });
    const other = await remember('In the evening.', {
      author: 'Ben',
      session_id: 's2',
      occurred_at: '2024-05-04T10:01:00Z',
    });
    const bm25 = async (id: string) =>
      (await ok('POST', '/recall', { query: 'instrument', limit: 50, explain: true })).results.find(
        (r: { id: string }) => r.id === id,
      )?.explanation.bm25 ?? 0;
    const lent = async () => [(await bm25(answer)) > 0, (await bm25(other)) > 0];
    t.same(await lent(), [true, false]);
    await ok('PATCH', `/memories/${question}`, { session_id: 's2' });
    t.same(await lent(), [false, true], 'it left one session and joined the other');
    await ok('PATCH', `/memories/${question}`, { status: 'archived' });
    t.same(await lent(), [false, false], 'archived memories lend nothing');
    await ok('PATCH', `/memories/${question}`, { status: 'active', bucket: 'elsewhere' });
    t.same(await lent(), [false, false], 'nor across buckets');
    await ok('PATCH', `/memories/${question}`, { bucket: 'public' });
    t.same(await lent(), [false, true]);
    await ok('PATCH', `/memories/${question}`, { content: 'Which colour do you like?' });
    t.same(await lent(), [false, false], 'new words, new loans');
    await ok('PATCH', `/memories/${question}`, { content: 'Which instrument do you play?' });
    await ok('POST', `/memories/${question}/forget`, {});
    t.same(await lent(), [false, false]);
    await ok('POST', `/memories/${question}/restore`);
    t.same(await lent(), [false, true], 'restored with its loans');
  });

  await t.test('forgotten in any way, it is on no path, and the receipt says so', async (t) => {
    const owner = 'forgetful';
    const { ok, call, remember } = as(service, owner);
    await remember('an unrelated note about gardens');
    for (const mode of ['soft_delete', 'hard_delete', 'redact'] as const) {
      const text = `the ${mode.slice(0, 4)}quokka hides under the zanzibar bridge`;
      const id = await remember('an earlier text of the xylophone quokka', { metadata: { note: 'xylophone' } });
      await ok('PATCH', `/memories/${id}`, { content: text });
      t.match(await everything(service, owner, id, text), /zanzibar/);
      const gone = await ok('POST', `/memories/${id}/forget`, { mode, reason: 'a test' });
      t.match(gone, { id, memory_id: id, mode, status: mode === 'redact' ? 'redacted' : 'deleted' });
      t.match(gone.receipt, { id, mode, reason: 'a test', verified: true });
      t.same(gone.receipt.checks, { id: 0, list: 0, lexical: 0, vector: 0, versions: 0, export: 0, pack: 0 });
      t.notMatch(await everything(service, owner, id, text), /zanzibar|xylophone/, mode);
      t.same(await ok('GET', `/memories/${id}/receipt`), gone.receipt);
      t.equal((await call('GET', `/memories/${id}/versions`)).status, 404);
      t.equal((await as(service, 'other').call('GET', `/memories/${id}/receipt`)).status, 404);
      const restored = await call('POST', `/memories/${id}/restore`, { reason: 'a mistake' });
      if (mode === 'soft_delete') {
        t.match(restored.body, { id, restored: true, version: 4, content: text });
        t.match(await everything(service, owner, id, text), /zanzibar/);
        t.equal((await call('GET', `/memories/${id}/receipt`)).status, 404);
        t.match(await ok('POST', `/memories/${id}/restore`), { id, restored: false });
        await ok('POST', `/memories/${id}/forget`, {});
        t.match(
          await ok('POST', `/memories/${id}/forget`, { mode: 'hard_delete' }),
          { mode: 'hard_delete' },
          'what is soft-deleted can be deleted for good',
        );
        t.equal((await call('POST', `/memories/${id}/restore`)).status, 404);
      } else t.equal(restored.status, mode === 'redact' ? 409 : 404);
    }
    const rows = await service.deps.db.admin((tx) =>
      tx.query(sql`
      select 1 from memory_versions where content like '%quokka%' union all select 1 from memories where content like '%quokka%'`),
    );
    t.same(rows, [], 'redacted and hard-deleted text is not in the tables either');
  });

  await t.test('a redaction with a replacement leaves the memory with that text alone', async (t) => {
    const { ok, call, remember, found } = as(service, 'redactor');
    const id = await remember('my password is xylophone', { metadata: { raw: 'xylophone' } });
    await ok('PATCH', `/memories/${id}`, { content: 'my new password is zanzibar' });
    const gone = await ok('POST', `/memories/${id}/forget`, {
      mode: 'redact',
      replacement_content: 'a password was here',
    });
    t.match(gone, { status: 'redacted' });
    t.match(await ok('GET', `/memories/${id}`), { content: 'a password was here', version: 3, metadata: {} });
    t.ok((await found('password')).includes(id));
    t.notMatch(await everything(service, 'redactor', id, 'zanzibar xylophone'), /my (new )?password|"raw"/);
    t.same(
      (await ok('GET', `/memories/${id}/versions`)).versions.map((v: { content: string }) => v.content),
      Array(3).fill('a password was here'),
    );
    t.equal((await call('POST', `/memories/${id}/forget`, { replacement_content: 'x' })).status, 422);
  });

  await t.test('lists: every filter, literal prefixes, cursors that neither skip nor repeat', async (t) => {
    const { ok, call, remember } = as(service, 'lists');
    const paths = [
      'projects',
      'projects/x',
      'projects/x/y',
      'projects2',
      'Projects/x',
      'pro%',
      'pro%/a',
      'pro_/a',
      'prox/a',
      'a\\b/c',
      'a\\b',
    ];
    for (const path of paths)
      await remember(`note in ${path}`, { path, memory_type: path.length % 2 ? 'semantic' : 'episodic' });
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...paths, 'pro', 'projects/', 'none'),
        fc.integer({ min: 1, max: 5 }),
        fc.option(fc.constantFrom('semantic', 'episodic')),
        async (prefix, limit, type) => {
          const root = prefix.replace(/\/$/, '');
          const expected = paths
            .filter(
              (p) =>
                (p === root || p.startsWith(`${root}/`)) &&
                (type === null || (p.length % 2 ? 'semantic' : 'episodic') === type),
            )
            .reverse();
          const seen: string[] = [];
          let cursor: string | null = null;
          do {
            const page: { items: { path: string }[]; total: number; next_cursor: string | null } = await ok(
              'GET',
              '/memories',
              { path_prefix: prefix, limit, ...(type && { memory_type: type }), ...(cursor && { cursor }) },
            );
            t.equal(page.total, expected.length);
            seen.push(...page.items.map((item) => item.path));
            cursor = page.next_cursor;
            if (page.items.length > limit) t.fail('a page over its limit');
          } while (cursor !== null);
          if (JSON.stringify(seen) !== JSON.stringify(expected)) t.same(seen, expected, `${prefix} ${limit} ${type}`);
        },
      ),
      { seed, numRuns },
    );
    const first = await ok('GET', '/memories', { limit: 2 });
    await remember('written between two pages');
    const second = await ok('GET', '/memories', { limit: 2, cursor: first.next_cursor });
    t.same(
      [...first.items, ...second.items].map((i: { path: string }) => i.path),
      paths.slice(-4).reverse(),
    );
    t.match(await ok('GET', '/memories', { limit: 2, offset: 1 }), {
      limit: 2,
      offset: 1,
      total: 12,
      memories: [{ path: paths.at(-1) }, { path: paths.at(-2) }],
    });
    for (const bad of [
      { cursor: `${first.next_cursor}0` },
      { cursor: first.next_cursor.replace(/^\d/, '9') },
      { cursor: first.next_cursor, bucket: 'x' },
      { limit: 0 },
      { limit: 501 },
      { offset: -1 },
    ]) {
      t.equal((await call('GET', '/memories', bad)).status, 422, JSON.stringify(bad));
    }
  });

  await t.test('counts are those of the list, by every grouping', async (t) => {
    const { ok, call, remember } = as(service, 'counts');
    for (let i = 0; i < 7; i++) {
      await remember(`note ${i}`, {
        path: `p${i % 2}`,
        bucket: `b${i % 3}`,
        source: i < 2 ? 'x' : undefined,
        metadata: { lang: i < 5 ? 'de' : 'en' },
        occurred_at: `2024-01-0${1 + (i % 2)}`,
        memory_type: i < 3 ? 'semantic' : 'working',
      });
    }
    const gone = await remember('gone', { metadata: { lang: 'xx' } });
    await ok('POST', `/memories/${gone}/forget`, {});
    const all = await ok('GET', '/memories/stats');
    t.match(all, {
      total_count: 7,
      filtered_count: 7,
      scanned_count: 7,
      oldest_at: '2024-01-01T00:00:00.000Z',
      latest_at: '2024-01-02T00:00:00.000Z',
      type_counts: { semantic: 3, working: 4 },
      status_counts: { active: 7 },
      bucket_counts: { b0: 3, b1: 2, b2: 2 },
      groups: [],
    });
    const groups = async (group_by: string, more: object = {}) =>
      (await ok('GET', '/memories/stats', { group_by, ...more })).groups;
    t.same(await groups('path'), [
      { group_by: { path: 'p0' }, count: 4 },
      { group_by: { path: 'p1' }, count: 3 },
    ]);
    t.same(await groups('type'), [
      { group_by: { type: 'working' }, count: 4 },
      { group_by: { type: 'semantic' }, count: 3 },
    ]);
    t.same(await groups('status'), [{ group_by: { status: 'active' }, count: 7 }]);
    t.same(await groups('source'), [
      { group_by: { source: null }, count: 5 },
      { group_by: { source: 'x' }, count: 2 },
    ]);
    t.same(await groups('day'), [
      { group_by: { day: '2024-01-01' }, count: 4 },
      { group_by: { day: '2024-01-02' }, count: 3 },
    ]);
    t.same(await groups('metadata:lang'), [
      { group_by: { 'metadata:lang': 'de' }, count: 5 },
      { group_by: { 'metadata:lang': 'en' }, count: 2 },
    ]);
    t.same(await groups('bucket', { top_n: 1, memory_type: 'semantic' }), [{ group_by: { bucket: 'b0' }, count: 1 }]);
    t.equal((await call('GET', '/memories/stats', { group_by: 'owner_id' })).status, 422);
    t.same(await groups('type, source,metadata:lang,type', { top_n: 2 }), [
      { group_by: { type: 'semantic', source: 'x', 'metadata:lang': 'de' }, count: 2 },
      { group_by: { type: 'working', source: null, 'metadata:lang': 'de' }, count: 2 },
    ]);
    for (const group_by of ['type,owner_id', 'type,', ',type'])
      t.equal((await call('GET', '/memories/stats', { group_by })).status, 422, group_by);
    t.same(await groups('metadata:a,b,status'), [{ group_by: { 'metadata:a,b': null, status: 'active' }, count: 7 }]);
    t.match(await as(service, 'empty').ok('GET', '/memories/stats', { group_by: 'path' }), {
      total_count: 0,
      latest_at: null,
      groups: [],
    });
  });

  await t.test(
    'explain gives the columns flat and nested, versions, use, vectors, and how a query finds it',
    async (t) => {
      const { ok, call, remember } = as(service, 'explained');
      const id = await remember('The kettle is descaled on Mondays.');
      await remember('The garden is watered on Fridays.');
      const plain = await ok('GET', `/memories/${id}/explain`, { include_embedding: false, bucket: '%' });
      t.match(plain, {
        id,
        content: 'The kettle is descaled on Mondays.',
        version: 1,
        memory: { memory_id: id, version: 1 },
        match: null,
        embedding: null,
        versions: [{ version: 1 }],
        usage: { used: 0, standing: 0 },
      });
      const asked = await ok('GET', `/memories/${id}/explain`, { query: 'descaled kettle', include_embedding: true });
      t.match(asked.match, { rank: 1, explanation: { bm25: Number, parts: { lexical: Number } } });
      const recalled = await ok('POST', '/recall', { query: 'descaled kettle', explain: true });
      t.equal(asked.match.score, recalled.results[0].score);
      t.same(asked.match.explanation, recalled.results[0].explanation);
      t.equal(asked.embedding[0].vector.length, 256);
      t.equal((await call('GET', `/memories/${id}/explain`, { bucket: 'elsewhere' })).status, 404);
    },
  );

  await t.test('use raises the standing in few steps, an answer counts once', async (t) => {
    const { ok, call, remember } = as(service, 'users');
    const id = await remember('The kettle is descaled on Mondays.');
    t.match(
      await ok('POST', `/memories/${id}/usage`, {
        action: 'used',
        usage_tracking_id: 'ut_1',
        context: 'c',
        metadata: {},
        idempotency_key: 'u1',
      }),
      { id, memory_id: id, used: 1, standing: 0.2 },
    );
    t.match(await ok('POST', `/memories/${id}/usage`, { usage_tracking_id: 'ut_1' }), { used: 1 });
    for (let i = 2; i <= 40; i++) await ok('POST', `/memories/${id}/usage`, { usage_tracking_id: `ut_${i}` });
    t.match((await ok('GET', `/memories/${id}/explain`)).usage, { used: 40, standing: 1 });
    t.equal((await ok('GET', `/memories/${id}`)).version, 1, 'use is no version');
    t.equal((await as(service, 'not them').call('POST', `/memories/${id}/usage`, {})).status, 404);
    t.equal((await call('POST', `/memories/${id}/usage`, { action: 'sold' })).status, 422);
  });

  await t.test('why it was restored and what it was used for is kept, until it is redacted or gone', async (t) => {
    const { ok, call, remember } = as(service, 'reasons');
    const id = await remember('the safe opens with 4711');
    await ok('POST', `/memories/${id}/usage`, { context: 'opening the safe with 4711', usage_tracking_id: 'a' });
    for (let i = 0; i < 25; i++) await ok('POST', `/memories/${id}/usage`, { context: `use ${i}` });
    const { contexts } = (await ok('GET', `/memories/${id}/explain`)).usage;
    t.equal(contexts.length, 20, 'the latest twenty');
    t.match(contexts[0], { context: 'use 24', at: /Z$/ });
    await ok('POST', `/memories/${id}/forget`, {});
    await ok('POST', `/memories/${id}/restore`, { reason: 'the safe of 4711 is still there' });
    await ok('PATCH', `/memories/${id}`, { content: 'the safe opens with 4712' });
    const { versions } = await ok('GET', `/memories/${id}/versions`);
    t.same(
      versions.map((v: { action: string; reason: string | null }) => [v.action, v.reason]),
      [
        ['update', null],
        ['restore', 'the safe of 4711 is still there'],
        ['forget', null],
        ['remember', null],
      ],
    );
    const { jsonl } = await ok('POST', '/memories/export', {});
    t.equal(JSON.parse(jsonl).versions.at(-1).reason, 'the safe of 4711 is still there');
    const other = as(service, 'reasons elsewhere');
    await other.ok('POST', '/memories/import', { jsonl });
    t.match(await other.ok('GET', `/memories/${id}/versions`), { versions: [{}, { reason: /still there/ }] });

    await ok('POST', `/memories/${id}/usage`, { context: '4711 again' });
    await ok('POST', `/memories/${id}/forget`, { mode: 'redact', replacement_content: 'the safe opens' });
    const traces = async () =>
      service.deps.db.admin((tx) =>
        tx.query(sql`
          select 1 from memory_versions v join spaces s on s.id = v.space_id where s.name = 'reasons' and (v.reason ~ '4711' or v.content ~ '471')
          union all select 1 from memories m join spaces s on s.id = m.space_id where s.name = 'reasons' and (m.reason ~ '4711' or m.content ~ '471')
          union all select 1 from memory_usage u join spaces s on s.id = u.space_id where s.name = 'reasons' and u.contexts::text ~ '4711|use'`),
      );
    t.same(await traces(), [], 'a redaction reaches both');
    await ok('POST', `/memories/${id}/usage`, { context: 'use once more' });
    await ok('POST', `/memories/${id}/forget`, { mode: 'hard_delete' });
    t.same(await traces(), []);

    const [ann, ben] = ['ann', 'ben'].map((owner) => service.token({ owner, teams: ['red'] }));
    const shared = await service.call('POST', '/remember', { token: ann!, body: { content: 'ours', team_id: 'red' } });
    const at = `/memories/${shared.body.id}`;
    await service.call('POST', `${at}/usage`, { token: ann!, body: { context: 'a secret of ann' } });
    t.match((await service.call('GET', `${at}/explain`, { token: ben! })).body.usage, { used: 1, contexts: [] });
    t.match((await service.call('GET', `${at}/explain`, { token: ann! })).body.usage.contexts, [
      { context: 'a secret of ann' },
    ]);
    t.equal((await call('POST', `${at}/usage`, { context: 'x' })).status, 404);
  });

  await t.test('dedupe merges what says the same, counts it, and keeps what does not', async (t) => {
    const { ok, remember } = as(service, 'dedupe');
    const first = await remember('The backup of the database runs every night at 02:00 on the old server.', {
      dedupe: true,
    });
    const again = async (content: string, more: object = {}) =>
      ok('POST', '/remember', { content, dedupe: true, ...more });
    t.match(await again('The backup of the database runs every night at 02:00 on the old server.'), {
      id: first,
      outcome: 'unchanged',
      version: 1,
    });
    t.match(await again('the backup of the database runs every night, at 02:00, on the old server'), {
      id: first,
      outcome: 'merged',
      version: 1,
    });
    t.match((await ok('GET', `/memories/${first}/explain`)).usage, { reinforced: 2, standing: 0.2 });
    for (const [content, more] of [
      ['The backup of the database runs every night at 03:00 on the old server.', {}],
      ['The backup of the database never runs every night at 02:00 on the old server.', {}],
      ['The backup of the database runs every night at 02:00 on the old server.', { bucket: 'b' }],
      ['The backup of the database runs every night at 02:00 on the old server.', { scope: 's' }],
      ['The backup of the database runs every night at 02:00 on the old server.', { memory_type: 'procedural' }],
    ] as const) {
      t.match(await again(content, more), { outcome: 'created' }, `${content} ${JSON.stringify(more)}`);
    }
    const many = await Promise.all(Array.from({ length: 30 }, () => again('thirty writers say this at once')));
    t.equal(new Set(many.map((m) => m.id)).size, 1);
  });

  await t.test('a write names the memories that say otherwise, when it is asked to', async (t) => {
    const { ok, remember } = as(service, 'opposed');
    const porto = await remember('The office of the team is in Porto.', { path: 'a' });
    await remember('The garden of the team is in Porto.');
    await remember('Somebody else sits in the office of the team.');
    const elsewhere = await remember('The office of the team is in Faro.', { bucket: 'b', semantic_key: 'office' });
    const said = await ok('POST', '/remember', {
      content: 'The office of the team is in Lisbon.',
      semantic_key: 'office',
      detect_conflicts: true,
    });
    t.same(
      said.conflicts.map((c: { id: string; reason: string }) => [c.id, c.reason]),
      [
        [elsewhere, 'semantic_key'],
        [porto, 'value'],
      ],
    );
    t.notMatch(await ok('POST', '/remember', { content: 'The office of the team is in Berlin.' }), { conflicts: [] });
    const changed = await ok('PATCH', `/memories/${porto}`, {
      content: 'The office of the team is not in Lisbon.',
      detect_conflicts: true,
    });
    t.match(changed.conflicts, [{ id: said.id, reason: 'negation', version: 1 }]);
    t.same((await ok('POST', '/remember', { content: 'The kettle is new.', detect_conflicts: true })).conflicts, []);
  });

  await t.test('our own answers are not stored again', async (t) => {
    const { ok, call, remember } = as(service, 'parrot');
    for (let i = 0; i < 3; i++)
      await remember(`Deploy number ${i} goes out on Tuesdays, never on Fridays.`, { path: 'team/rules' });
    const pack = await service.call('POST', '/recall/context', {
      token: service.token({ owner: 'parrot' }),
      body: { query: 'deploys on Fridays' },
    });
    const text = await call('GET', '/recall/context', { query: 'deploys on Fridays', profile: 'public' });
    const results = await call('GET', '/recall', { query: 'deploys on Fridays', profile: 'public' });
    const quoted = text.text
      .split('\n')
      .map((line) => `> ${line}`)
      .join('\n');
    for (const content of [
      pack.body.context_text,
      pack.text,
      text.text,
      results.text,
      quoted,
      `Here is what I know:\n\n${text.text}`,
    ]) {
      const reply = await call('POST', '/remember', { content });
      t.same([reply.status, reply.body.error?.code], [422, 'recalled_text'], content.slice(0, 60));
      t.match(await ok('POST', '/remember', { content, allow_recalled: true, bucket: 'all' }), { outcome: 'created' });
    }
    for (const content of [
      '[1] a footnote',
      'Reference: the handbook, page 3',
      'Context: we met on Monday',
      '# XMemo Context is the heading of a pack, says the manual',
      '[2] 2024-05-04 · second of a list',
    ]) {
      t.equal(recalledText(content), undefined, content);
    }
    const begun = performance.now();
    t.equal(recalledText('[1] 2024-05-04\nx\n'.repeat(30_000)), undefined);
    t.ok(performance.now() - begun < 30_000, 'in time linear in its length');
    t.equal(
      recalledText(
        `A long report on the parser.\n${'It explains how lines are read, one after another. '.repeat(20)}\nReference: 1 | Type: x | Location: y`,
      ),
      undefined,
      'a text about a pack may quote one',
    );
  });

  await t.test(
    'bulk forgetting takes all that match and says how many; nothing is forgotten by accident',
    async (t) => {
      const owner = 'bulk';
      const { ok, call, remember } = as(service, owner);
      const ids: string[] = [];
      for (let i = 0; i < 12; i++)
        ids.push(
          await remember(`note ${i}`, { path: i % 2 ? 'keep/it' : 'drop/it', session_id: 's', metadata: { i } }),
        );
      for (const body of [
        {},
        { bucket: '%' },
        { path: '%', status: '%' },
        { metadata: {} },
        { path_prefix: '' },
        { scope: null },
      ]) {
        const reply = await call('POST', '/memories/forget', body);
        t.same([reply.status, reply.body.error?.code], [422, 'validation_error'], JSON.stringify(body));
      }
      // what is sent to forget one memory, with an id that is empty
      const one = await call('POST', '/memories//forget', { bucket: 'public', mode: 'hard_delete' });
      t.same([one.status, one.body.error?.code], [404, 'not_found']);
      t.equal((await ok('GET', '/memories')).total, 12);
      t.match(await ok('POST', '/memories/forget', { path_prefix: 'drop', dry_run: true }), {
        count: 6,
        status: 'dry_run',
        forgotten_at: null,
      });
      t.equal((await ok('GET', '/memories')).total, 12);
      const done = await ok('POST', '/memories/forget', { path_prefix: 'drop', reason: 'tidy' });
      t.match(done, { count: 6, status: 'deleted', id: /./ });
      t.same(
        (await ok('GET', '/memories')).items.map((i: { id: string }) => i.id),
        ids.filter((_, i) => i % 2).reverse(),
      );
      t.match(await ok('GET', `/memories/${ids[0]}/receipt`), { reason: 'tidy', checks: { vector: 0, lexical: 0 } });
      t.match(await ok('POST', `/memories/${ids[0]}/restore`), { restored: true });
      t.match(await ok('POST', '/memories/forget', { all: true, mode: 'hard_delete' }), { count: 7 });
      t.equal((await ok('GET', '/memories')).total, 0);
      t.equal((await call('POST', `/memories/${ids[1]}/restore`)).status, 404);
      t.match(await as(service, 'lists').ok('GET', '/memories'), { total: 12 }, 'of nobody else');
    },
  );

  await t.test('a key makes a write happen once, for every client form of it', async (t) => {
    const { ok, call } = as(service, 'once');
    const body = { content: 'written once', idempotency_key: 'k1' };
    const first = await call('POST', '/remember', body, { 'idempotency-key': 'k1', 'x-idempotency-key': 'k1' });
    t.equal(first.status, 201);
    for (const [at, form, headers] of [
      ['/remember', body, {}],
      ['/v1/remember', { content: 'written once' }, { 'idempotency-key': 'k1' }],
      ['/api/v1/remember/', { content: 'written once' }, { 'x-idempotency-key': 'k1' }],
    ] as const) {
      const again = await call('POST', at, form, headers);
      t.same([again.status, again.body], [201, first.body], at);
      t.equal(again.headers['idempotent-replayed'], 'true');
    }
    t.same((await call('POST', '/remember', { ...body, content: 'other' })).body.error.code, 'idempotency_conflict');
    t.equal((await call('POST', '/remember', body, { 'idempotency-key': 'k2' })).status, 422, 'two keys are none');
    t.equal(
      (await as(service, 'twice').call('POST', '/remember', { ...body, content: 'theirs' })).status,
      201,
      'keys are of their owner',
    );
    t.equal((await ok('GET', '/memories')).total, 1);

    const patch = await ok('PATCH', `/memories/${first.body.id}`, { content: 'changed once', idempotency_key: 'p' });
    t.same(await ok('PATCH', `/memories/${first.body.id}`, { content: 'changed once', idempotency_key: 'p' }), patch);
    await ok('PATCH', `/memories/${first.body.id}`, { content: 'changed again' });
    t.match(
      await ok('PATCH', `/memories/${first.body.id}`, { content: 'changed once', idempotency_key: 'p' }),
      { version: 2, content: 'changed once' },
      'the reply of then',
    );
    t.match(await ok('GET', `/memories/${first.body.id}`), { version: 3, content: 'changed again' });

    const gone = await ok('POST', `/memories/${first.body.id}/forget`, { bucket: '%', idempotency_key: 'f' });
    t.same(
      await ok('POST', `/memories/${first.body.id}/forget`, { bucket: '%', idempotency_key: 'f' }),
      gone,
      'the second is no 404',
    );
    t.equal(
      (await call('PATCH', `/memories/${first.body.id}`, { content: 'changed once', idempotency_key: 'p' })).status,
      404,
      'a kept reply gives no forgotten text away',
    );
    const kept = await service.deps.db.admin((tx) =>
      tx.query<{ all: string }>(sql`select string_agg(reply::text, '') as all from idempotency_keys`),
    );
    t.notMatch(kept[0]!.all, /written once|changed/, 'and holds none');

    const failed = await call('PATCH', `/memories/${first.body.id}`, { content: 'x', idempotency_key: 'later' });
    t.equal(failed.status, 404);
    await ok('POST', `/memories/${first.body.id}/restore`);
    t.match(
      await ok('PATCH', `/memories/${first.body.id}`, { content: 'x', idempotency_key: 'later' }),
      { content: 'x' },
      'a failure keeps nothing',
    );

    service.setNow(new Date(Date.now() + 25 * 3_600_000));
    t.match(await ok('POST', '/remember', { content: 'a day later', idempotency_key: 'k1' }), { outcome: 'created' });
    service.setNow(new Date());
  });

  await t.test('equal requests at the same time are done once', async (t) => {
    const { call, ok } = as(service, 'race');
    const replies: Reply[] = await Promise.all(
      Array.from({ length: 20 }, () => call('POST', '/remember', { content: 'at once', idempotency_key: 'same' })),
    );
    t.same([...new Set(replies.map((r) => r.status))], [201]);
    t.equal(new Set(replies.map((r) => r.body.id)).size, 1);
    t.equal((await ok('GET', '/memories')).total, 1);
    const uses = await Promise.all(
      Array.from({ length: 10 }, () =>
        call('POST', `/memories/${replies[0]!.body.id}/usage`, { idempotency_key: 'same' }),
      ),
    );
    t.ok(
      uses.every((r) => r.body.used === 1),
      uses[0]!.text,
    );
  });

  await t.test('what has expired or was forgotten long ago is purged, the rest is not', async (t) => {
    const { ok, call, remember } = as(service, 'purged');
    const now = new Date('2031-01-01T00:00:00Z');
    service.setNow(now);
    const expiring = await remember('expires soon', { expires_at: '2031-01-02T00:00:00Z' });
    const forgotten = await remember('forgotten, and soon for good');
    const fresh = await remember('stays');
    await ok('POST', `/memories/${forgotten}/forget`, {});
    const rows = async () =>
      (
        await service.deps.db.admin((tx) =>
          tx.query<{ id: string }>(sql`
      select m.id from memories m join spaces s on s.id = m.space_id where s.name = 'purged' order by m.seq`),
        )
      ).map((r) => r.id);
    await purge(service.deps);
    t.same(await rows(), [expiring, forgotten, fresh]);
    service.setNow(new Date('2031-01-02T00:00:00Z'));
    await purge(service.deps);
    t.same(await rows(), [forgotten, fresh]);
    t.match(await ok('POST', `/memories/${forgotten}/restore`), { restored: true });
    await ok('POST', `/memories/${forgotten}/forget`, {});
    service.setNow(new Date('2031-02-01T00:00:00Z'));
    await purge(service.deps);
    t.same(await rows(), [fresh]);
    t.equal((await call('GET', `/memories/${forgotten}/receipt`)).status, 200, 'the receipt outlives it');
    const left = await service.deps.db.admin((tx) =>
      tx.query(sql`
      select 1 from passages p where not exists (select from memories m where m.space_id = p.space_id and m.seq = p.seq)
      union all select 1 from postings p where not exists (select from memories m where m.space_id = p.space_id and m.seq = p.seq)
      union all select 1 from memory_versions v where not exists (select from memories m where m.space_id = v.space_id and m.seq = v.seq)`),
    );
    t.same(left, []);

    const redacted = await remember('redacted, and kept for good');
    await ok('POST', `/memories/${redacted}/forget`, { mode: 'redact' });
    const both = [as(service, 'purged'), as(service, 'beside')];
    const { db } = service.deps;
    for (const stuck of ['purged', 'beside']) {
      service.setNow(new Date('2031-02-01T00:00:00Z'));
      for (const { ok, remember } of both) await ok('POST', `/memories/${await remember('gone')}/forget`, {});
      service.setNow(new Date('2032-01-01T00:00:00Z'));
      const transaction: typeof db.transaction = (access, work) =>
        access.owner === stuck ? Promise.reject(new Error('it cannot be purged')) : db.transaction(access, work);
      t.equal(
        (await purge({ ...service.deps, db: { ...db, transaction } })).memories,
        1,
        'a space that fails stops no other',
      );
      t.equal((await purge(service.deps)).memories, 1);
    }
    t.same(await rows(), [fresh, redacted]);

    service.setNow(new Date('2032-01-01T00:00:00Z'));
    for (const { remember } of both) await remember('gone', { expires_at: '2032-01-02T00:00:00Z' });
    service.setNow(new Date('2032-01-02T00:00:00Z'));
    const stopping = new AbortController();
    const transaction: typeof db.transaction = (access, work) =>
      db.transaction(access, work).finally(() => stopping.abort());
    const stopped = await purge({ ...service.deps, db: { ...db, transaction } }, stopping.signal);
    t.equal(stopped.memories, 1, 'who is stopped ends what it is at, and begins nothing else');
    t.equal((await purge(service.deps)).memories, 1);
    service.setNow(new Date());
  });
});

t.test('a memory that is changed while its new text is embedded gets the vectors of what is stored', async (t) => {
  const hashing = makeHashing({ dimensions: 64 });
  let meanwhile: (() => Promise<unknown>) | undefined;
  const embed: typeof hashing.embed = async (texts, kind) => {
    const then = kind === 'passage' ? meanwhile : undefined;
    meanwhile = undefined;
    await then?.();
    return hashing.embed(texts, kind);
  };
  const service = await startService({ embedder: { ...hashing, embed } });
  t.teardown(() => service.close());
  const { ok, call, remember } = as(service, 'raced');
  const vectorOf = async (id: string) =>
    (await ok('GET', `/memories/${id}/explain`, { include_embedding: true })).embedding;
  const text = 'the kettle is descaled';
  const expected = await vectorOf(await remember(text, { author: 'Ben', dedupe: false }));
  for (const [at, body] of [
    ['', { content: text }],
    ['/forget', { mode: 'redact', replacement_content: text }],
  ] as const) {
    const id = await remember('the kettle is new', { author: 'Ann' });
    meanwhile = () => ok('PATCH', `/memories/${id}`, { author: 'Ben' });
    await ok(at === '' ? 'PATCH' : 'POST', `/memories/${id}${at}`, body);
    t.match(await ok('GET', `/memories/${id}`), { content: text, author: 'Ben', version: 3 });
    t.same(await vectorOf(id), expected, `${at} has the vectors of Ben's words`);
  }

  const id = await remember('never at rest', { author: '0' });
  let author = 1;
  const again = async () => {
    await ok('PATCH', `/memories/${id}`, { author: `${author++}` });
    meanwhile = again;
  };
  meanwhile = again;
  const given = await call('POST', `/memories/${id}/forget`, { mode: 'redact', replacement_content: 'x' });
  t.match(given, { status: 409, body: { error: { code: 'conflict' } } }, 'one that never rests is given up');
});

t.test('the purge comes soon after an end, takes that alone, and what is left counts', async (t) => {
  const service = await startService({ env: { RETENTION_DAYS: '7' } });
  t.teardown(() => service.close());
  const { ok, remember } = as(service, 'timed');
  let now = new Date('2031-01-01T00:00:00Z');
  service.setNow(now);
  await remember('a capybara that stays');
  await remember('a capybara for half a minute', { expires_at: '2031-01-01T00:00:30Z' });
  await remember('a capybara for an hour', { expires_at: '2031-01-01T01:00:00Z' });
  const forgotten = await remember('a capybara that is forgotten');
  await ok('POST', `/memories/${forgotten}/forget`, {});

  /** Rows, rows of the index, and the totals of BM25. */
  const counts = async () => {
    const [row] = await service.deps.db.admin((tx) =>
      tx.query(sql`
        select s.memories::int, (select count(*)::int from memories m where m.space_id = s.id) as rows,
          (select count(distinct seq)::int from postings p where p.space_id = s.id) as indexed,
          (select count(distinct seq)::int from passages p where p.space_id = s.id) as embedded,
          s.terms = (select sum(length) from memories m where m.space_id = s.id) as exact
        from spaces s where s.name = 'timed'`),
    );
    return row;
  };
  t.same(await counts(), { memories: 3, rows: 4, indexed: 3, embedded: 3, exact: true });

  // the sleep of the timer is ours: it says how long, and ends when the test says so
  const slept: number[] = [];
  let wake = () => {};
  let asleep = () => {};
  const sleep: Sleep = (ms, signal) =>
    new Promise((done) => {
      slept.push(ms);
      wake = done;
      signal.addEventListener('abort', () => done());
      asleep();
    });
  const turn = () =>
    new Promise<void>((done) => {
      asleep = done;
      wake();
    });
  const first = new Promise<void>((done) => {
    asleep = done;
  });
  let sweeps = 0;
  const failing = () => Promise.reject(new Error('this sweep fails'));
  const purging = keepPurged(service.deps, [failing, ...SWEEPS, async () => sweeps++], sleep);
  await first;
  t.equal(sweeps, 1, 'one that fails keeps no other from its turn');
  t.same(await counts(), { memories: 3, rows: 4, indexed: 3, embedded: 3, exact: true }, 'nothing has ended yet');
  const advance = async (ms: number) => {
    now = new Date(now.getTime() + ms);
    service.setNow(now);
    await turn();
  };
  await advance(30_000);
  t.same(await counts(), { memories: 2, rows: 3, indexed: 2, embedded: 2, exact: true }, 'the expired one is gone');
  await advance(3_600_000);
  t.same(await counts(), { memories: 1, rows: 2, indexed: 1, embedded: 1, exact: true });
  await advance(6 * 86_400_000);
  t.same(await counts(), { memories: 1, rows: 2, indexed: 1, embedded: 1, exact: true }, 'the forgotten one is kept');
  await advance(86_400_000);
  t.same(await counts(), { memories: 1, rows: 1, indexed: 1, embedded: 1, exact: true }, 'for seven days');
  t.same(slept, [30_000, 60_000, 60_000, 60_000, 60_000], 'until the next end, a minute at most');
  t.match(await ok('GET', '/memories'), { total: 1 });
  await purging.stop();
});

t.test('the embedded database is vacuumed and analyzed after much was written, and only then', async (t) => {
  const service = await startService();
  t.teardown(() => service.close());
  const { db } = service.deps;
  t.same(await tidy(db), []);
  if (db.kind !== 'embedded') return;
  await db.admin((tx) =>
    tx.query(sql`
    insert into postings (space_id, term, seq, tf, length) select 1, 'word', n, 1, 1 from generate_series(1, 1500) n`),
  );
  t.same(await tidy(db), ['postings']);
  t.same(await tidy(db), []);
  await db.admin((tx) => tx.query(sql`delete from postings`));
  t.same(await tidy(db), ['postings']);

  await analyze(db);
  const add = (rows: number) =>
    db.admin((tx) =>
      tx.query(
        sql`insert into spaces (kind, name) select 'owner', gen_random_uuid() from generate_series(1, ${rows}::int)`,
      ),
    );
  await add(40);
  t.same(await analyze(db), [], 'a few rows change no plan');
  await add(40);
  t.same(await analyze(db), ['spaces']);
  t.same(await analyze(db), []);
});

t.test('no route of a memory gives anything to those who may not see it', async (t) => {
  const service = await startService();
  t.teardown(() => service.close());
  const acme = as(service, 'acme');
  const corp = as(service, 'acme-corp', { teams: ['red'] });
  const secret = 'the launch code of project aurora';
  const id = await acme.remember(secret, { bucket: 'vault', metadata: { note: 'aurora' }, path: 'a/aurora' });
  const team = await corp.remember(secret, { team_id: 'red' });
  const moved = await acme.remember('aurora before it was moved', { bucket: 'vault' });
  await acme.ok('PATCH', `/memories/${moved}`, { bucket: 'public', content: 'moved' });
  const forgotten = await acme.remember('aurora, forgotten', { bucket: 'vault' });
  await acme.ok('POST', `/memories/${forgotten}/forget`, {});
  const outsiders = {
    'another owner': as(service, 'acme_corp'),
    'an owner of almost the name': as(service, 'ACME'),
    'a token of another bucket': as(service, 'acme', { buckets: ['public'] }),
  };
  for (const [who, { call }] of Object.entries(outsiders)) {
    for (const [method, at, body] of [
      ['GET', `/memories/${id}/explain`, { query: secret, include_embedding: true }],
      ['GET', `/memories/${id}/versions`],
      ['GET', `/memories/${forgotten}/receipt`],
      ['PATCH', `/memories/${id}`, { content: 'x' }],
      ['POST', `/memories/${id}/forget`, { mode: 'hard_delete' }],
      ['POST', `/memories/${id}/forget`, { mode: 'redact', replacement_content: 'x' }],
      ['POST', `/memories/${forgotten}/restore`],
      ['POST', `/memories/${forgotten}/forget`, { mode: 'hard_delete' }],
      ['POST', `/memories/${id}/usage`],
    ] as const) {
      const reply = await call(method, at, body);
      t.equal(reply.status, 404, `${who} ${method} ${at} ${reply.text}`);
      t.notMatch(reply.text, /aurora/);
    }
    for (const [method, at, body] of [
      ['GET', '/memories', {}],
      ['GET', '/memories', { status: '%', path_prefix: 'a' }],
      ['GET', '/memories/stats', { group_by: 'metadata:note' }],
      ['GET', '/memories/stats', { group_by: 'path' }],
      ['POST', '/memories/export', {}],
      ['GET', `/memories/${moved}/versions`, {}],
      ['GET', `/memories/${moved}/explain`, {}],
    ] as const) {
      t.notMatch((await call(method, at, body)).text, /aurora/, `${who} ${at}`);
    }
    await call('POST', '/memories/forget', { path_prefix: 'a', mode: 'hard_delete' });
    const vault = await call('POST', '/memories/forget', { bucket: 'vault', mode: 'hard_delete' });
    t.ok(vault.status === 403 || vault.body.count === 0, vault.text);
  }
  t.match(await acme.ok('GET', `/memories/${id}`), { version: 1, content: secret });
  t.equal((await acme.call('GET', `/memories/${team}/versions`)).status, 404);
  t.equal((await acme.call('GET', '/memories', { team_id: 'red' })).body.error.code, 'boundary_denied');
  t.match(await as(service, 'member', { teams: ['red'] }).ok('GET', `/memories/${team}/versions`), {
    versions: [{ content: secret }],
  });
  t.notMatch(
    (await corp.call('POST', '/memories/export', {})).text,
    /aurora/,
    "a team's memories are exported by its name",
  );
  t.match((await corp.call('POST', '/memories/export', { team_id: 'red' })).text, /aurora/);
});

t.test('an export imported into an empty owner gives the same packs, byte for byte', async (t) => {
  const [from, into] = [await startService(), await startService()];
  t.teardown(() => Promise.all([from.close(), into.close()]));
  t.comment(`seed ${seed}`);
  const words = ['river', 'stone', 'lamp', 'cedar', 'harbour', 'violet', 'kettle', 'bridge', '庭', 'größe'];
  const { ok, remember } = as(from, 'alice');
  const target = as(into, 'alice');
  const random = fc.sample(
    fc.record({
      content: fc.array(fc.constantFrom(...words), { minLength: 2, maxLength: 12 }).map((w) => w.join(' ')),
      bucket: fc.constantFrom('public', 'work'),
      path: fc.constantFrom('a/b', 'a', 'c'),
      session_id: fc.option(fc.constantFrom('s1', 's2'), { nil: undefined }),
      author: fc.option(fc.constantFrom('Ann', 'Ben'), { nil: undefined }),
      importance: fc.option(fc.constantFrom(0, 0.3, 0.7, 1), { nil: undefined }),
      occurred_at: fc.option(fc.constantFrom('2024-01-01', '2024-02-01T10:00:00Z'), { nil: undefined }),
    }),
    { numRuns: 40, seed },
  );
  const ids: string[] = [];
  for (const body of random) ids.push(await remember(body.content, body));
  for (const [i, id] of ids.entries()) {
    if (i % 5 === 0) await ok('PATCH', `/memories/${id}`, { content: `${words[i % words.length]} changed ${i}` });
    if (i % 7 === 3) await ok('POST', `/memories/${id}/forget`, { mode: i % 2 ? 'soft_delete' : 'hard_delete' });
    if (i % 11 === 3)
      await from.call('POST', `/memories/${id}/restore`, { body: {}, token: from.token({ owner: 'alice' }) });
  }
  let cursor: number | null = 0;
  let last = -1;
  let all = '';
  while (cursor !== null) {
    t.ok(cursor > last);
    last = cursor;
    const page: { jsonl: string; next_cursor: number | null } = await ok('POST', '/memories/export', {
      limit: 7,
      cursor,
    });
    all += page.jsonl;
    t.match(await target.ok('POST', '/memories/import', { jsonl: page.jsonl, dry_run: true }), {
      status: 'dry_run',
      skipped: 0,
    });
    const done = await target.ok('POST', '/memories/import', { jsonl: page.jsonl, limit: 4 });
    if (done.next_cursor !== null)
      await target.ok('POST', '/memories/import', { jsonl: page.jsonl, limit: 4, cursor: done.next_cursor });
    cursor = page.next_cursor;
  }
  const whole = { limit: 500 };
  t.same((await target.ok('GET', '/memories', whole)).items, (await ok('GET', '/memories', whole)).items);
  t.same((await target.ok('POST', '/memories/export')).jsonl, all);
  t.same(
    (await target.ok('GET', `/memories/${ids[0]}/versions`)).versions,
    (await ok('GET', `/memories/${ids[0]}/versions`)).versions,
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 1, max: 400 }),
      async (query, max_items, max_tokens) => {
        for (const profile of ['public', 'structured']) {
          const body = { query: query.join(' '), max_items, max_tokens, profile, explain: true };
          const there = await target.call('POST', '/recall/context', body);
          const here = await as(from, 'alice').call('POST', '/recall/context', body);
          if (there.text !== here.text) t.equal(there.text, here.text);
        }
      },
    ),
    { seed, numRuns },
  );
  t.match(
    await target.ok('POST', '/memories/import', { jsonl: all }),
    { imported: 0 },
    'importing twice changes nothing',
  );

  await t.test('a long session of which each memory expires is imported', async (t) => {
    const { ok } = as(into, 'passing');
    const line = (_: unknown, i: number) =>
      JSON.stringify({
        ...{ id: randomUUID(), content: `passing note ${i}`, memory_type: 'working', session_id: 'one' },
        expires_at: '2099-01-01T00:00:00Z',
      });
    for (let page = 0; page < 2; page++)
      t.match(await ok('POST', '/memories/import', { jsonl: Array.from({ length: 250 }, line).join('\n') }), {
        imported: 250,
      });
  });

  await t.test('a page with a fault is refused by line, and nothing of it is stored', async (t) => {
    const { call, ok } = as(into, 'careful');
    const rare = (length: number) =>
      String.fromCodePoint(...Array.from({ length }, (_, i) => 0x4e00 + ((i * 7_919) % 20_000)));
    const good = (i: number, more: object = {}) =>
      JSON.stringify({
        id: `0198c2aa-0000-7000-8000-00000000000${i}`,
        content: `line ${i}`,
        memory_type: 'semantic',
        ...more,
      });
    for (const [lines, status, code, named] of [
      [[good(1), '{"id":'], 422, 'validation_error', 'line 2'],
      [[good(1), good(2, { owner_id: 'bob' })], 422, 'validation_error', 'line 2'],
      [[good(1), good(1)], 422, 'validation_error', 'line 2'],
      [[good(1), '', good(2, { content: ' ' })], 422, 'validation_error', 'line 3'],
      [[good(1, { id: 'x' })], 422, 'validation_error', 'line 1'],
      [[good(1, { bucket: '%' })], 422, 'validation_error', 'line 1'],
      // more than a row of an index takes
      [[good(1, { session_id: rare(1_024) })], 422, 'validation_error', 'line 1'],
      [[good(1), `{"metadata":${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}}`], 422, 'validation_error', 'line 2'],
      [['{"metadata":{"__proto__":{"a":1}}}'], 422, 'validation_error', '__proto__'],
      [['{"metadata":{"n":1e400}}'], 422, 'validation_error', 'too large'],
      [[good(1, { semantic_key: 'k'.repeat(257) })], 422, 'validation_error', 'semantic_key'],
      [[good(1, { version: 2_147_483_647 })], 422, 'validation_error', 'version'],
      [[good(1, { versions: Array(5_000).fill({}) })], 422, 'validation_error', 'versions.0'],
      [
        [
          good(1, {
            version: 1,
            versions: [
              {
                ...JSON.parse(good(1)),
                id: undefined,
                version: 1,
                status: 'active',
                valid_from: '2024-01-01T00:00:00Z',
                valid_to: '2024-01-02T00:00:00Z',
              },
            ],
          }),
        ],
        422,
        'validation_error',
        'line 1',
      ],
      [[good(1, { metadata: { a: 'x\u0000' } })], 422, 'validation_error', 'line 1'],
      [[good(1, { semantic_key: 'k' }), good(2, { semantic_key: 'k' })], 409, 'conflict', 'line 2'],
    ] as const) {
      const reply = await call('POST', '/memories/import', { jsonl: lines.join('\n') });
      t.same([reply.status, reply.body.error?.code], [status, code], reply.text);
      t.match(reply.body.error.message, named);
    }
    t.equal((await ok('GET', '/memories')).total, 0);
    t.match(await ok('POST', '/memories/import', { jsonl: good(1), idempotency_key: 'i' }), {
      imported: 1,
      status: 'imported',
      next_cursor: null,
      id: /./,
    });
    t.match(
      await ok('POST', '/memories/import', { jsonl: good(1), idempotency_key: 'i' }),
      { imported: 1 },
      'the reply of the first',
    );
    t.match((await ok('GET', '/memories')).items[0], { bucket: 'private', scope: null });
    t.equal(
      (await call('POST', '/memories/import', { jsonl: good(1, { content: 'differs' }) })).body.error.code,
      'conflict',
    );
    t.equal((await call('POST', '/memories/import', { jsonl: good(2), cursor: 9 })).status, 422);
    const narrow = as(into, 'careful', { buckets: ['work'], memoryScopes: ['s'] });
    const earlier = { content: 'before', memory_type: 'semantic', version: 1, status: 'active' };
    const [valid_from, valid_to] = ['2024-01-01T00:00:00Z', '2024-01-02T00:00:00Z'];
    for (const line of [
      good(2),
      good(2, { bucket: 'work' }),
      good(2, { bucket: 'work', scope: 't' }),
      good(2, { bucket: 'work', scope: 's', version: 2, versions: [{ ...earlier, valid_from, valid_to }] }),
    ])
      t.equal(
        (await narrow.call('POST', '/memories/import', { jsonl: line })).body.error?.code,
        'boundary_denied',
        'nothing goes where the token cannot read, earlier versions neither',
      );
    await narrow.ok('POST', '/memories/import', { jsonl: good(2, { bucket: 'work', scope: 's', path: '/a//b/' }) });
    t.match(
      (await narrow.ok('GET', '/memories', { path: 'a/b' })).items,
      [{ path: 'a/b' }],
      'as remember writes paths',
    );
    const taken = await as(into, 'neighbour').ok('POST', '/memories/import', { jsonl: good(1) });
    t.match(taken, { imported: 1 }, 'an id of another owner tells nothing');

    const both = as(into, 'both', { teams: ['red'] });
    await both.ok('POST', '/memories/import', { jsonl: good(3, { content: 'of the team' }), team_id: 'red' });
    await both.ok('POST', '/memories/import', { jsonl: good(3, { content: 'own' }) });
    const at = `/memories/${JSON.parse(good(3)).id}`;
    t.match(await both.ok('GET', at), { content: 'own' }, 'an id in two spaces means the own memory');
    await both.ok('PATCH', at, { content: 'own, changed' });
    await both.ok('POST', `${at}/forget`, {});
    t.match(await both.ok('GET', at), { content: 'of the team', team_id: 'red' });
    await both.ok('POST', `${at}/restore`, {});
    t.match(await both.ok('GET', at), { content: 'own, changed', team_id: null });
  });
});

t.test('the name of an answer', async (t) => {
  const service = await startService();
  t.teardown(() => service.close());
  const ask = (
    owner: string,
    extra: { teams?: string[]; headers?: Record<string, string>; body?: object; buckets?: string[] } = {},
  ) =>
    service.call('POST', '/recall/context', {
      token: service.token({
        owner,
        ...(extra.teams && { teams: extra.teams }),
        ...(extra.buckets && { buckets: extra.buckets }),
      }),
      body: { query: 'kettle', ...extra.body },
      headers: extra.headers ?? {},
    });

  await t.test('gives 304 while the answer is the same, without embedding or ranking', async (t) => {
    const { remember } = as(service, 'cache');
    const id = await remember('The kettle is descaled on Mondays.');
    const first = await ask('cache');
    const etag = String(first.headers.etag);
    t.match(first.headers, { etag: /^W\/"\S+"$/, 'cache-control': 'private, no-cache', vary: /Authorization/ });
    const again = await ask('cache', { headers: { 'if-none-match': `"other", ${etag}` } });
    t.same([again.status, again.text, again.headers.etag], [304, '', etag]);
    t.notMatch(again.headers['server-timing'], /embed|rank/);
    for (const other of [
      { body: { max_items: 3 } },
      { body: { profile: 'public' } },
      { headers: { accept: 'text/plain' } },
      { headers: { 'x-memory-os-agent-id': 'a' } },
      { buckets: ['public'] },
    ]) {
      const reply = await ask('cache', { ...other, headers: { ...other.headers, 'if-none-match': etag } });
      t.equal(reply.status, 200, JSON.stringify(other));
    }
    const get = await service.call('GET', '/recall', {
      token: service.token({ owner: 'cache' }),
      query: { query: 'kettle' },
    });
    t.equal(
      (
        await service.call('GET', '/v1/recall', {
          token: service.token({ owner: 'cache' }),
          query: { query: 'kettle', limit: 5 },
          headers: { 'if-none-match': String(get.headers.etag) },
        })
      ).status,
      304,
    );
    const still = async () => (await ask('cache', { headers: { 'if-none-match': etag } })).status;
    await as(service, 'another').remember('The kettle of somebody else.');
    t.equal(await still(), 304, 'what others write changes nothing');
    await as(service, 'cache').ok('PATCH', `/memories/${id}`, { importance: 1 });
    t.equal(await still(), 200);
  });

  await t.test('is not asked for when the search is refused, and the refusal is the answer', async (t) => {
    const { call } = as(service, 'cache');
    for (const headers of [{}, { 'if-none-match': 'W/"x"' }] as Record<string, string>[]) {
      t.equal(
        (await call('POST', '/recall/context', { query: 'kettle', team_id: 'red' }, headers)).body.error.code,
        'boundary_denied',
      );
    }
  });

  await t.test('changes with every write that can be seen and with every expiry, and for nobody else', async (t) => {
    const teams: Record<string, string[]> = { ann: ['red'], ben: ['red', 'blue'], cid: ['blue'], dot: [] };
    const owners = Object.keys(teams);
    const visibleTo = (space: string) => owners.filter((o) => o === space || teams[o]!.includes(space));
    const held = new Map<string, { etag: string; text: string }>();
    const look = async (owner: string) => {
      const reply = await ask(owner, { teams: teams[owner]! });
      return { etag: String(reply.headers.etag), text: reply.text };
    };
    let now = new Date('2030-01-01T00:00:00Z').getTime();
    service.setNow(new Date(now));
    for (const owner of owners) held.set(owner, await look(owner));
    const expiries: { space: string; at: number }[] = [];
    const ids: { id: string; space: string; owner: string }[] = [];
    const step = fc.record({
      kind: fc.constantFrom('remember', 'expiring', 'patch', 'forget', 'wait', 'read', 'use'),
      owner: fc.constantFrom(...owners),
      team: fc.boolean(),
      at: fc.nat(50),
    });
    const steps = fc.sample(step, { numRuns: 4 * numRuns, seed });
    for (const [n, { kind, owner, team, at }] of steps.entries()) {
      const who = as(service, owner, { teams: teams[owner]! });
      const space = team && teams[owner]![0] ? teams[owner]![0]! : owner;
      const changed = new Set<string>();
      const own = ids.filter((m) => visibleTo(m.space).includes(owner));
      const target = own[at % Math.max(1, own.length)];
      const touch = (s: string) => {
        for (const o of visibleTo(s)) changed.add(o);
      };
      if (kind === 'remember' || kind === 'expiring') {
        const expires = now + 1_000 * (1 + at);
        const id = await who.remember(`kettle ${at}`, {
          ...(space !== owner && { team_id: space }),
          ...(kind === 'expiring' && { expires_at: new Date(expires).toISOString() }),
        });
        if (kind === 'expiring') expiries.push({ space, at: expires });
        else ids.push({ id, space, owner });
        touch(space);
      } else if (kind === 'patch' && target) {
        await who.ok('PATCH', `/memories/${target.id}`, { content: `kettle changed in step ${n}` });
        touch(target.space);
      } else if (kind === 'forget' && target) {
        await who.ok('POST', `/memories/${target.id}/forget`, {});
        ids.splice(ids.indexOf(target), 1);
        touch(target.space);
      } else if (kind === 'use' && target) {
        const before = (await who.ok('GET', `/memories/${target.id}/explain`)).usage.standing;
        const { standing } = await who.ok('POST', `/memories/${target.id}/usage`, {});
        if (standing !== before) touch(target.space);
      } else if (kind === 'wait') {
        const before = now;
        now += 1_000 * at;
        service.setNow(new Date(now));
        for (const e of expiries) if (e.at > before && e.at <= now) touch(e.space);
      } else if (kind === 'read') await who.found('kettle');
      for (const o of owners) {
        const seen = await look(o);
        const earlier = held.get(o)!;
        if ((seen.etag !== earlier.etag) !== changed.has(o))
          t.fail(
            `${kind} by ${owner} in ${space}: ${o} ${changed.has(o) ? 'sees no change' : 'sees a change'} (seed ${seed})`,
          );
        if (seen.etag === earlier.etag && seen.text !== earlier.text) t.fail('one name, two answers');
        held.set(o, seen);
      }
    }
    service.setNow(new Date());
  });

  await t.test('is never that of an answer that another writer has made old', async (t) => {
    const { remember, ok } = as(service, 'storm');
    const ids = await Promise.all(
      Array.from({ length: 6 }, (_, i) => remember(`kettle number ${i}`, { session_id: `s${i % 2}` })),
    );
    const answers: (readonly [string, string])[] = [];
    const read = async () => {
      const reply = await ask('storm', { body: { max_items: 50 } });
      return [String(reply.headers.etag), reply.text] as const;
    };
    const writers = ids.map(async (id, i) => {
      for (let n = 0; n < 4; n++)
        await ok('PATCH', `/memories/${id}`, {
          content: `kettle number ${i} as of ${n}`,
          ...(n % 2 && { session_id: `s${(i + n) % 2}` }),
        });
    });
    const readers = Array.from({ length: 3 }, async () => {
      for (let n = 0; n < 8; n++) answers.push(await read());
    });
    await Promise.all([...writers, ...readers]);
    const [etag, text] = await read();
    t.same(await read(), [etag, text], 'all is quiet');
    for (const [name, answer] of answers)
      if (name === etag) t.equal(answer, text, 'read in the storm under the last name');
    t.equal((await ask('storm', { body: { max_items: 50 }, headers: { 'if-none-match': etag } })).status, 304);
  });
});

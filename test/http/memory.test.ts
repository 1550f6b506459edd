import t from 'tap';
import type { Embedder } from '../../src/embed/embedder.ts';
import { makeHashing } from '../../src/embed/hashing.ts';
import { startService } from '../helpers/service.ts';

t.test('the main job', async (t) => {
  const service = await startService();
  t.teardown(() => service.close());
  const { call, token } = service;
  const remember = async (body: Record<string, unknown>, options: object = {}) => {
    const reply = await call('POST', '/remember', { body, ...options });
    t.ok(reply.status === 201 || reply.status === 200, reply.text);
    return reply.body;
  };
  const ids = (reply: { body: { results: { id: string }[] } }) => reply.body.results.map((r) => r.id);

  await t.test('a remembered memory is read, recalled, searched and packed at once', async (t) => {
    const { id, memory_id, status } = await remember({
      content: 'Deploys go out on Tuesdays, never on Fridays.',
      path: '/team//rules/',
    });
    t.equal(memory_id, id);
    t.equal(status, 'active');
    const got = await call('GET', `/memories/${id}`);
    t.match(got.body, {
      id,
      content: 'Deploys go out on Tuesdays, never on Fridays.',
      path: 'team/rules',
      bucket: 'public',
      status: 'active',
      version: 1,
    });
    for (const at of [
      '/recall',
      '/memories/search',
      '/v1/recall',
      '/api/v1/memories/search',
      '/docs/api/memory/recall/',
    ]) {
      const found = await call('GET', at, { query: { query: 'deploys on Fridays' } });
      t.equal(found.status, 200, found.text);
      t.match(found.body.results[0], { id, memory_id: id, type: 'memory', bucket: 'public', path: 'team/rules' }, at);
      t.ok(found.body.results[0].score > 0 && found.body.results[0].score <= 1);
    }
    const pack = await call('POST', '/recall/context', { body: { query: 'deploys on Fridays' } });
    t.match(pack.body, {
      version: '1',
      status: 'ok',
      items: [{ id, content: 'Deploys go out on Tuesdays, never on Fridays.', truncated: false }],
    });
    t.match(pack.body.budget, { max_items: 8, max_tokens: 1500, used_items: 1, items: 1, dropped: [], shortened: [] });
    t.equal(pack.body.budget.used_tokens, service.deps.countTokens(pack.body.context_text, 'o200k_base'));
    const today = new Date().toISOString().slice(0, 10);
    t.equal(pack.body.context_text, `[1] ${today} · team/rules\nDeploys go out on Tuesdays, never on Fridays.`);
    const text = await call('GET', '/recall/context', {
      query: { query: 'deploys on Fridays' },
      headers: { accept: 'text/plain' },
    });
    t.equal(
      text.text,
      `### XMemo Context\nItems: 1\nReference: ${id} | Type: semantic | Location: team/rules\nContext:\n${pack.body.context_text}`,
    );
    t.match(text.headers['content-type'], /^text\/plain/);
    t.match(text.headers['server-timing'], /embed;dur=.*db;dur=.*total;dur=/);
    await call('POST', `/memories/${id}/forget`, { body: {} });
  });

  await t.test('an id as the query finds exactly that memory', async (t) => {
    const a = await remember({ content: 'one of two' });
    await remember({ content: 'two of two' });
    for (const at of ['/recall', '/memories/search'])
      t.same(ids(await call('GET', at, { query: { query: a.id } })), [a.id], at);
    t.same(ids(await call('GET', '/recall', { query: { query: '0198c2aa-0000-7000-8000-000000000000' } })), []);
  });

  await t.test('a forgotten memory is on no path, soft or hard, and forgetting it twice is a 404', async (t) => {
    for (const mode of ['soft_delete', 'hard_delete']) {
      const { id } = await remember({ content: `quokka sighting in ${mode}` });
      const gone = await call('POST', `/memories/${id}/forget`, {
        body: { mode, reason: 'a test', bucket: '%', idempotency_key: 'k' },
      });
      t.match(gone.body, { id, memory_id: id, status: 'deleted', mode }, gone.text);
      t.equal((await call('GET', `/memories/${id}`)).status, 404);
      for (const query of ['quokka sighting', id]) {
        t.notOk(ids(await call('GET', '/recall', { query: { query, limit: 50 } })).includes(id));
        t.notOk(ids(await call('GET', '/memories/search', { query: { query, limit: 50 } })).includes(id));
        t.notMatch((await call('GET', '/recall/context', { query: { query } })).text, id);
      }
      t.equal((await call('POST', `/memories/${id}/forget`, { body: {} })).status, 404);
    }
  });

  await t.test('an expired memory vanishes at its instant', async (t) => {
    const at = new Date('2030-01-01T00:00:00Z');
    service.setNow(new Date(at.getTime() - 1));
    const { id } = await remember({ content: 'the wombat code is open until new year', expires_at: at.toISOString() });
    t.ok(ids(await call('GET', '/recall', { query: { query: 'wombat code' } })).includes(id));
    service.setNow(at);
    t.notOk(ids(await call('GET', '/recall', { query: { query: 'wombat code', limit: 50 } })).includes(id));
    t.equal((await call('GET', `/memories/${id}`)).status, 404);
    service.setNow(new Date());
  });

  await t.test('a semantic key keeps one memory of an evolving fact', async (t) => {
    const first = await remember({ content: 'The office is in Lisbon.', semantic_key: 'office' });
    const second = await remember({ content: 'The office is in Porto.', semantic_key: 'office' });
    t.match(second, { id: first.id, version: 2, outcome: 'updated' });
    const found = await call('GET', '/recall', { query: { query: 'where is the office', limit: 50 } });
    t.equal(found.body.results.filter((r: { semantic_key: string }) => r.semantic_key === 'office').length, 1);
    t.match(
      found.body.results.find((r: { id: string }) => r.id === first.id),
      { content: 'The office is in Porto.' },
    );
    t.notMatch((await call('GET', '/recall', { query: { query: 'Lisbon', limit: 50 } })).text, 'Lisbon."');
    const elsewhere = await remember({ content: 'Another bucket.', semantic_key: 'office', bucket: 'other' });
    t.not(elsewhere.id, first.id);
  });

  await t.test('dedupe returns the memory that holds the very same text', async (t) => {
    const first = await remember({ content: 'same same', dedupe: true });
    t.match(await remember({ content: 'same same', dedupe: true }), { id: first.id, outcome: 'unchanged' });
    t.not((await remember({ content: 'same same', dedupe: true, bucket: 'b2' })).id, first.id);
    t.not((await remember({ content: 'same same' })).id, first.id);
  });

  await t.test('the agent headers attribute, the boundary is told from the side that asks', async (t) => {
    const headers = { 'x-memory-os-agent-id': 'DeepSeek Harness', 'x-memory-os-agent-instance-id': 'dsh-1' };
    const { id } = await remember({ content: 'numbats eat termites', bucket: 'agents' }, { headers });
    const own = await call('GET', '/recall', { query: { query: 'numbats', bucket: 'agents' }, headers });
    t.match(own.body.results[0], {
      id,
      agent_id: 'DeepSeek Harness',
      author: 'DeepSeek Harness',
      agent_boundary: 'self',
    });
    const other = await call('GET', '/recall', {
      query: { query: 'numbats', bucket: 'agents', agent_instance_id: 'dsh-1' },
      headers: { 'x-memory-os-agent-id': 'hermes' },
    });
    t.match(other.body.results[0], { id, agent_boundary: 'other_agent' });
    t.notMatch(other.text, 'dsh-1"', 'the instance id itself is not stored');
  });

  await t.test('a long memory is kept whole, found by its end, and shown by the passage that matches', async (t) => {
    const filler = Array.from(
      { length: 1_500 },
      (_, i) => `Paragraph ${i} is about routine matters of the warehouse.`,
    ).join('\n\n');
    const content = `${filler}\n\nThe vault combination hint is the birthday of the pangolin.\n\n${filler}`;
    const { id } = await remember({ content, bucket: 'long' });
    t.equal((await call('GET', `/memories/${id}`)).body.content, content);
    const pack = await call('POST', '/recall/context', {
      body: { query: 'pangolin vault combination', bucket: 'long', max_tokens: 120 },
    });
    t.match(pack.body.items[0], { id, truncated: true });
    t.match(pack.body.context_text, 'birthday of the pangolin');
    t.ok(pack.body.budget.used_tokens <= 120);
    t.same(pack.body.budget.shortened[0]?.id, id);
    t.ok(pack.body.items[0].full_tokens > 20_000);
  });

  await t.test(
    'existing clients may send unknown fields, nulls and text for numbers; the reply names what was dropped',
    async (t) => {
      const reply = await call('POST', '/v1/recall/context', {
        body: {
          query: 'numbats',
          bucket: '%',
          scope: null,
          team_id: null,
          memory_type: 'auto',
          status: 'active',
          max_items: '8',
          prefer_working: 'true',
          colour: 'red',
        },
      });
      t.equal(reply.status, 200, reply.text);
      t.match(reply.body.warnings, [/^colour: unknown field/]);
      const observed = await call(
        'GET',
        '/v1/memories/search?query=numbats&bucket=%25&memory_type=%25&limit=5&explain=false&prefer_working=false',
        { headers: { 'content-type': 'application/json' } },
      );
      t.equal(observed.status, 200, observed.text);
      t.notOk(observed.body.results[0]?.explanation);
    },
  );

  await t.test('same state, same request: the same bytes', async (t) => {
    const ask = () =>
      call('POST', '/recall/context', { body: { query: 'where is the office, and when do we deploy', explain: true } });
    const first = await ask();
    service.setNow(new Date(Date.now() + 86_400_000));
    t.equal((await ask()).text, first.text, 'also on another day');
    service.setNow(new Date());
  });

  await t.test('the ranking of a pack is the ranking of recall', async (t) => {
    const query = 'numbats eat termites';
    const recalled = await call('POST', '/recall', { body: { query, limit: 50, prefer_working: true } });
    const pack = await call('POST', '/recall/context', { body: { query, max_items: 50, max_tokens: 12_000 } });
    const dropped = new Set(pack.body.budget.dropped.map((d: { id: string }) => d.id));
    t.ok(pack.body.items.length > 5);
    const moved = new Set(pack.body.conflicts.flatMap((c: { newer: string; older: string }) => [c.newer, c.older]));
    t.same(
      pack.body.items.map((i: { id: string }) => i.id).filter((id: string) => !moved.has(id)),
      ids(recalled).filter((id) => !dropped.has(id) && !moved.has(id)),
    );
  });

  await t.test('of two equals the newer stands first, until the older proves of use', async (t) => {
    const older = await remember({ content: 'Bilbies dig burrows.', bucket: 'equals' });
    const newer = await remember({ content: 'Bilbies dig burrows.', bucket: 'equals' });
    const ask = () => call('GET', '/recall', { query: { query: 'bilbies burrows', bucket: 'equals', explain: true } });
    const before = await ask();
    t.same(ids(before), [newer.id, older.id]);
    await call('POST', `/memories/${older.id}/usage`, {
      body: { action: 'used', usage_tracking_id: before.body.usage_tracking_id },
    });
    const after = await ask();
    t.same(ids(after), [older.id, newer.id]);
    const [first, second] = after.body.results;
    t.ok(first.explanation.parts.standing - second.explanation.parts.standing <= 0.05, 'bounded');
  });

  await t.test('explain says why a memory is in the answer, or what kept it out', async (t) => {
    const { id } = await remember({ content: 'Echidnas lay eggs.', path: 'animals/echidna' });
    const other = await remember({ content: 'Wombats dig.' });
    const why = async (body: object) =>
      (await call('POST', '/recall/explain', { body: { query: 'do echidnas lay eggs', memory_id: id, ...body } })).body;
    t.match(await why({}), {
      found: true,
      rank: 1,
      arms: { lexical: 1, vector: 1 },
      kept_out_by: [],
      pack: /^item 1 of/,
      verdict: /^rank 1, item 1/,
    });
    t.match(await why({ path: 'plants/%', memory_type: 'working' }), {
      found: false,
      kept_out_by: ['path', 'memory_type'],
      verdict: 'cut by filter: path, memory_type',
    });
    const inTeam = await call('POST', '/recall/explain', {
      token: token({ teams: ['zoo'] }),
      body: { query: 'do echidnas lay eggs', memory_id: id, team_id: 'zoo' },
    });
    t.match(
      inTeam.body,
      { kept_out_by: ['team_id'], verdict: 'cut by filter: team_id' },
      "its own memory, not the team's",
    );
    t.match(await why({ agent_instance_id: 'elsewhere' }), { kept_out_by: ['agent_instance_id'] });
    t.equal(
      (await why({ query: other.id })).verdict,
      'the query is the id of another memory, and finds that one alone',
    );
    t.match(await why({ max_tokens: 1 }), { found: true, pack: 'dropped: over the token budget' });
    service.setNow(new Date('2031-01-01'));
    const late = await remember({ content: 'Echidnas sleep.', expires_at: '2032-01-01' });
    service.setNow(new Date('2033-01-01'));
    t.match(await why({ memory_id: late.id }), { found: false, kept_out_by: ['expired'], verdict: 'expired' });
    service.setNow(new Date());
    const foreign = await call('POST', '/recall/explain', {
      token: token({ owner: 'stranger' }),
      body: { query: 'q', memory_id: id },
    });
    t.equal(foreign.status, 404);
  });

  await t.test('a token with the profile public always gets text', async (t) => {
    const reply = await call('POST', '/recall/context', {
      token: token({ profile: 'public' }),
      body: { query: 'office' },
    });
    t.match(reply.text, /^### XMemo Context\n/);
    const recalled = await call('GET', '/recall', {
      token: token({ profile: 'public' }),
      query: { query: 'office', limit: 1 },
    });
    t.match(recalled.text, /^Reference: \S+ \| Type: \w+ \| Location: \S+\n/);
    const nothing = await call('GET', '/recall/context', {
      token: token({ owner: 'nobody', profile: 'public' }),
      query: { query: 'office' },
    });
    t.equal(nothing.text, 'No matching XMemo memory was found.');
  });

  await t.test('health, readiness and the documents answer without a token', async (t) => {
    t.same((await call('GET', '/health', { token: null })).body, { status: 'ok' });
    t.match((await call('GET', '/ready', { token: null })).body, {
      status: 'ready',
      database: { state: 'ok' },
      migrations: { state: 'ok' },
      model: { detail: 'hashing-256@1' },
    });
    t.match((await call('GET', '/openapi.json', { token: null })).body, {
      openapi: '3.1.0',
      paths: { '/docs/api/memory/remember': { post: { operationId: 'remember' } } },
    });
    t.match((await call('GET', '/openapi.yaml', { token: null })).text, /^openapi: 3.1.0/);
    const page = await service.app.inject({ method: 'GET', url: '/docs/api/memory', headers: { accept: 'text/html' } });
    t.equal(page.statusCode, 200);
    t.match(page.body, /<html/i);
  });

  await t.test('the log of all this holds no memory text and no token', async (t) => {
    const log = service.logged.join('\n');
    t.ok(service.logged.length > 50, 'something was logged');
    for (const secret of ['Tuesdays', 'quokka', 'wombat', 'numbats', 'pangolin', 'eyJ', 'dsh-1'])
      t.notOk(log.includes(secret), secret);
  });
});

t.test('a question in another language asks with its English words too', async (t) => {
  const hashing = makeHashing({ dimensions: 64 });
  /** Stands for a model that reads German. */
  const embedder: Embedder = {
    ...hashing,
    async embed(texts, kind) {
      const embeddings = await hashing.embed(texts, kind);
      return embeddings.map((embedding, i) => ({
        ...embedding,
        ...(texts[i]!.includes('Kennwort') && { gloss: texts[i]!.replace('Kennwort', 'password') }),
      }));
    },
  };
  const service = await startService({ embedder });
  t.teardown(() => service.close());
  const { call } = service;
  for (const content of ['The password lies in the safe', 'Das Kennwort liegt im Tresor', 'Harvest dinner on Friday'])
    t.equal((await call('POST', '/remember', { body: { content } })).status, 201);
  const body = { query: 'Kennwort', explain: true };
  const { results, coverage } = (await call('POST', '/recall', { body })).body;
  const arms = results.map((r: { content: string; explanation: { bm25: number } }) => [
    r.content,
    r.explanation.bm25 > 0,
  ]);
  t.strictSame(Object.fromEntries(arms)['The password lies in the safe'], true);
  t.strictSame(Object.fromEntries(arms)['Das Kennwort liegt im Tresor'], true);
  t.strictSame(Object.fromEntries(arms)['Harvest dinner on Friday'] ?? false, false);
  t.ok(coverage.answerability > 0);
  const { retrieval_plan } = (await call('POST', '/recall/context', { body })).body;
  t.strictSame(retrieval_plan.terms, ['kennwort', 'password']);
});

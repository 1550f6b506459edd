import { createSigner } from 'fast-jwt';
import t from 'tap';
import { sql } from '../../src/db/sql.ts';
import { SECRET, startService } from '../helpers/service.ts';

t.test('nobody reads what is not theirs', async (t) => {
  const service = await startService();
  t.teardown(() => service.close());
  const { call, token } = service;
  const as = (owner: string, extra: object = {}) => token({ owner, ...extra });
  const remember = async (who: string, body: object) => {
    const reply = await call('POST', '/remember', { token: who, body });
    t.equal(reply.status, 201, reply.text);
    return reply.body.id as string;
  };
  const secret = 'the launch code of project aurora is kept by the night watch';
  const acme = await remember(as('acme'), { content: secret });
  const corp = await remember(as('acme-corp'), { content: `${secret}, they say` });

  await t.test('near-identical texts of two owners never meet, on any route or arm', async (t) => {
    for (const [owner, own, foreign] of [
      ['acme', acme, corp],
      ['acme-corp', corp, acme],
      ['acm%', '', acme],
      ['ACME', '', acme],
      ['acme_corp', '', corp],
    ] as const) {
      for (const at of ['/recall', '/memories/search', '/recall/context', '/v1/recall', '/api/v1/recall/context']) {
        for (const query of [secret, 'launch code', foreign, '%']) {
          const reply = await call('POST', at, {
            token: as(owner),
            body: { query, ...(at.endsWith('context') ? { max_items: 50 } : { limit: 50 }), bucket: '%' },
          });
          t.equal(reply.status, 200, reply.text);
          const found: string[] = (reply.body.results ?? reply.body.items).map((r: { id: string }) => r.id);
          t.notOk(found.includes(foreign), `${owner} ${at} ${query}`);
          t.notOk(JSON.stringify(reply.body.budget?.dropped ?? []).includes(foreign));
          if (own && query === secret) t.same(found, [own]);
        }
      }
      const read = await call('GET', `/memories/${foreign}`, { token: as(owner) });
      const never = await call('GET', '/memories/0198c2aa-0000-7000-8000-000000000000', { token: as(owner) });
      t.equal(read.status, 404);
      t.same(
        { ...read.body, request_id: 0, error: { ...read.body.error, request_id: 0 } },
        { ...never.body, request_id: 0, error: { ...never.body.error, request_id: 0 } },
      );
      t.equal(
        (await call('POST', `/memories/${foreign}/forget`, { token: as(owner), body: { mode: 'hard_delete' } })).status,
        404,
      );
    }
    t.equal((await call('GET', `/memories/${acme}`, { token: as('acme') })).status, 200, 'still there');
  });

  await t.test('a team sees what is shared with it, and only while the token names it', async (t) => {
    const shared = await remember(as('ann', { teams: ['red'] }), {
      content: 'the red team meets in the attic',
      team_id: 'red',
    });
    const own = await remember(as('ann', { teams: ['red'] }), { content: 'ann keeps her diary in the attic' });
    const member = await call('POST', '/recall', {
      token: as('ben', { teams: ['red'] }),
      body: { query: 'attic', limit: 50 },
    });
    t.same(
      member.body.results.map((r: { id: string }) => r.id),
      [shared],
    );
    t.equal(member.body.results[0].team_id, 'red');
    const narrowed = await call('POST', '/recall', {
      token: as('ann', { teams: ['red'] }),
      body: { query: 'attic', team_id: 'red' },
    });
    t.same(
      narrowed.body.results.map((r: { id: string }) => r.id),
      [shared],
    );
    const both = await call('POST', '/recall', { token: as('ann', { teams: ['red'] }), body: { query: 'attic' } });
    t.same(new Set(both.body.results.map((r: { id: string }) => r.id)), new Set([shared, own]));
    t.same((await call('POST', '/recall', { token: as('ben'), body: { query: 'attic' } })).body.results, []);
    t.match(
      (await call('POST', '/recall', { token: as('ben'), body: { query: 'attic', team_id: 'red' } })).body.error,
      { code: 'boundary_denied' },
    );
    t.equal((await call('GET', `/memories/${shared}`, { token: as('ben') })).status, 404);
    t.same(
      (await call('POST', '/recall', { token: as('red'), body: { query: 'attic' } })).body.results,
      [],
      'an owner with the name of a team is somebody else',
    );
  });

  await t.test('allowed buckets and scopes narrow every read and write', async (t) => {
    const inside = await remember(as('eve'), { content: 'blue whale', bucket: 'work', scope: 's1' });
    const outside = await remember(as('eve'), { content: 'blue whale too', bucket: 'private', scope: 's1' });
    const unscoped = await remember(as('eve'), { content: 'blue whale three', bucket: 'work' });
    const narrow = as('eve', { buckets: ['work'], memoryScopes: ['s1'] });
    const found = await call('POST', '/recall', {
      token: narrow,
      body: { query: 'blue whale', bucket: '%', limit: 50 },
    });
    t.same(
      found.body.results.map((r: { id: string }) => r.id),
      [inside],
    );
    for (const id of [outside, unscoped]) {
      t.equal((await call('GET', `/memories/${id}`, { token: narrow })).status, 404);
      t.equal((await call('POST', `/memories/${id}/forget`, { token: narrow, body: {} })).status, 404);
      t.same((await call('POST', '/recall', { token: narrow, body: { query: id } })).body.results, []);
    }
    for (const body of [
      { query: 'q', bucket: 'private' },
      { query: 'q', scope: 's2' },
    ]) {
      t.match(await call('POST', '/recall', { token: narrow, body }), {
        status: 403,
        body: { error: { code: 'boundary_denied' } },
      });
    }
    for (const body of [
      { content: 'x', bucket: 'private', scope: 's1' },
      { content: 'x', bucket: 'work', scope: 's2' },
      { content: 'x', bucket: 'work' },
    ]) {
      t.match(await call('POST', '/remember', { token: narrow, body }), {
        status: 403,
        body: { error: { code: 'boundary_denied' } },
      });
    }
    t.same(
      (await call('POST', '/recall', { token: as('eve', { buckets: [] }), body: { query: 'blue whale' } })).body
        .results,
      [],
      'an empty list allows nothing',
    );
  });

  await t.test('a narrowed token learns from no score what stands outside of its buckets and scopes', async (t) => {
    const all = as('narrow');
    const changed = (await remember(all, {
      content: 'the canary in the yard sings',
      bucket: 'ops',
      scope: 'yard',
    })) as string;
    for (let i = 0; i < 25; i++)
      await remember(all, { content: `the yard is swept on day ${i}`, bucket: 'ops', scope: 'yard' });
    await call('PATCH', `/memories/${changed}`, {
      token: all,
      body: { content: 'the canary in the yard sings at dawn' },
    });
    const then = new Date().toISOString();
    const ops = as('narrow', { buckets: ['ops'] });
    const yard = as('narrow', { memoryScopes: ['yard'] });
    const seen = async () => {
      const query = 'does the canary sing in the yard';
      const answers = [];
      for (const narrowed of [ops, yard, as('narrow', { buckets: ['ops'], memoryScopes: ['yard'] })])
        for (const [at, body] of [
          ['/recall', { query, explain: true, limit: 50 }],
          ['/recall', { query, explain: true, limit: 50, as_of: then }],
          ['/memories/search', { query, explain: true }],
          ['/recall/context', { query, explain: true }],
          ['/recall/explain', { query, memory_id: changed }],
        ] as const) {
          const { status, body: answer } = await call('POST', at, { token: narrowed, body });
          t.equal(status, 200, at);
          answers.push(answer);
        }
      return answers;
    };
    const before = await seen();
    t.ok(before[0].results[0].explanation.bm25 > 0);
    for (let i = 0; i < 30; i++)
      await remember(all, {
        content: `a canary, hidden, number ${i}, ${'and so on '.repeat(i)}`,
        bucket: 'vault',
        scope: 'cellar',
      });
    t.same(await seen(), before);
  });

  await t.test('a token bound to an agent writes as that agent whatever the header says', async (t) => {
    const id = await remember(as('zoe', { agent: 'gateway' }), { content: 'bound', agent_id: 'liar' });
    const got = await call('GET', `/memories/${id}`, { token: as('zoe'), headers: { 'x-memory-os-agent-id': 'liar' } });
    t.match(got.body, { agent_id: 'gateway', agent_boundary: 'other_agent' });
  });

  await t.test('missing, broken, expired and weak credentials are refused with a code', async (t) => {
    const good = { sub: 'acme', scope: 'memory:read' };
    const sign = (payload: object, options: object = {}) =>
      createSigner({ key: SECRET, expiresIn: 60_000, ...options })(payload);
    const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url');
    const cases: [string, string | null, string][] = [
      ['none', null, 'missing_credentials'],
      ['rubbish', 'rubbish', 'invalid_token'],
      ['a huge one', 'a'.repeat(9_000), 'invalid_token'],
      ['another secret', sign(good, { key: 'another secret that is long enough for HS256' }), 'invalid_token'],
      [
        'alg none',
        `${none}.${Buffer.from(JSON.stringify({ ...good, exp: 9_999_999_999 })).toString('base64url')}.`,
        'invalid_token',
      ],
      ['HS512', sign(good, { algorithm: 'HS512' }), 'invalid_token'],
      ['expired', sign({ ...good, iat: 1, exp: 2 }, { expiresIn: undefined }), 'token_expired'],
      ['without exp', createSigner({ key: SECRET })(good), 'invalid_token'],
      ['without sub', sign({ scope: 'memory:read' }), 'invalid_token'],
      ['with a boundary that cannot be read', sign({ ...good, buckets: 'work' }), 'invalid_token'],
    ];
    for (const [title, credential, code] of cases) {
      const reply = await call('POST', '/recall', { token: credential, body: { query: 'q' } });
      t.equal(reply.status, 401, title);
      t.equal(reply.body.error.code, code, title);
      t.match(reply.headers['www-authenticate'], /^Bearer/);
    }
    for (const [method, at, body, scopes] of [
      ['POST', '/recall', { query: 'q' }, ['memory:write']],
      ['POST', '/remember', { content: 'c' }, ['memory:read']],
      ['POST', `/memories/${acme}/forget`, {}, ['memory:read']],
    ] as const) {
      const reply = await call(method, at, { token: as('acme', { scopes: [...scopes] }), body });
      t.match(reply, { status: 403, body: { error: { code: 'insufficient_scope' } } }, at);
    }
  });

  await t.test('X-API-Key works alone and beside Authorization, but not against it', async (t) => {
    const key = as('acme');
    const ask = (headers: Record<string, string>) =>
      call('POST', '/v1/recall', { token: null, body: { query: secret }, headers });
    t.equal((await ask({ 'x-api-key': key })).status, 200);
    t.equal((await ask({ 'x-api-key': key, authorization: `Bearer ${key}` })).status, 200);
    t.equal((await ask({ 'x-api-key': key, authorization: `Bearer ${as('acme-corp')}` })).status, 401);
    t.equal((await ask({ authorization: `Basic ${key}` })).status, 401);
  });

  await t.test(
    'row-level security is a net below: a statement without its predicate sees the spaces of its transaction only',
    async (t) => {
      const { db } = service.deps;
      const [space] = await db.admin((tx) =>
        tx.query<{ id: number }>(sql`select id from spaces where kind = 'owner' and name = 'acme'`),
      );
      for (const table of ['memories', 'postings', 'passages', 'spaces']) {
        const column = table === 'spaces' ? 'id' : 'space_id';
        const query = { strings: [`select distinct ${column} as space from ${table}`], values: [] };
        const { Sql } = await import('../../src/db/sql.ts');
        const seen = (spaces: number[]) =>
          db.transaction({ spaces }, (tx) => tx.query(new Sql(query.strings, query.values)));
        t.same(await seen([space!.id]), [{ space: space!.id }], table);
        t.same(await seen([]), [], `${table} without a space`);
      }
      await t.rejects(
        db.transaction({ spaces: [space!.id] }, (tx) =>
          tx.query(sql`insert into postings (space_id, term, seq, tf, length) values (${space!.id + 1}, 'x', 1, 1, 1)`),
        ),
        { code: '42501' },
        'nor can it write elsewhere',
      );
    },
  );
});

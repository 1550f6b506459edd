/** Every route that writes, by the table of registered routes: it honours an idempotency key, or it is named here with the reason. */
import t from 'tap';
import { GRANTABLE_SCOPES } from '../../src/access/authenticate.ts';
import { sql } from '../../src/db/sql.ts';
import { type Reply, startService } from '../helpers/service.ts';

const MOUNT = '/docs/api/memory';
const READ = 'reads, though by POST';

/** Routes on which a key does nothing, and why that is right. */
const WITHOUT: Readonly<Record<string, string>> = {
  'POST /recall/context': READ,
  'POST /recall': READ,
  'POST /recall/explain': READ,
  'POST /memories/search': READ,
  'POST /memories/export': READ,
  'POST /knowledge/search': READ,
  'POST /agents/register': 'nobody is known whose key it could be, and the reply is a secret',
  'POST /auth/token/revoke-self': 'the second request is refused, since its token is dead: the first one did it',
};
/** A login has codes of its own, which work once. */
const isLogin = (url: string) => /^\/(auth\/device|oauth)\//.test(url);

interface Case {
  /** Makes what the route needs; the request itself. */
  readonly prepare: () => Promise<{ at: string; body?: object; text?: string }>;
  /** Changes of the body that make it another request. Absent where the route has no body. */
  readonly other?: object;
  /** The repetition is refused with this code instead of told the same. */
  readonly refused?: string;
}

t.test('every route that writes does it once under a key', async (t) => {
  const service = await startService();
  t.teardown(() => service.close());
  const owner = 'keyed';
  const token = service.token({ owner, scopes: [...GRANTABLE_SCOPES] });
  const call = (
    method: string,
    at: string,
    options: { body?: object; text?: string; key?: string; token?: string } = {},
  ): Promise<Reply> =>
    service.call(method as 'POST', at, {
      token: options.token ?? token,
      ...(options.body !== undefined && { body: options.body }),
      ...(options.text !== undefined && { body: options.text }),
      headers: {
        ...(options.key !== undefined && { 'idempotency-key': options.key }),
        ...(options.text !== undefined && { 'content-type': 'text/plain' }),
      },
    });
  const make = async (at: string, body: object): Promise<string> => {
    const reply = await call('POST', at, { body });
    t.ok(reply.status < 300, `${at} ${reply.text}`);
    return reply.body.id;
  };
  let n = 0;
  const remember = () => make('/remember', { content: `memory number ${n++}` });
  const newBase = () => make('/knowledge-bases', { name: `base ${n++}` });
  const newDocument = async () => make('/documents', { knowledge_base_id: await newBase(), text: 'a kept sentence' });
  const newToken = () => make('/tokens', { name: 'spare', scopes: ['memory:read'] });
  const register = async () => (await call('POST', '/agents/register', { body: {} })).body.claim_code as string;

  const CASES: Readonly<Record<string, Case>> = {
    'POST /remember': {
      prepare: async () => ({ at: '/remember', body: { content: 'once' } }),
      other: { content: 'x' },
    },
    'PATCH /memories/:id': {
      prepare: async () => ({ at: `/memories/${await remember()}`, body: { content: 'changed' } }),
      other: { content: 'x' },
    },
    'POST /memories/:id/forget': {
      prepare: async () => ({ at: `/memories/${await remember()}/forget`, body: {} }),
      other: { reason: 'x' },
    },
    'POST /memories/:id/restore': {
      prepare: async () => {
        const id = await remember();
        await call('POST', `/memories/${id}/forget`, { body: {} });
        return { at: `/memories/${id}/restore`, body: {} };
      },
      other: { reason: 'x' },
    },
    'POST /memories/:id/usage': {
      prepare: async () => ({ at: `/memories/${await remember()}/usage`, body: {} }),
      other: { context: 'x' },
    },
    'POST /memories/forget': {
      prepare: async () => {
        await make('/remember', { content: 'of the many', bucket: 'many' });
        return { at: '/memories/forget', body: { bucket: 'many' } };
      },
      other: { bucket: 'few' },
    },
    'POST /memories/import': {
      prepare: async () => ({
        at: '/memories/import',
        body: {
          jsonl: JSON.stringify({ id: '0198c2aa-0000-7000-8000-000000000001', content: 'a', memory_type: 'semantic' }),
        },
      }),
      other: { jsonl: '' },
    },
    'POST /timeline/events': {
      prepare: async () => ({ at: '/timeline/events', body: { content: 'it happened' } }),
      other: { content: 'x' },
    },
    'POST /reminders': {
      prepare: async () => ({ at: '/reminders', body: { content: 'call' } }),
      other: { content: 'x' },
    },
    'POST /reminders/:id/complete': {
      prepare: async () => ({ at: `/reminders/${await make('/reminders', { content: 'mow' })}/complete`, body: {} }),
      other: { note: 'x' },
    },
    'POST /decisions': {
      prepare: async () => ({ at: '/decisions', body: { context: 'which' } }),
      other: { context: 'x' },
    },
    'POST /decisions/:id/resolve': {
      prepare: async () => ({
        at: `/decisions/${await make('/decisions', { context: 'this' })}/resolve`,
        body: { resolution: 'that' },
      }),
      other: { resolution: 'x' },
    },
    'POST /update_state': {
      prepare: async () => ({ at: '/update_state', body: { content: 'on it' } }),
      other: { content: 'x' },
    },
    'POST /restart/snapshot': {
      prepare: async () => ({ at: '/restart/snapshot', body: { label: 'now' } }),
      other: { label: 'x' },
    },
    'POST /restart/restore': {
      prepare: async () => ({ at: '/restart/restore', body: {} }),
      other: { source: 'x' },
    },
    'POST /ledger/transactions': {
      prepare: async () => ({
        at: '/ledger/transactions',
        body: { item: 'tea', amount: '2', transaction_type: 'expense' },
      }),
      other: { item: 'x', amount: '2', transaction_type: 'expense' },
    },
    'POST /ledger/expenses': {
      prepare: async () => ({ at: '/ledger/expenses', body: { item: 'tea', amount: '3' } }),
      other: { item: 'x', amount: '3' },
    },
    'DELETE /ledger/transactions/:id': {
      prepare: async () => ({
        at: `/ledger/transactions/${await make('/ledger/expenses', { item: 'gone', amount: '1' })}`,
      }),
    },
    'POST /skill/operations': {
      prepare: async () => ({
        at: '/skill/operations',
        body: { operation: 'remember', arguments: { content: 'by skill' } },
      }),
      other: { operation: 'remember', arguments: { content: 'x' } },
    },
    'POST /knowledge-bases': {
      prepare: async () => ({ at: '/knowledge-bases', body: { name: 'one' } }),
      other: { name: 'x' },
    },
    'DELETE /knowledge-bases/:id': { prepare: async () => ({ at: `/knowledge-bases/${await newBase()}` }) },
    'POST /documents': {
      prepare: async () => ({ at: '/documents', body: { knowledge_base_id: await newBase(), text: 'a sentence' } }),
      other: { text: 'another' },
    },
    'POST /knowledge-bases/:id/items': {
      prepare: async () => ({ at: `/knowledge-bases/${await newBase()}/items`, body: { text: 'a sentence' } }),
      other: { text: 'another' },
    },
    'POST /knowledge-bases/:id/items/from-document': {
      prepare: async () => ({ at: `/knowledge-bases/${await newBase()}/items/from-document`, text: 'a file' }),
      other: { text: 'another' },
    },
    'PUT /documents/:id': {
      prepare: async () => ({ at: `/documents/${await newDocument()}`, text: 'its new text' }),
      other: { text: 'another' },
    },
    'DELETE /documents/:id': { prepare: async () => ({ at: `/documents/${await newDocument()}` }) },
    'POST /tokens': {
      prepare: async () => ({ at: '/tokens', body: { name: 'made once', scopes: ['memory:read'] } }),
      other: { name: 'x', scopes: ['memory:read'] },
      refused: 'secret_shown',
    },
    'POST /tokens/:id/rotate': {
      prepare: async () => ({ at: `/tokens/${await newToken()}/rotate`, body: {} }),
      refused: 'secret_shown',
    },
    'DELETE /tokens/:id': { prepare: async () => ({ at: `/tokens/${await newToken()}` }) },
    'POST /teams': { prepare: async () => ({ at: '/teams', body: { name: 'zoo' } }), other: { name: 'x' } },
    'POST /teams/:id/members': {
      prepare: async () => ({ at: `/teams/${await make('/teams', { name: 'ark' })}/members`, body: { owner: 'noah' } }),
      other: { owner: 'ham' },
    },
    'DELETE /teams/:id/members': {
      prepare: async () => {
        const id = await make('/teams', { name: 'sea' });
        await call('POST', `/teams/${id}/members`, { body: { owner: 'jonah' } });
        return { at: `/teams/${id}/members?owner=jonah` };
      },
    },
    'POST /agents/bind': {
      prepare: async () => ({ at: '/agents/bind', body: { claim_code: await register() } }),
      other: { claim_code: 'x' },
    },
    'POST /agents/bind/confirm-current-user': {
      prepare: async () => ({ at: '/agents/bind/confirm-current-user', body: { claim_code: await register() } }),
      other: { claim_code: 'x' },
    },
    'POST /agents/bind/deny-current-user': {
      prepare: async () => ({ at: '/agents/bind/deny-current-user', body: { claim_code: await register() } }),
      other: { claim_code: 'x' },
    },
  };

  const writing = service.app.routeTable
    .filter(({ method, url }) => url.startsWith(`${MOUNT}/`) && !['GET', 'HEAD', 'OPTIONS'].includes(method))
    .map(({ method, url }) => `${method} ${url.slice(MOUNT.length)}`)
    .filter((route) => !isLogin(route.split(' ')[1]!));
  const known = [...Object.keys(CASES), ...Object.keys(WITHOUT)];
  t.same(
    [...new Set(writing)].filter((route) => !known.includes(route)),
    [],
    'each is in one of the two lists',
  );
  t.same(
    known.filter((route) => !writing.includes(route)),
    [],
    'and the lists name no other',
  );

  /** What was done: every write leaves its event, and a use its count. */
  const deeds = async () => {
    const [row] = await service.deps.db.admin((tx) =>
      tx.query<{ n: number }>(sql`
        select ((select count(*) from audit_events where owner = ${owner} and outcome = 'done')
          + (select coalesce(sum(used), 0) from memory_usage) + (select count(*) from memories) + (select count(*) from documents))::int as n`),
    );
    return row!.n;
  };

  for (const [route, { prepare, other, refused }] of Object.entries(CASES)) {
    await t.test(route, async (t) => {
      const method = route.split(' ')[0]!;
      const key = `key of ${route}`;
      const { at, ...request } = await prepare();
      const before = await deeds();
      const twins = await Promise.all([1, 2, 3].map(() => call(method, at, { ...request, key })));
      const done = twins.filter((reply) => reply.status < 300);
      const first = done[0]!;
      t.ok(first, twins[0]!.text);
      t.equal(done.length, refused ? 1 : 3, twins.map((reply) => reply.text).join('\n'));
      const after = await deeds();
      t.not(after, before, 'something was done');
      const again = await call(method, at, { ...request, key });
      if (refused) {
        t.match(again, { status: 409, body: { error: { code: refused } } }, again.text);
        t.match(again.body.error.message, first.body.id, 'it names what was made');
        t.notMatch(again.text, first.body.token);
      } else {
        const { request_id: _, restored_at: __, ...body } = again.body;
        t.match(first.body, body);
        t.equal(again.status, first.status);
      }
      t.equal(await deeds(), after, 'and no more');

      // the same route with another body
      if (other !== undefined) {
        const changed = request.text === undefined ? { body: { ...request.body, ...other } } : { text: 'another' };
        const clash = await call(method, at, { ...changed, key });
        t.match(clash, { status: 409, body: { error: { code: 'idempotency_conflict' } } }, clash.text);
      }
    });
  }

  await t.test('no secret is kept under a key', async (t) => {
    const made = await call('POST', '/tokens', { body: { name: 'kept', scopes: ['memory:read'] }, key: 'secret' });
    const rotated = await call('POST', `/tokens/${made.body.id}/rotate`, { body: {}, key: 'secret' });
    const [kept] = await service.deps.db.admin((tx) =>
      tx.query<{ all: string }>(sql`select string_agg(reply::text || key, '') as all from idempotency_keys`),
    );
    for (const secret of [made.body.token, rotated.body.token]) {
      t.match(secret, /^xmemo_tok_/);
      t.notOk(kept!.all.includes(secret.split('.')[1]));
    }
    t.equal((await call('GET', '/memories', { token: rotated.body.token })).status, 200);
    t.equal((await call('GET', '/memories', { token: made.body.token })).status, 401);
  });

  await t.test('a token that was revoked under a key is dead at once', async (t) => {
    const made = await call('POST', '/tokens', { body: { name: 'brief', scopes: ['memory:read'] } });
    t.equal((await call('GET', '/memories', { token: made.body.token })).status, 200);
    t.equal((await call('DELETE', `/tokens/${made.body.id}`, { key: 'dead' })).status, 200);
    t.equal((await call('GET', '/memories', { token: made.body.token })).status, 401);
  });

  await t.test('the key of a skill operation may stand beside its arguments, among them, or in a header', async (t) => {
    const spent = await make('/ledger/expenses', { item: 'twice deleted', amount: '1' });
    const forms = [
      { operation: 'ledger-delete', arguments: { id: spent }, idempotency_key: 'skill' },
      { operation: 'ledger-delete', arguments: { id: spent, 'idempotency-key': 'skill' } },
    ];
    const replies = [];
    for (const body of forms) replies.push(await call('POST', '/skill/operations', { body }));
    replies.push(
      await call('POST', '/skill/operations', {
        body: { operation: 'ledger-delete', arguments: { id: spent } },
        key: 'skill',
      }),
    );
    for (const reply of replies) t.match(reply, { status: 200, body: { ok: true, result: { id: spent } } }, reply.text);
    const two = await call('POST', '/skill/operations', { body: forms[0]!, key: 'another' });
    t.match(two, { status: 422, body: { ok: false, error: { code: 'validation_error' } } });
  });

  await t.test('a token with other limits is not told what the first one was told', async (t) => {
    const body = { content: 'a word for the wide', bucket: 'wide' };
    const first = await call('POST', '/remember', { body, key: 'limits' });
    t.equal((await call('POST', '/remember', { body, key: 'limits' })).body.id, first.body.id);
    const at = `/memories/${first.body.id}/forget`;
    t.equal((await call('POST', at, { body: {}, key: 'limits' })).status, 200);
    for (const limits of [{ buckets: ['other'] }, { memoryScopes: ['other'] }, { teams: ['other'] }]) {
      const narrow = service.token({ owner, scopes: [...GRANTABLE_SCOPES], ...limits });
      for (const [where, sent] of [['/remember', body] as const, [at, {}] as const]) {
        const reply = await call('POST', where, { body: sent, key: 'limits', token: narrow });
        t.match(reply, { status: 409, body: { error: { code: 'idempotency_conflict' } } }, reply.text);
        t.notMatch(reply.text, first.body.id);
      }
    }
  });

  await t.test('a restore that is sent again does no more than the first, whatever has changed since', async (t) => {
    const state = (content: string) => call('POST', '/update_state', { body: { state_key: 'once', content } });
    await state('one');
    const { id } = (await call('POST', '/restart/snapshot', { body: { state_key: 'once' } })).body;
    const body = { snapshot_id: id, state_key: 'once' };
    const first = await call('POST', '/restart/restore', { body, key: 'restart' });
    await state('two');
    const again = await call('POST', '/restart/restore', { body, key: 'restart' });
    t.match(again, { status: 200, body: { event_id: first.body.event_id, state_update: { version: 2 } } }, again.text);
  });

  await t.test('a key is worth a day', async (t) => {
    const body = { name: 'daily' };
    const first = await call('POST', '/knowledge-bases', { body, key: 'daily' });
    service.setNow(new Date(Date.now() + 23 * 3_600_000));
    const later = service.token({ owner, scopes: [...GRANTABLE_SCOPES], ttlSeconds: 100 * 3_600 });
    t.equal((await call('POST', '/knowledge-bases', { body, key: 'daily', token: later })).body.id, first.body.id);
    service.setNow(new Date(Date.now() + 25 * 3_600_000));
    const next = await call('POST', '/knowledge-bases', { body: { name: 'other' }, key: 'daily', token: later });
    t.equal(next.status, 201, next.text);
    t.not(next.body.id, first.body.id);
    service.setNow(undefined);
  });
});

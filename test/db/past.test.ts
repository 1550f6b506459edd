import fc from 'fast-check';
import t from 'tap';
import { startService } from '../helpers/service.ts';

const seed = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31);
const numRuns = Number(process.env.FC_RUNS ?? 5);

const MINUTE = 60_000;
const BEGIN = Date.parse('2026-03-01T09:00:00Z');

t.test('as_of gives the very answers of then', async (t) => {
  const service = await startService();
  t.teardown(() => service.close());
  t.comment(`seed ${seed}`);
  const step = fc.record({
    kind: fc.constantFrom(
      'remember',
      'remember',
      'key',
      'patch',
      'patch',
      'move',
      'archive',
      'usage',
      'forget and restore',
    ),
    at: fc.nat(1_000),
    session_id: fc.constantFrom('s1', 's2'),
    words: fc.constantFrom('river stone', 'lamp? cedar', 'harbour lamp', 'violet kettle bridge'),
    author: fc.constantFrom('Ann', 'Ben'),
    bucket: fc.constantFrom('public', 'other'),
  });
  let owners = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
      const token = service.token({ owner: `owner ${owners++}` });
      const call = (method: 'GET' | 'POST' | 'PATCH', at: string, body: object) =>
        service.call(method, at, {
          token,
          ...(method === 'GET' ? { query: body as Record<string, unknown> } : { body }),
        });
      const answers = async (asOf?: string) => {
        const as_of = asOf === undefined ? {} : { as_of: asOf };
        const query = 'where is the lamp by the river?';
        const replies = [
          await call('POST', '/recall/context', { query, ...as_of }),
          await call('POST', '/recall', { query: 'kettle', limit: 20, explain: true, ...as_of }),
          await call('POST', '/memories/search', { query: 'river stone', status: '%', bucket: 'public', ...as_of }),
          await call('GET', '/memories', { session_id: 's1', ...as_of }),
        ];
        t.same(
          replies.map(({ status }) => status),
          [200, 200, 200, 200],
        );
        return replies.map(({ text }) => text);
      };
      const ids: string[] = [];
      const seen: { at: string; answers: string[] }[] = [];
      for (const [minute, { kind, at, words, ...more }] of steps.entries()) {
        service.setNow(new Date(BEGIN + minute * MINUTE));
        const id = ids[at % Math.max(1, ids.length)];
        if (kind === 'remember' || id === undefined) {
          ids.push((await call('POST', '/remember', { content: `${words} ${at}`, ...more, position: at % 7 })).body.id);
        } else if (kind === 'key') {
          await call('POST', '/remember', { content: `${words} ${at}`, ...more, bucket: 'public', semantic_key: 'k' });
        } else if (kind === 'patch') await call('PATCH', `/memories/${id}`, { content: `${words} ${at}` });
        else if (kind === 'move') await call('PATCH', `/memories/${id}`, more);
        else if (kind === 'archive') await call('PATCH', `/memories/${id}`, { status: at % 2 ? 'archived' : 'active' });
        else if (kind === 'usage') await call('POST', `/memories/${id}/usage`, { usage_tracking_id: `ut_${at}` });
        else {
          await call('POST', `/memories/${id}/forget`, {});
          await call('POST', `/memories/${id}/restore`, {});
        }
        service.setNow(new Date(BEGIN + minute * MINUTE + 1_000));
        seen.push({ at: new Date(BEGIN + minute * MINUTE + 1_000).toISOString(), answers: await answers() });
      }
      service.setNow(new Date(BEGIN + 1_000 * MINUTE));
      for (const then of seen) t.same(await answers(then.at), then.answers, `seed ${seed}, as of ${then.at}`);
    }),
    { seed, numRuns },
  );
});

t.test('the past shows nothing that is gone', async (t) => {
  const service = await startService();
  t.teardown(() => service.close());
  const at = (minute: number) => new Date(BEGIN + minute * MINUTE);
  const call = (method: 'GET' | 'POST' | 'PATCH', path: string, body: object = {}, token = service.token()) =>
    service.call(method, path, {
      token,
      ...(method === 'GET' ? { query: body as Record<string, unknown> } : { body }),
    });
  const remember = async (content: string, more: object = {}): Promise<string> =>
    (await call('POST', '/remember', { content, ...more })).body.id;
  const found = async (query: string, more: object = {}, token?: string): Promise<string[]> => {
    const packed = await call('POST', '/recall/context', { query, as_of: at(5).toISOString(), ...more }, token);
    t.equal(packed.status, 200);
    return packed.body.items.map(({ content }: { content: string }) => content);
  };
  service.setNow(at(0));
  const kept = await remember('The harbour crane lifts nine tonnes');
  const soft = await remember('The harbour crane is painted violet');
  const hard = await remember('The harbour crane was built by Corvin');
  const redacted = await remember('The harbour crane pays Wendelin monthly');
  await remember('The harbour crane rests on Sundays', { expires_at: at(30).toISOString() });
  const moved = await remember('The harbour crane stands at pier seven');
  service.setNow(at(10));
  t.equal((await found('harbour crane')).length, 6);
  await call('PATCH', `/memories/${kept}`, { content: 'The harbour crane lifts twelve tonnes' });
  await call('PATCH', `/memories/${moved}`, { bucket: 'secret' });
  await call('POST', `/memories/${soft}/forget`);
  await call('POST', `/memories/${hard}/forget`, { mode: 'hard_delete' });
  await call('POST', `/memories/${redacted}/forget`, {
    mode: 'redact',
    replacement_content: 'The harbour crane pays somebody',
  });
  await remember('The harbour crane has a new driver');
  service.setNow(at(40));

  await t.test('forgotten, deleted, redacted, expired and later ones', async (t) => {
    t.same((await found('harbour crane')).sort(), [
      'The harbour crane lifts nine tonnes',
      'The harbour crane pays somebody',
      'The harbour crane stands at pier seven',
    ]);
    t.same(await found('Wendelin monthly', { max_items: 1 }), [], 'nor is it found by its words');
    const listed = (await call('GET', '/memories', { as_of: at(5).toISOString() })).body;
    t.equal(listed.total, 3);
    const present = await call('POST', '/recall/context', { query: 'harbour crane' });
    t.match(JSON.stringify(present.body.items), 'twelve tonnes');
  });

  await t.test('what a token may not see now it may not see then, nor what it may not have seen', async (t) => {
    const publicOnly = service.token({ buckets: ['public'] });
    t.notMatch((await found('harbour crane', {}, publicOnly)).join(), 'pier seven');
    const secretOnly = service.token({ buckets: ['secret'] });
    t.same(await found('harbour crane', {}, secretOnly), []);
  });

  await t.test('nor does it hear what speaks through a neighbour', async (t) => {
    const session = { session_id: 'pier', occurred_at: at(0).toISOString() };
    service.setNow(at(0));
    const asks = await remember('Who feeds the gulls at noon?', { ...session, author: 'Ann' });
    const moves = await remember('Ottokar brings herring in a bucket', { ...session, author: 'Ben' });
    service.setNow(at(10));
    const bm25 = async () => {
      const query = { query: 'Ottokar herring', limit: 20, explain: true, as_of: at(5).toISOString() };
      const { body } = await call('POST', '/recall', query, service.token({ buckets: ['public'] }));
      return body.results.find((result: { id: string }) => result.id === asks)?.explanation.bm25;
    };
    t.ok((await bm25()) > 0);
    await call('PATCH', `/memories/${moves}`, { bucket: 'secret' });
    t.notOk(await bm25());
    service.setNow(at(40));
  });

  await t.test('an id is looked up in the past too, and explained', async (t) => {
    t.same(await found(kept), ['The harbour crane lifts nine tonnes']);
    const asked = { query: 'harbour crane', memory_id: kept };
    const then = await call('POST', '/recall/explain', { ...asked, as_of: at(5).toISOString() });
    t.match(then.body, { found: true, kept_out_by: [] });
    const before = await call('POST', '/recall/explain', { ...asked, as_of: '2020-01-01' });
    t.match(before.body, { found: false, kept_out_by: ['as_of'], verdict: 'not there yet at that instant' });
  });

  await t.test('before everything, after everything, and with documents', async (t) => {
    t.same(await found('harbour crane', { as_of: '2020-01-01' }), []);
    t.match((await found('harbour crane', { as_of: '2190-01-01' })).join(), 'twelve tonnes');
    const knowing = service.token({ scopes: ['memory:read', 'knowledge:read'] });
    const refused = await call(
      'POST',
      '/recall/context',
      { query: 'crane', as_of: at(5).toISOString(), include_knowledge: true },
      knowing,
    );
    t.match(refused, { status: 422 });
    t.match((await call('POST', '/recall', { query: 'crane', as_of: 'yesterday' })).status, 422);
  });
});

import t from 'tap';
import { startService } from '../helpers/service.ts';

t.test('the main job', async (t) => {
  const service = await startService();
  t.teardown(() => service.close());
  const { call } = service;

  await t.test('a remembered memory is read, recalled, searched and packed at once', async (t) => {
    const stored = await call('POST', '/remember', { body: { content: 'Deploys go out on Tuesdays, never on Fridays.', path: '/team//rules/' } });
    t.equal(stored.status, 201, stored.text);
    t.equal(stored.body.id, stored.body.memory_id);
    const { id } = stored.body;
    const got = await call('GET', `/memories/${id}`);
    t.match(got.body, { id, content: 'Deploys go out on Tuesdays, never on Fridays.', path: 'team/rules', bucket: 'public', status: 'active' });
    for (const at of ['/recall', '/memories/search']) {
      const found = await call('GET', at, { query: { query: 'deploys on Fridays' } });
      t.equal(found.status, 200, found.text);
      t.equal(found.body.results[0]?.id, id, at);
    }
    const pack = await call('POST', '/recall/context', { body: { query: 'deploys on Fridays' } });
    t.equal(pack.body.items[0]?.id, id, pack.text);
    const text = await call('GET', '/recall/context', { query: { query: 'deploys on Fridays' }, headers: { accept: 'text/plain' } });
    t.match(text.text, `### XMemo Context\nItems: 1\nReference: ${id} | Type: `);
  });
});

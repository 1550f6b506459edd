/** What an agent is sent from turn to turn: what is new since a pack, nothing twice in a session, and both sides of a contradiction. */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import { writePackId } from '../../src/recall/pack-id.ts';
import { startService } from '../helpers/service.ts';

const seed = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31);

interface Item {
  readonly id: string;
  readonly content: string;
  readonly version: number;
}

t.test('from turn to turn', async (t) => {
  const service = await startService();
  t.teardown(() => service.close());
  let owner = 'nobody';
  const call = (method: 'GET' | 'POST' | 'PATCH', at: string, body: object = {}) =>
    service.call(method, at, {
      token: service.token({ owner, scopes: ['memory:read', 'memory:write', 'memory:delete', 'knowledge:read'] }),
      ...(method === 'GET' ? { query: body as Record<string, unknown> } : { body }),
    });
  const remember = async (content: string, more: object = {}): Promise<string> =>
    (await call('POST', '/remember', { content, ...more })).body.id;
  const pack = async (query: string, more: object = {}) => {
    const reply = await call('POST', '/recall/context', { query, ...more });
    t.equal(reply.status, 200, reply.text.slice(0, 300));
    return reply.body;
  };
  const texts = (body: { items: Item[] }): string[] => body.items.map(({ content }) => content);

  await t.test('a delta names what is new, changed and withdrawn, and sends nothing else', async (t) => {
    owner = 'delta';
    const first = await remember('The orchard pump runs at dawn');
    const gone = await remember('The orchard pump is red');
    const expiring = await remember('The orchard pump is hired', {
      expires_at: new Date(Date.now() + 60_000).toISOString(),
    });
    const same = await remember('The orchard pump was made in Ghent');
    const before = await pack('orchard pump');
    t.equal(before.items.length, 4);
    t.same(before.delta, undefined);
    const nothing = await pack('orchard pump', { since_pack: before.pack_id });
    t.same([nothing.items, nothing.context_text, nothing.budget.dropped], [[], '', []]);
    t.same(nothing.delta.unchanged.sort(), before.items.map(({ id }: Item) => id).sort());
    t.equal(nothing.pack_id.length, before.pack_id.length, 'its reader holds what it held');

    await call('PATCH', `/memories/${first}`, { content: 'The orchard pump runs at dusk' });
    await call('POST', `/memories/${gone}/forget`);
    service.setNow(new Date(Date.now() + 120_000));
    const added = await remember('The orchard pump needs oil');
    const delta = await pack('orchard pump', { since_pack: before.pack_id });
    t.same(texts(delta).sort(), ['The orchard pump needs oil', 'The orchard pump runs at dusk']);
    t.same(
      { ...delta.delta, withdrawn: [] },
      {
        since_pack: before.pack_id,
        new: [added],
        changed: [first],
        unchanged: [same],
        withdrawn: [],
      },
    );
    t.same(
      delta.delta.withdrawn.map(({ id, reason }: { id: string; reason: string }) => `${reason} ${id}`).sort(),
      [`gone ${gone}`, `gone ${expiring}`].sort(),
    );
    t.match(delta.context_text, /\n\nWithdrawn: [0-9a-f-]{36} \(gone\), [0-9a-f-]{36} \(gone\)$/);
    t.match(delta.context_text, /^\[1\] [\s\S]*\n\n\[2\] /, 'what is sent is numbered from one');
    t.same((await pack('orchard pump', { since_pack: delta.pack_id })).delta.withdrawn, [], 'said once');
    service.setNow(undefined);
  });

  await t.test('what changed and is not sent is withdrawn', async (t) => {
    owner = 'changed';
    const id = await remember('The loom stands in hall four');
    const before = await pack('loom hall');
    await call('PATCH', `/memories/${id}`, { content: 'Quarterly figures are due on Monday' });
    const delta = await pack('loom hall', { since_pack: before.pack_id, threshold: 0.9 });
    t.same(delta.items, []);
    t.same(delta.delta.withdrawn, [{ id, reason: 'changed' }]);
    t.equal(delta.context_text, `Withdrawn: ${id} (changed)`);
    const text = await service.call('POST', '/recall/context', {
      token: service.token({ owner }),
      body: { query: 'loom hall', since_pack: before.pack_id, threshold: 0.9 },
      headers: { accept: 'text/plain' },
    });
    t.match(text.text, `Unchanged: 0\nContext:\nWithdrawn: ${id} (changed)`);
    t.match(text.headers['x-xmemo-pack-id'], /^pk_/);
  });

  await t.test('another filter makes nothing untrue; another owner holds nothing of it', async (t) => {
    owner = 'filters';
    await remember('The kiln burns birch', { path: 'a' });
    await remember('The kiln burns on Fridays', { path: 'b' });
    const before = await pack('kiln burns');
    const narrowed = await pack('kiln burns', { since_pack: before.pack_id, path: 'a' });
    t.same([narrowed.items, narrowed.delta.withdrawn, narrowed.delta.unchanged.length], [[], [], 2]);
    owner = 'stranger';
    await remember('The kiln burns oak');
    const foreign = await pack('kiln burns', { since_pack: before.pack_id });
    t.same(texts(foreign), ['The kiln burns oak']);
    t.same(
      foreign.delta.withdrawn.map(({ reason }: { reason: string }) => reason),
      ['gone', 'gone'],
      'as if they had never been',
    );
  });

  await t.test('a pack id that is cut, changed or invented is refused', async (t) => {
    const { pack_id } = await pack('kiln burns');
    const flipped = pack_id.slice(0, 8) + (pack_id[8] === 'A' ? 'B' : 'A') + pack_id.slice(9);
    const invented = writePackId([{ id: 'ffffffff-0000-0000-0000-000000000001', version: 1 }]);
    for (const since_pack of [
      pack_id.slice(0, -4),
      flipped,
      invented,
      'pk_',
      'ut_abc',
      `${pack_id}AAAA`,
      'x'.repeat(9_000),
    ]) {
      const reply = await call('POST', '/recall/context', { query: 'kiln', since_pack });
      t.match(reply, { status: 422 }, since_pack.slice(0, 20));
      t.match(reply.text, 'since_pack');
    }
    t.equal((await call('GET', '/recall/context', { query: 'kiln', since_pack: pack_id })).status, 200);
  });

  await t.test('a session is never sent the same version twice', async (t) => {
    owner = 'session';
    const ids = [];
    for (let i = 0; i < 9; i++) ids.push(await remember(`The quarry sells stone of kind ${'abcdefghi'[i]}`));
    const ask = (session_id: string, more: object = {}) =>
      pack('which stone does the quarry sell', { session_id, exclude_seen: true, max_items: 3, ...more });
    const turns = [await ask('s'), await ask('s'), await ask('s'), await ask('s')];
    t.same(
      turns.map(({ items }) => items.length),
      [3, 3, 3, 0],
    );
    t.equal(new Set(turns.flatMap(({ items }) => items.map(({ id }: Item) => id))).size, 9);
    t.same(
      turns[3].budget.dropped.map(({ reason }: { reason: string }) => reason),
      Array(9).fill('seen'),
    );
    t.equal((await ask('other session')).items.length, 3);
    await call('PATCH', `/memories/${ids[4]}`, { content: 'The quarry sells stone of kind z' });
    t.same(texts(await ask('s')), ['The quarry sells stone of kind z'], 'a new version is new');
    t.same(texts(await ask('s')), []);
    const together = await Promise.all(Array.from({ length: 5 }, () => ask('together', { max_items: 2 })));
    const sent = together.flatMap(({ items }) => items.map(({ id }: Item) => id));
    t.equal(new Set(sent).size, sent.length, 'nor by questions side by side');
    owner = 'another';
    await remember('The quarry sells stone of kind a');
    t.equal((await ask('s')).items.length, 1, 'a session belongs to its owner');
  });

  await t.test('exclude_seen needs a session and POST, and its answers are not cached', async (t) => {
    owner = 'session';
    t.match(await call('POST', '/recall/context', { query: 'stone', exclude_seen: true }), {
      status: 422,
      text: /session_id/,
    });
    const asked = { query: 'stone', exclude_seen: true, session_id: 'get' };
    t.match(await call('GET', '/recall/context', asked), { status: 422, text: /POST/ });
    const answer = await call('POST', '/recall/context', asked);
    t.match(answer.headers, { etag: undefined, 'cache-control': 'no-store' });
    const then = { query: 'stone', as_of: new Date().toISOString() };
    const { pack_id } = await pack('stone');
    for (const more of [{ exclude_seen: true, session_id: 's' }, { since_pack: pack_id }]) {
      t.match(await call('POST', '/recall/context', { ...then, ...more }), { status: 422, text: /about now/ });
      const asked = { ...then, ...more, memory_id: randomUUID() };
      t.match(await call('POST', '/recall/explain', asked), { status: 422, text: /about now/ });
    }
  });

  await t.test('of many that are gone as many are named as there is room for', async (t) => {
    owner = 'hundreds';
    await remember('The bell tower leans');
    const invented = writePackId(Array.from({ length: 100 }, () => ({ id: randomUUID(), version: 1 })));
    let named = 0;
    for (const max_tokens of [40, 200, 1_000, 12_000]) {
      const body = await pack('bell tower', { since_pack: invented, max_tokens });
      t.ok(body.budget.used_tokens <= max_tokens);
      const line = /^Withdrawn: .*$/m.exec(body.context_text)?.[0] ?? '';
      const now = line.split(', ').length;
      t.ok(now > named, `${now} after ${named}: more room, more names`);
      named = now;
    }
    t.equal(named, 100);
  });

  await t.test('two sides stand side by side, the newer first, and the older is marked', async (t) => {
    owner = 'sides';
    await remember('The harvest dinner is on Friday', { occurred_at: '2026-03-01' });
    await remember('Everybody brings a dish to the harvest dinner');
    await remember('The harvest dinner is on Saturday', { occurred_at: '2026-04-01' });
    const body = await pack('when is the harvest dinner');
    const at = texts(body).indexOf('The harvest dinner is on Saturday');
    t.equal(texts(body)[at + 1], 'The harvest dinner is on Friday');
    t.same(body.conflicts, [{ newer: body.items[at].id, older: body.items[at + 1].id, reason: 'date' }]);
    t.match(body.context_text, /\[\d\] 2026-03-01 · contradicted by a newer memory\nThe harvest dinner is on Friday/);
    t.same((await pack('when is the harvest dinner', { max_items: 1 })).conflicts, []);
  });

  await t.test('explain says what a reader holds, what a session was sent, and what contradicts it', async (t) => {
    owner = 'explained';
    const older = await remember('The harvest dinner is on Friday', { occurred_at: '2026-03-01' });
    const newer = await remember('The harvest dinner is on Saturday', { occurred_at: '2026-04-01' });
    const asked = { query: 'when is the harvest dinner' };
    const verdict = async (memory_id: string, more: object = {}): Promise<string> => {
      const reply = await call('POST', '/recall/explain', { ...asked, memory_id, ...more });
      t.equal(reply.status, 200, reply.text.slice(0, 300));
      return reply.body.verdict;
    };
    t.match(await verdict(older), new RegExp(`item \\d of 2, contradicted by the newer ${newer}`));
    t.match(await verdict(newer), new RegExp(`item \\d of 2, contradicts the older ${older}`));
    const { pack_id: since_pack } = await pack(asked.query);
    t.match(await verdict(older, { since_pack }), 'left out: the reader holds it from since_pack');

    const session = { exclude_seen: true, session_id: 'turns' };
    t.match(await verdict(older, session), 'item', 'nothing was sent to the session yet');
    t.equal((await pack(asked.query, session)).items.length, 2, 'explaining sends nothing');
    t.match(await verdict(older, session), 'left out: the session was sent it');

    t.match(await verdict(older, { threshold: 1 }), 'its score is below the threshold of the request');
    const last = await Promise.all([older, newer].map((id) => verdict(id, { limit: 1, max_items: 1 })));
    t.match(
      last.find((words) => words.startsWith('rank 2')),
      'not in the pack: beyond the first 1 candidates',
    );
    t.match(await verdict(older, { query: 'zebra finch' }), 'the query is below the threshold');
  });

  await t.test('deltas and sessions keep the budget', async (t) => {
    t.comment(`seed ${seed}`);
    const words = fc.array(fc.constantFrom('mill', 'wheel', 'water', 'grain', 'stone', 'flour', '水車'), {
      minLength: 3,
      maxLength: 60,
    });
    let n = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(words, { minLength: 3, maxLength: 8 }),
        fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 2, maxLength: 4 }),
        async (contents, budgets) => {
          owner = `budget ${n++}`;
          const ids = [];
          for (const [i, content] of contents.entries()) ids.push(await remember(`${content.join(' ')} ${i}`));
          const before = await pack('mill wheel water', { max_tokens: 12_000 });
          await call('PATCH', `/memories/${ids[0]}`, { content: 'the mill wheel has no water' });
          await call('POST', `/memories/${ids[1]}/forget`);
          await remember(`mill wheel water ${n} added`);
          let last: Item[] = [];
          for (const max_tokens of [...budgets].sort((a, b) => a - b)) {
            const delta = await pack('mill wheel water', { since_pack: before.pack_id, max_tokens });
            t.ok(delta.budget.used_tokens <= max_tokens, 'within the budget');
            t.same(
              delta.items.slice(0, last.length).map(({ id }: Item) => id),
              last.map(({ id }) => id),
              'more adds',
            );
            t.ok(last.every((item, i) => delta.items[i].tokens >= (item as unknown as { tokens: number }).tokens));
            last = delta.items;
            const seen = await pack('mill wheel water', { exclude_seen: true, session_id: 's', max_tokens });
            t.ok(seen.budget.used_tokens <= max_tokens);
          }
        },
      ),
      { seed, numRuns: Number(process.env.FC_RUNS ?? 8) },
    );
  });
});

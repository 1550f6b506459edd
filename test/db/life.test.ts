import fc from 'fast-check';
import t from 'tap';
import { buildApp } from '../../src/app.ts';
import type { Db } from '../../src/db/db.ts';
import { sql } from '../../src/db/sql.ts';
import { purge } from '../../src/memory/purge.ts';
import { indexWords } from '../../src/memory/words.ts';
import { SECRET, SERVER_URL, type Service, startService } from '../helpers/service.ts';

const seed = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31);
const numRuns = Number(process.env.FC_RUNS ?? 15);

/** What a rebuild from the texts would find wrong: postings that are not a memory's terms, totals that are not their sums, vectors without a memory. */
async function differences(service: Service): Promise<string[]> {
  const rows = await service.deps.db.admin((tx) =>
    tx.query<{ what: string }>(sql`
      select 'memory ' || m.seq || ': postings are not its terms' as what from memories m
        where array(select p.term from postings p where p.space_id = m.space_id and p.seq = m.seq order by p.term) <> array(select unnest(m.terms) collate "C" order by 1)
      union all select 'memory ' || m.seq || ': deleted, but indexed' from memories m
        where m.status = 'deleted' and (m.length <> 0 or exists (select from passages p where p.space_id = m.space_id and p.seq = m.seq))
      union all select 'memory ' || m.seq || ': no vectors' from memories m
        where m.status <> 'deleted' and not exists (select from passages p where p.space_id = m.space_id and p.seq = m.seq)
      union all select 'orphaned posting' from postings p where not exists (select from memories m where m.space_id = p.space_id and m.seq = p.seq)
      union all select 'orphaned passage' from passages p where not exists (select from memories m where m.space_id = p.space_id and m.seq = p.seq)
      union all select 'space ' || s.id || ': wrong totals' from spaces s
        where s.memories <> (select count(*) from memories m where m.space_id = s.id and m.length > 0)
          or s.terms <> (select coalesce(sum(m.length::float8), 0) from memories m where m.space_id = s.id)
      union all select 'memory ' || m.seq || ': a version is missing' from memories m
        where m.version <> 1 + (select count(*) from memory_versions v where v.space_id = m.space_id and v.seq = m.seq)
      union all select 'memory ' || v.seq || ': versions overlap' from memory_versions v
        where v.valid_to < v.valid_from or exists (select from memory_versions w where w.space_id = v.space_id and w.seq = v.seq
          and w.version = v.version + 1 and w.valid_from <> v.valid_to)`),
  );
  return [...rows.map((row) => row.what), ...(await wordsThatMove(service))];
}

/** Memories whose words a rebuild changes. */
async function wordsThatMove(service: Service): Promise<string[]> {
  const words = sql`select space_id, seq, terms, length from memories where status <> 'deleted' order by seq`;
  return service.deps.db.admin(async (tx) => {
    const before = await tx.query<{ space_id: number; seq: string }>(words);
    for (const space of new Set(before.map((row) => row.space_id))) {
      const own = before.filter((row) => row.space_id === space).map((row) => row.seq);
      await indexWords(tx, space, own);
    }
    const after = await tx.query(words);
    return before.flatMap((row, i) =>
      JSON.stringify(row) === JSON.stringify(after[i]) ? [] : [`memory ${row.seq}: other words after a rebuild`],
    );
  });
}

t.test('whatever happens to memories, the index and the versions are those of a rebuild', async (t) => {
  const service = await startService();
  t.teardown(() => service.close());
  t.comment(`seed ${seed}`);
  const token = service.token();
  const call = (method: 'POST' | 'PATCH', at: string, body: object) => service.call(method, at, { token, body });
  const step = fc.record({
    kind: fc.constantFrom(
      'remember',
      'remember',
      'key',
      'patch',
      'patch',
      'soft_delete',
      'hard_delete',
      'redact',
      'replace',
      'restore',
      'bulk',
      'purge',
    ),
    at: fc.nat(1_000),
    session_id: fc.constantFrom('s1', 's2'),
    words: fc.constantFrom('river stone', 'lamp? cedar', 'harbour', 'violet kettle bridge'),
    author: fc.constantFrom('Ann', 'Ben'),
    bucket: fc.constantFrom('public', 'other'),
    status: fc.constantFrom('active', 'archived'),
    expires_at: fc.constantFrom(undefined, undefined, '2199-01-01'),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
      const ids: string[] = [];
      for (const { kind, at, words, ...more } of steps) {
        const { status, ...rest } = more;
        const id = ids[at % Math.max(1, ids.length)] ?? 'none';
        const reply =
          kind === 'remember'
            ? await call('POST', '/remember', { content: words, ...rest, position: at % 7 })
            : kind === 'key'
              ? await call('POST', '/remember', { content: `${words} ${at}`, ...rest, semantic_key: 'k' })
              : kind === 'patch'
                ? await call('PATCH', `/memories/${id}`, { ...more, ...(at % 2 && { content: `${words} ${at}` }) })
                : kind === 'restore'
                  ? await call('POST', `/memories/${id}/restore`, {})
                  : kind === 'bulk'
                    ? await call('POST', '/memories/forget', {
                        session_id: rest.session_id,
                        bucket: rest.bucket,
                        mode: at % 2 ? 'soft_delete' : 'hard_delete',
                      })
                    : kind === 'replace'
                      ? await call('POST', `/memories/${id}/forget`, { mode: 'redact', replacement_content: words })
                      : kind === 'purge'
                        ? undefined
                        : await call('POST', `/memories/${id}/forget`, { mode: kind });
        if (!reply) await purge({ ...service.deps, config: { ...service.deps.config, RETENTION_DAYS: 0 } });
        else if (reply.status >= 500)
          t.fail(`${kind}: ${service.logged.findLast((line) => line.includes('request_failed'))}`);
        else if (reply.status === 201) ids.push(reply.body.id);
      }
      const wrong = await differences(service);
      if (wrong.length > 0) t.same(wrong, [], `seed ${seed}`);
      await call('POST', '/memories/forget', { all: true, mode: 'hard_delete' });
    }),
    { seed, numRuns },
  );
  t.same(await differences(service), []);
});

t.test('a reply that is lost after the commit is given again, and the write is not', async (t) => {
  const service = await startService();
  t.teardown(() => service.close());
  let losing = false;
  const real = service.deps.db;
  const db: Db = {
    ...real,
    async transaction(access, work) {
      const result = await real.transaction(access, work);
      if (losing && !access.readOnly) throw new Error('the process died here');
      return result;
    },
  };
  const app = await buildApp({ ...service.deps, db }, SECRET);
  t.teardown(() => app.close());
  const send = (at: string, payload: object) =>
    app.inject({
      method: 'POST',
      url: `/v1${at}`,
      headers: { authorization: `Bearer ${service.token()}`, 'idempotency-key': 'k' },
      payload,
    });
  losing = true;
  t.equal((await send('/remember', { content: 'said once' })).statusCode, 500);
  losing = false;
  const again = await send('/remember', { content: 'said once' });
  t.same([again.statusCode, again.headers['idempotent-replayed']], [201, 'true']);
  const { id } = again.json();
  t.match((await service.call('GET', '/memories')).body, { total: 1, items: [{ id }] });
  losing = true;
  t.equal((await send(`/memories/${id}/forget`, {})).statusCode, 500);
  losing = false;
  t.match((await send(`/memories/${id}/forget`, {})).json(), { id, status: 'deleted', receipt: { verified: true } });
});

t.test('writers side by side', async (t) => {
  const service = await startService();
  t.teardown(() => service.close());
  const call = (
    method: 'POST' | 'PATCH' | 'GET',
    at: string,
    body: object = {},
    headers: Record<string, string> = {},
  ) => service.call(method, at, method === 'GET' ? { query: body as Record<string, unknown> } : { body, headers });

  await t.test('fifty changes are fifty versions, none lost', async (t) => {
    const { id } = (await call('POST', '/remember', { content: 'the answer is 0', session_id: 's' })).body;
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        call(
          'PATCH',
          `/memories/${id}`,
          i % 2 ? { metadata: { [`k${i}`]: i } } : { content: `the answer is ${i + 1}` },
        ),
      ),
    );
    t.same([...new Set(replies.map((r) => r.status))], [200], replies.find((r) => r.status !== 200)?.text ?? '');
    const { body } = await call('GET', `/memories/${id}`);
    t.equal(body.version, 51);
    t.equal(Object.keys(body.metadata).length, 25, 'every merge is there');
    t.same(await differences(service), []);
  });

  await t.test('of changes that name one version, one is made', async (t) => {
    const { id } = (await call('POST', '/remember', { content: 'first' })).body;
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        call('PATCH', `/memories/${id}`, { content: `then ${i}` }, { 'if-match': '"1"' }),
      ),
    );
    t.same(replies.map((r) => r.status).sort(), [200, ...Array(9).fill(409)]);
  });

  await t.test('forgetting, changing, restoring and writing in one session leave an exact index', async (t) => {
    const ids: string[] = [];
    for (let i = 0; i < 10; i++)
      ids.push(
        (await call('POST', '/remember', { content: `turn ${i} about cedar`, session_id: `s${i % 2}`, position: i }))
          .body.id,
      );
    const replies = await Promise.all(
      Array.from({ length: 60 }, (_, i) => {
        const id = ids[(i * 7) % ids.length];
        if (i % 6 === 0) return call('POST', `/memories/${id}/forget`, { mode: 'soft_delete' });
        if (i % 6 === 1) return call('POST', `/memories/${id}/restore`);
        if (i % 6 === 2)
          return call('POST', '/remember', { content: `turn ${i} about stone`, session_id: `s${i % 2}` });
        if (i % 30 === 3) return call('POST', '/memories/forget', { session_id: 's1' });
        return call('PATCH', `/memories/${id}`, { content: `changed ${i}`, session_id: `s${i % 3}` });
      }),
    );
    t.notOk(replies.find((r) => r.status >= 500)?.text);
    t.same(await differences(service), []);
  });

  await t.test(
    'requests of one key wait for each other',
    { skip: SERVER_URL ? false : 'the embedded database runs one transaction at a time' },
    async (t) => {
      const replies = await Promise.all(
        Array.from({ length: 40 }, () =>
          call('POST', '/remember', { content: 'one of forty', idempotency_key: 'forty' }),
        ),
      );
      t.same([...new Set(replies.map((r) => r.status))], [201], replies.find((r) => r.status !== 201)?.text ?? '');
      t.equal(new Set(replies.map((r) => r.body.id)).size, 1);
      t.equal(
        (await call('GET', '/memories', { limit: 500 })).body.items.filter(
          (m: { content: string }) => m.content === 'one of forty',
        ).length,
        1,
      );
    },
  );
});

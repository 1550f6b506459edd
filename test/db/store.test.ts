import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import t from 'tap';
import { type Db, makeDb } from '../../src/db/db.ts';
import { migrate, migrationNames, pendingMigrations } from '../../src/db/migrate.ts';
import { Sql, sql } from '../../src/db/sql.ts';
import { analyse } from '../../src/text/analyse.ts';
import { wordsOf } from '../../src/text/lexical.ts';
import { makeTestDb, SERVER_URL, type Service, startService } from '../helpers/service.ts';

const seed = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31);

/** The totals of every space and the postings of every memory, beside what a rebuild from the texts would give. */
async function differences(service: Service): Promise<string[]> {
  const out: string[] = [];
  const rows = await service.deps.db.admin((tx) =>
    tx.query<{
      space_id: number;
      seq: string;
      status: string;
      length: number;
      terms: string[];
      postings: Record<string, number> | null;
    }>(sql`
      select m.space_id, m.seq, m.status, m.length, m.terms,
        (select jsonb_object_agg(p.term, p.tf) from postings p where p.space_id = m.space_id and p.seq = m.seq) as postings
      from memories m order by m.seq`),
  );
  for (const row of rows) {
    const terms = Object.keys(row.postings ?? {}).sort();
    if (JSON.stringify(terms) !== JSON.stringify([...row.terms].sort()))
      out.push(`memory ${row.seq}: postings are not its terms`);
    if (row.status === 'deleted' && row.length !== 0) out.push(`memory ${row.seq}: deleted, but indexed`);
    const sum = Object.values(row.postings ?? {}).reduce((a, b) => a + b, 0);
    if (Math.abs(sum - row.length) > 1e-3) out.push(`memory ${row.seq}: length ${row.length}, postings sum to ${sum}`);
  }
  const totals = await service.deps.db.admin((tx) =>
    tx.query<{ id: number; memories: string; terms: number; n: string; length: number; orphans: string }>(sql`
      select s.id, s.memories, s.terms, count(m.seq) filter (where m.length > 0) as n, coalesce(sum(m.length), 0) as length,
        (select count(*) from postings p where p.space_id = s.id and not exists (select from memories x where x.space_id = p.space_id and x.seq = p.seq)) as orphans
      from spaces s left join memories m on m.space_id = s.id group by s.id`),
  );
  for (const row of totals) {
    if (row.memories !== row.n) out.push(`space ${row.id}: counts ${row.memories} memories, has ${row.n}`);
    if (Math.abs(row.terms - row.length) > 1e-2)
      out.push(`space ${row.id}: counts ${row.terms} terms, has ${row.length}`);
    if (row.orphans !== '0') out.push(`space ${row.id}: ${row.orphans} orphaned postings`);
  }
  return out;
}

t.test('migrations run once, also when two processes start at the same time', async (t) => {
  const db = await makeTestDb();
  t.teardown(() => db.close());
  const all = await migrationNames();
  t.same(await pendingMigrations(db), all);
  const [a, b] = await Promise.all([migrate(db), migrate(db)]);
  t.same([...a, ...b].sort(), all);
  t.same(await pendingMigrations(db), []);
});

t.test(
  'a migration may take longer than a statement of a request',
  { skip: SERVER_URL === undefined && 'statements of the embedded database have no time limit' },
  async (t) => {
    const db = await makeTestDb(200);
    t.teardown(() => db.close());
    await t.rejects(
      db.admin((tx) => tx.query(sql`select pg_sleep(0.4)`)),
      { code: 'timeout' },
    );
    t.same(await migrate(db, [{ name: '0000_slow', text: 'select pg_sleep(0.4);' }]), ['0000_slow']);
    await t.rejects(
      db.admin((tx) => tx.query(sql`select pg_sleep(0.4)`)),
      { code: 'timeout' },
      'the limit is back afterwards',
    );
  },
);

t.test(
  'a connection that is lost or silent fails its transaction and nothing else',
  { skip: SERVER_URL === undefined && 'the embedded database has no connection to lose' },
  async (t) => {
    const idle: Error[] = [];
    const db = await makeTestDb(200, (error) => idle.push(error));
    t.teardown(() => db.close());
    const pid = () => db.admin((tx) => tx.query<{ pid: number }>(sql`select pg_backend_pid() as pid`));
    await pid();
    const lost = (statement: Sql) =>
      t.rejects(
        db.admin(async (tx) => {
          await tx.query(sql`set local statement_timeout = 0`);
          await tx.query(statement);
        }),
        { code: 'unavailable' },
      );
    // at once, between two statements, and by a server that is there no more
    await lost(sql`select pg_terminate_backend(pg_backend_pid())`);
    await t.rejects(
      db.admin(async (tx) => {
        const [own] = await tx.query<{ pid: number }>(sql`select pg_backend_pid() as pid`);
        await db.admin((other) => other.query(sql`select pg_terminate_backend(${own!.pid}, 5000)`));
        await sleep(50);
        await tx.query(sql`select 1`);
      }),
      { code: 'unavailable' },
    );
    await lost(sql`select pg_sleep(60)`);
    t.equal((await pid()).length, 1, 'the next transaction has a connection');
    t.equal(db.connections().waiting, 0);
    await Promise.all([pid(), pid()]);
    await db.admin((tx) =>
      tx.query(sql`
        select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`),
    );
    await sleep(50);
    t.same(
      idle.map((error) => Object.keys(error)).filter((names) => names.includes('client')),
      [],
      'what is logged of a free connection is the fault alone',
    );
    t.ok(idle.length > 0);
  },
);

t.test('an embedded database that answers no more is told of, with what stopped it', async (t) => {
  const full = Object.assign(new Error('No space left on device'), { code: '53100' });
  const stopped: unknown[] = [];
  const query = async ({ text }: { text: string }) => {
    if (text.startsWith('rollback')) throw new Error('Query read timeout');
    if (text.startsWith('insert')) throw full;
    return { rows: [] };
  };
  const released: unknown[] = [];
  const pool = { on() {}, connect: async () => ({ query, release: (error: unknown) => released.push(error) }) };
  const db = makeDb('embedded', pool as unknown as Parameters<typeof makeDb>[1], {
    onStop: (cause) => stopped.push(cause),
  });
  await t.rejects(
    db.admin((tx) => tx.query(sql`insert into spaces default values`)),
    { code: 'unavailable' },
  );
  t.match(stopped, [{ code: 'unavailable', cause: full }]);
  t.equal(released.length, 1);
});

t.test(
  'an owner of a database who may make no roles and no extensions migrates it, once they are there',
  { skip: SERVER_URL === undefined && 'the embedded database has one role' },
  async (t) => {
    const db = await makeTestDb();
    t.teardown(() => db.close());
    const role = `test_owner_${process.pid}`;
    const [{ name } = { name: '' }] = await db.admin((tx) =>
      tx.query<{ name: string }>(sql`select current_database() as name`),
    );
    await migrate(db); // makes the role of the service, where it is not there yet
    const statements = [
      'drop schema public cascade',
      'create schema public',
      'create extension vector',
      `create role ${role}`,
      `alter database ${name} owner to ${role}`,
      `grant all on schema public to ${role}`,
      `grant xmemo_service to ${role}`,
    ];
    for (const text of statements) await db.admin((tx) => tx.query(new Sql([text], [])));
    t.teardown(async () => {
      for (const text of [
        `drop owned by ${role} cascade`,
        `alter database ${name} owner to current_user`,
        `drop owned by ${role}`,
        `drop role ${role}`,
      ])
        await db.admin((tx) => tx.query(new Sql([text], [])));
    });
    const migration: Db['migration'] = (work) =>
      db.migration(async (tx) => {
        await tx.query(new Sql([`set local role ${role}`], []));
        return work(tx);
      });
    t.equal((await migrate({ ...db, migration })).length, (await migrationNames()).length);
  },
);

t.test('a statement is prepared from its second time on: those of a migration take no place', async (t) => {
  const db = await makeTestDb();
  t.teardown(() => db.close());
  await migrate(db);
  const prepared = () =>
    db.admin((tx) => tx.query<{ statement: string }>(sql`select statement from pg_prepared_statements`));
  t.notOk((await prepared()).find(({ statement }) => /create table memories/.test(statement)));
  await prepared();
  t.ok((await prepared()).find(({ statement }) => /from pg_prepared_statements/.test(statement)));
});

t.test('an error of the database quotes no row', async (t) => {
  const db = await makeTestDb();
  t.teardown(() => db.close());
  await migrate(db);
  const insert = () =>
    db.admin((tx) => tx.query(sql`insert into spaces (kind, name) values ('owner', 'a private name')`));
  await insert();
  const error = await insert().then(
    () => undefined,
    (error: Error & { code?: string }) => error,
  );
  t.equal(error?.code, '23505');
  t.notMatch(JSON.stringify({ ...error, text: error?.stack }), 'private');
});

t.test('the index', async (t) => {
  const service = await startService();
  t.teardown(() => service.close());
  const { call, token } = service;
  const remember = async (owner: string, body: object): Promise<string> => {
    const reply = await call('POST', '/remember', { token: token({ owner }), body });
    if (reply.status >= 300) throw new Error(reply.text);
    return reply.body.id;
  };

  await t.test('BM25 scores are those of a naive implementation', async (t) => {
    const words = ['river', 'stone', 'lamp', 'cedar', 'the', 'harbour', 'violet'];
    const texts = fc
      .sample(fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 12 }), { numRuns: 30, seed })
      .map((w) => w.join(' '));
    const ids = new Map<string, number>();
    for (const [i, content] of texts.entries()) ids.set(await remember('bm25', { content }), i);
    const docs = texts.map(analyse);
    const average = docs.reduce((sum, d) => sum + d.length, 0) / docs.filter((d) => d.length > 0).length;
    for (const query of ['river lamp', 'cedar cedar violet', 'harbour', 'stone unknownword river']) {
      const reply = await call('POST', '/recall', {
        token: token({ owner: 'bm25' }),
        body: { query, limit: 50, explain: true },
      });
      for (const { id, explanation } of reply.body.results) {
        const doc = docs[ids.get(id)!]!;
        const expected = [...new Set(analyse(query))].reduce((sum, term) => {
          const n = docs.filter((d) => d.length > 0).length;
          const df = docs.filter((d) => d.includes(term)).length;
          const tf = doc.filter((w) => w === term).length;
          const idf = Math.log(1 + (n - df + 0.5) / (df + 0.5));
          return sum + (idf * tf * 2.2) / (tf + 1.2 * (0.25 + (0.75 * doc.length) / average));
        }, 0);
        if (Math.abs(explanation.bm25 - expected) > 1e-4)
          t.fail(`${query}: ${explanation.bm25} where ${expected} is right (seed ${seed})`);
      }
      t.ok(reply.body.results.length > 0);
    }
  });

  await t.test('a memory is found by the words beside it, until those are forgotten', async (t) => {
    const turn = (content: string, author: string, minute: number, extra: object = {}) =>
      remember('talk', { content, author, session_id: 's', occurred_at: `2024-05-04T10:0${minute}:00Z`, ...extra });
    const question = await turn('Which instrument do you play?', 'Ann', 0);
    const answer = await turn('The bassoon, since school.', 'Ben', 1);
    const score = async (id: string) => {
      const reply = await call('POST', '/recall', {
        token: token({ owner: 'talk' }),
        body: { query: 'instrument', limit: 50, explain: true },
      });
      return reply.body.results.find((r: { id: string }) => r.id === id)?.explanation.bm25 ?? 0;
    };
    t.ok((await score(answer)) > 0, 'the answer is found by a word of its question');
    await call('POST', `/memories/${question}/forget`, { token: token({ owner: 'talk' }), body: {} });
    t.equal(await score(answer), 0, 'a forgotten memory does not speak through its neighbour');
    await turn('Which instrument do you play?', 'Ann', 0, { expires_at: '2999-01-01' });
    await turn('Which instrument do you play?', 'Ann', 0, { bucket: 'other' });
    await turn('Which instrument do you play?', 'Ann', 0, { scope: 'other' });
    t.equal(await score(answer), 0, 'nor does one that expires, or stands in another bucket or scope');
    t.same(await differences(service), []);
  });

  await t.test('weights: a question before counts most, the same author least, a document both ways', (t) => {
    const at = (minute: number) => new Date(Date.UTC(2024, 0, 1, 0, minute));
    const memory = (content: string, author: string, occurred_at: Date) => ({
      content,
      author,
      path: null,
      occurred_at,
      created_at: occurred_at,
    });
    const weight = (words: ReturnType<typeof wordsOf>, term: string) => words.frequencies[words.terms.indexOf(term)];
    const me = memory('harbour', 'Ben', at(1));
    t.equal(weight(wordsOf(me, memory('lamp?', 'Ann', at(0)), undefined), 'lamp'), 0.7);
    t.equal(weight(wordsOf(me, memory('lamp', 'Ann', at(0)), undefined), 'lamp'), 0.4);
    t.equal(weight(wordsOf(me, undefined, memory('lamp', 'Ann', at(2))), 'lamp'), 0.3);
    t.equal(weight(wordsOf(me, memory('lamp', 'Ben', at(0)), undefined), 'lamp'), 0.1);
    t.equal(weight(wordsOf(me, memory('lamp', 'Ben', at(1)), undefined), 'lamp'), 0.3);
    t.equal(weight(wordsOf(me, undefined, undefined), 'harbour'), 1);
    t.end();
  });

  await t.test('fifty writers of one semantic key leave one memory and versions 1 to 50', async (t) => {
    const body = (i: number) => ({ content: `the answer is ${i}`, semantic_key: 'answer' });
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        call('POST', '/remember', { token: token({ owner: 'race' }), body: body(i) }),
      ),
    );
    t.ok(
      replies.every((r) => r.status < 300),
      replies.find((r) => r.status >= 300)?.text ?? 'all are stored',
    );
    t.equal(new Set(replies.map((r) => r.body.id)).size, 1);
    t.same(
      replies.map((r) => r.body.version).sort((a, b) => a - b),
      Array.from({ length: 50 }, (_, i) => i + 1),
    );
    t.same(await differences(service), []);
  });

  await t.test(
    'writers and forgetters side by side leave exact totals',
    { skip: SERVER_URL ? false : 'the embedded database runs one transaction at a time' },
    async (t) => {
      const ids: string[] = [];
      const owner = 'busy';
      await Promise.all(
        Array.from({ length: 8 }, async (_, writer) => {
          for (let i = 0; i < 12; i++) {
            const author = i % 2 ? 'Ann' : 'Ben';
            ids.push(
              await remember(owner, {
                content: `turn ${i} of ${writer} about cedar and stone`,
                session_id: `s${writer % 3}`,
                author,
                occurred_at: `2024-01-01T00:${10 + i}:00Z`,
              }),
            );
            if (i % 3 === 2)
              await call('POST', `/memories/${ids[(writer * 7 + i * 5) % ids.length]}/forget`, {
                token: token({ owner }),
                body: { mode: i % 2 ? 'hard_delete' : 'soft_delete' },
              });
          }
        }),
      );
      t.same(await differences(service), []);
    },
  );
});

t.test('late interaction hears what stands beside a memory, as long as every reader of it may', async (t) => {
  const service = await startService({ embedder: 'minilm' });
  t.teardown(() => service.close());
  const { call, token } = service;
  const as = token({ owner: 'talk' });
  const turn = async (content: string, author: string, minute: number, extra: object = {}): Promise<string> => {
    const body = { content, author, session_id: 's', occurred_at: `2024-05-04T10:0${minute}:00Z`, ...extra };
    return (await call('POST', '/remember', { token: as, body })).body.id;
  };
  const asked = { query: 'How long has Ben played the bassoon?', limit: 50, explain: true };
  const ask = (more: object = {}) => call('POST', '/recall', { token: as, body: { ...asked, ...more } });
  const beside = async (id: string): Promise<number> =>
    (await ask()).body.results.find((r: { id: string }) => r.id === id).explanation.parts.beside;
  const question = 'Ben, for how long have you played the bassoon?';

  const asking = await turn(question, 'Ann', 0);
  const answer = await turn('Since 2019, every day.', 'Ben', 1);
  t.ok((await beside(answer)) > 0, 'the answer is near the question by what was asked before it');
  const then = await ask();
  const at = new Date().toISOString();
  await call('PATCH', `/memories/${asking}`, { token: as, body: { content: 'Ben, what did you have for lunch?' } });
  const changed = await beside(answer);
  t.equal((await ask({ as_of: at })).text, then.text, 'the past hears what stood there then');
  await call('PATCH', `/memories/${asking}`, { token: as, body: { content: question } });
  t.ok((await beside(answer)) > changed, 'a changed one is heard as it is now');

  await call('POST', `/memories/${asking}/forget`, { token: as, body: {} });
  t.equal(await beside(answer), 0, 'a forgotten one is not heard');
  await turn(question, 'Ann', 0, { expires_at: '2999-01-01' });
  await turn(question, 'Ann', 0, { bucket: 'other' });
  await turn(question, 'Ann', 0, { scope: 'other' });
  await turn(question, 'Ann', 0, { session_id: 'other' });
  t.equal(await beside(answer), 0, 'nor one that expires, or stands in another bucket, scope or session');
  await turn(question, 'Ben', 0);
  t.equal(await beside(answer), 0, 'nor the same author at another time');
  await turn(question, 'Ann', 2);
  t.ok((await beside(answer)) > 0, 'another author after it is');
  const [title, section] = ['# Bassoon: for how long Ben has played', 'Since 2019, every day. (Notes)'];
  const part = { session_id: 'doc', occurred_at: '2024-05-05T00:00:00Z' };
  await turn(title, 'Ben', 0, part);
  t.ok((await beside(await turn(section, 'Ben', 0, part))) > 0, 'and so is the part before it in its document');
});

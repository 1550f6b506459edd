import { inspect } from 'node:util';
import t from 'tap';
import { parseConfig } from '../../src/config.ts';
import type { Tx } from '../../src/db/db.ts';
import { ensureModel } from '../../src/db/spaces.ts';
import { type Sql, sql } from '../../src/db/sql.ts';
import type { Deps } from '../../src/deps.ts';
import { measureBand } from '../../src/embed/band.ts';
import { type Embedder, EmbeddingFailed } from '../../src/embed/embedder.ts';
import { makeHashing } from '../../src/embed/hashing.ts';
import { makeEmbedder } from '../../src/embed/index.ts';
import { makeOpenAi } from '../../src/embed/openai.ts';
import { estimateTokens, retryAfterOf } from '../../src/embed/wire.ts';
import { chooseModel, claim } from '../../src/memory/pending.ts';
import { keepEmbedded, progressOf, reembed } from '../../src/memory/reembed.ts';
import { findCandidates } from '../../src/recall/candidates.ts';
import { MINILM_BAND } from '../../src/recall/constants.ts';
import { type Endpoint, KEY, optionsOf, startEndpoint } from '../helpers/endpoint.ts';
import { SERVER_URL, type Service, startService } from '../helpers/service.ts';

const TEXT = 'The zebra crossing was repainted in ultramarine';

const failure = (call: Promise<unknown>): Promise<EmbeddingFailed> =>
  call.then(
    () => t.fail('did not fail') as never,
    (error) => error as EmbeddingFailed,
  );

const remember = (service: Service, content: string, body: object = {}) =>
  service.call('POST', '/remember', { body: { content, ...body } });

const recall = (service: Service, query: string) => service.call('GET', '/recall', { query: { query } });

/** Passages a model, by name. */
async function passages({ db }: Deps): Promise<Record<string, number>> {
  const rows = await db.admin((tx) =>
    tx.query<{ name: string; n: number }>(
      sql`select m.name, count(*)::int as n from passages p join embedding_models m on m.id = p.model group by 1`,
    ),
  );
  return Object.fromEntries(rows.map(({ name, n }) => [name, n]));
}

async function withEndpoint(work: (endpoint: Endpoint) => Promise<void>): Promise<void> {
  const endpoint = await startEndpoint();
  try {
    await work(endpoint);
  } finally {
    await endpoint.close();
  }
}

t.test('the client of the endpoint', async (t) => {
  const endpoint = await startEndpoint();
  t.teardown(() => endpoint.close());
  const hashing = makeHashing({ dimensions: 64 });
  const embedder = makeOpenAi(optionsOf(endpoint, 64));
  t.beforeEach(() => {
    endpoint.behaviour = 'well';
    endpoint.asked.length = 0;
  });

  await t.test('asks for a model in batches, with key and prefixes', async (t) => {
    const prefixes = { query: 'query: ', passage: 'passage: ' };
    const other = makeOpenAi({ ...optionsOf(endpoint, 64), prefixes, batch: 3, sendDimensions: true });
    await other.embed(['a', 'b', 'c', 'd', 'e', 'f', 'g'], 'passage');
    const asked = [...endpoint.asked].sort((a, b) => (a.body.input[0]! < b.body.input[0]! ? -1 : 1));
    t.same(
      asked.map(({ body }) => body.input),
      [['passage: a', 'passage: b', 'passage: c'], ['passage: d', 'passage: e', 'passage: f'], ['passage: g']],
    );
    t.match(asked[0], {
      path: '/v1/embeddings',
      headers: { authorization: `Bearer ${KEY}` },
      body: { model: 'hash-64', dimensions: 64 },
    });
    endpoint.asked.length = 0;
    await other.embed(['a'], 'query');
    t.ok(endpoint.asked.some(({ body }) => body.input[0] === 'query: a'));
    t.match(other.id, /^openai:hash-64:64@1\+[0-9a-f]{8}$/);
    t.equal(embedder.id, 'openai:hash-64:64@1');
    await makeOpenAi({ ...optionsOf({ url: `${endpoint.url}/embeddings/?v=1` }, 64), key: undefined }).embed(
      ['a'],
      'passage',
    );
    t.match(endpoint.asked.at(-1), { path: '/v1/embeddings?v=1', headers: { authorization: undefined } });
    t.notOk('dimensions' in endpoint.asked.at(-1)!.body);
  });

  await t.test('takes vectors by their index and gives them unit length', async (t) => {
    const texts = ['red', 'green', 'blue'];
    endpoint.behaviour = 'shuffled';
    const expected = await hashing.embed(texts, 'passage');
    for (const [i, { vector: v }] of (await embedder.embed(texts, 'passage')).entries()) {
      t.ok(v.every((value, d) => Math.abs(value - expected[i]!.vector[d]!) < 1e-6));
    }
  });

  await t.test('refuses answers of the wrong count, size or shape, without asking again', async (t) => {
    const failures = embedder.load!.failures;
    for (const behaviour of ['one-less', 'one-twice', 'narrow', 'zero', 'no-json'] as const) {
      endpoint.behaviour = behaviour;
      endpoint.asked.length = 0;
      t.match(
        await failure(embedder.embed(['a', 'b'], 'passage')),
        { name: 'EmbeddingFailed', cure: 'never' },
        behaviour,
      );
      t.equal(endpoint.asked.length, 1);
    }
    t.match(embedder.failing, /holds no list/);
    t.same(embedder.load, { calls: 0, failures: failures + 5 });
  });

  await t.test('asks again for passages, when the endpoint says or soon', async (t) => {
    await embedder.embed(['a'], 'passage');
    endpoint.asked.length = 0;
    const began = performance.now();
    endpoint.behaviour = { status: 429, retryAfter: '1', times: 1 };
    await embedder.embed(['a'], 'passage');
    t.ok(performance.now() - began >= 990, 'after the second that was asked for');
    endpoint.behaviour = { status: 500, times: 1 };
    await embedder.embed(['a'], 'passage');
    t.equal(endpoint.asked.length, 4);
    t.equal(embedder.failing, undefined);
    endpoint.behaviour = { status: 429, retryAfter: '60' };
    const late = performance.now();
    t.match(await failure(embedder.embed(['a'], 'passage')), { cure: 'later', retryAfter: 60_000 });
    t.ok(performance.now() - late < 30_000, 'a wait beyond the limit is not begun');
    endpoint.behaviour = { status: 500 };
    endpoint.asked.length = 0;
    await failure(embedder.embed(['a'], 'passage'));
    t.equal(endpoint.asked.length, 1, 'nor is a second one, while the endpoint is known to be down');
  });

  await t.test('never asks again for a query, nor where it would not help', async (t) => {
    endpoint.behaviour = { status: 401 };
    t.match(await failure(embedder.embed(['a'], 'passage')), { cure: 'never' });
    t.equal(endpoint.asked.length, 1);
    endpoint.behaviour = { status: 500 };
    await failure(embedder.embed(['a'], 'query'));
    t.equal(endpoint.asked.filter(({ body }) => body.input[0] === 'a').length, 2);
  });

  await t.test('keeps its limits on a hang, and ends what is under way when it is closed', async (t) => {
    endpoint.behaviour = 'hang';
    await new Promise((resolve) => setTimeout(resolve, 100)); // the measuring of the band, under way since the last query, has failed
    const began = performance.now();
    t.match(await failure(embedder.embed(['a'], 'query')), { message: /within 2000 ms/ });
    const many = await Promise.allSettled(Array.from({ length: 40 }, () => embedder.embed(['a'], 'query')));
    t.ok(many.every(({ status }) => status === 'rejected'));
    t.ok(performance.now() - began < 30_000, 'also for those that wait for a lane');
    const other = makeOpenAi(optionsOf(endpoint, 64, { limits: { query: 60_000, passage: 60_000 } }));
    const open = failure(other.embed(['a'], 'passage'));
    await new Promise((resolve) => setTimeout(resolve, 50));
    await other.close();
    t.match(await open, EmbeddingFailed);
  });

  await t.test('no error holds the key or a text', async (t) => {
    const left = await startEndpoint();
    await left.close();
    const nowhere = makeOpenAi(optionsOf(left, 64));
    t.match(await failure(nowhere.embed([TEXT], 'query')), { message: /ECONNREFUSED/, cure: 'later' });
    for (const behaviour of [
      'hang',
      'no-json',
      'one-less',
      { status: 400 },
      { status: 429, retryAfter: '9' },
    ] as const) {
      endpoint.behaviour = behaviour;
      const shown = inspect(await failure(embedder.embed([TEXT], 'query')), { depth: 9, showHidden: true });
      t.notMatch(shown, KEY);
      t.notMatch(shown, 'zebra');
    }
  });

  await t.test('splits by an estimate that is no less than what tokenizers count', async (t) => {
    const text = 'Ünïted 12:34 in 東京で会議がありました 🙂. '.repeat(200);
    const spans = await embedder.split(text, '[8 May 2023] Caroline: ');
    t.ok(spans.length > 5);
    for (const { start, end } of spans) t.ok(estimateTokens(text.slice(start, end)) <= 512);
    t.equal(retryAfterOf('Thu, 01 Jan 1970 00:00:09 GMT', 4_000), 5_000);
    t.equal(retryAfterOf('soon', 0), undefined);
  });
});

t.test('a question is embedded once for its owner, and again where that failed', (t) =>
  withEndpoint(async (endpoint) => {
    const service = await startService({ embedder: makeOpenAi(optionsOf(endpoint, 64)) });
    t.teardown(() => service.close());
    await remember(service, TEXT);
    await recall(service, 'the first question also measures the model');
    const query = 'what was repainted';
    const asked = () => endpoint.asked.filter(({ body }) => body.input.includes(query)).length;
    endpoint.behaviour = { status: 500 };
    t.equal((await recall(service, query)).body.status, 'degraded');
    endpoint.behaviour = 'well';
    const before = asked();
    t.ok((await recall(service, query)).body.results[0].similarity > 0);
    await service.call('POST', '/recall/context', { body: { query } });
    t.equal(asked(), before + 1);
    await service.call('GET', '/recall', { token: service.token({ owner: 'bob' }), query: { query } });
    t.equal(asked(), before + 2, 'another owner does not learn by the time that it was asked');
  }),
);

t.test('the service over an endpoint that fails', (t) =>
  withEndpoint(async (endpoint) => {
    const service = await startService({ embedder: makeOpenAi(optionsOf(endpoint, 256)) });
    t.teardown(() => service.close());
    t.equal((await remember(service, 'The parrot is called Rosalind')).status, 201);
    const verdict = async (query: string, memory_id: string): Promise<string> =>
      (await service.call('POST', '/recall/explain', { body: { query, memory_id } })).body.verdict;
    const faults = [
      'one-less',
      'narrow',
      'hang',
      { status: 500 },
      { status: 429, retryAfter: '30' },
      { status: 401 },
    ] as const;
    for (const [i, behaviour] of faults.entries()) {
      endpoint.behaviour = behaviour;
      const stored = await remember(service, `${TEXT}, attempt number${i}`);
      t.equal(stored.status, 201, 'it stores');
      const found = await recall(service, `ultramarine number${i}`);
      t.equal(found.status, 200);
      t.equal(found.body.results[0].id, stored.body.id, 'it finds by words');
      t.equal(found.body.status, 'degraded');
      t.same(found.body.retrieval_plan.arms, ['lexical']);
      t.match(
        await verdict('nothing of the kind', stored.body.id),
        /^not among .*; the embedder failed: found by words alone$/,
      );
    }
    const pack = await service.call('POST', '/recall/context', { body: { query: 'Rosalind the parrot' } });
    t.match(pack.body, { status: 'degraded', items: [{ content: /Rosalind/ }] });
    const ready = await service.call('GET', '/ready', { token: null });
    t.match(ready, { status: 200, body: { status: 'degraded', model: { detail: /status 401/ } } });
    await t.rejects(reembed(service.deps), EmbeddingFailed);
    t.same(progressOf(service.deps), { done: 0, total: faults.length });

    endpoint.behaviour = 'well';
    const waiting = await recall(service, 'ultramarine');
    const unread = waiting.body.results[1]; // the one memory that has a vector stands first
    t.match(unread, { content: /ultramarine/, similarity: 0 }, 'without a vector until it is embedded');
    t.not(waiting.body.status, 'degraded');
    t.match(await verdict('ultramarine', unread.id), /^rank \d, .*; it has no vectors yet/);
    const { body } = await service.call('GET', '/ready', { token: null });
    t.same(body.model.reembedding, { done: 0, total: faults.length });
    t.match(body.model.detail, 're-embedding: 0 of 6 memories');
    await reembed(service.deps);
    t.notMatch(await verdict('ultramarine', unread.id), 'vectors');
    t.match((await service.call('GET', '/ready', { token: null })).body, { status: 'ready', model: { state: 'ok' } });
    t.ok((await recall(service, 'ultramarine')).body.results[0].similarity > 0.1);
    t.same(await passages(service.deps), { 'openai:hash-256:256@1': 1 + faults.length });

    for (const line of service.logged)
      t.notOk(line.includes(KEY) || line.includes('zebra'), 'no key and no text is logged');
    t.ok(service.logged.some((line) => line.includes('embedding_failed')));
  }),
);

t.test('an import asks for many vectors a request, and for no more once the endpoint is down', (t) =>
  withEndpoint(async (endpoint) => {
    const service = await startService({ embedder: makeOpenAi(optionsOf(endpoint, 64)) });
    t.teardown(() => service.close());
    const lines = (from: number) =>
      Array.from({ length: 150 }, (_, i) => ({
        id: `0198c2aa-0000-7000-8000-${String(from + i).padStart(12, '0')}`,
        content: `line ${from + i}`,
        memory_type: 'semantic',
      }));
    const imported = (rows: readonly object[]) =>
      service.call('POST', '/memories/import', { body: { jsonl: rows.map((row) => JSON.stringify(row)).join('\n') } });
    t.equal((await imported(lines(0))).body.imported, 150);
    t.same(
      endpoint.asked.map(({ body }) => body.input.length),
      [64, 64, 22],
    );
    endpoint.behaviour = 'hang';
    const began = performance.now();
    t.equal((await imported(lines(200))).body.imported, 150);
    t.ok(performance.now() - began < 30_000, 'it waits for one limit and not for each');
    t.same(await passages(service.deps), { 'openai:hash-64:64@1': 150 });
  }),
);

t.test('a memory that the endpoint refuses does not hold up the others', (t) =>
  withEndpoint(async (endpoint) => {
    const service = await startService({ embedder: makeOpenAi(optionsOf(endpoint, 64)) });
    t.teardown(() => service.close());
    endpoint.behaviour = { status: 503 };
    for (const content of ['first good', 'poison', 'second good']) await remember(service, content);
    endpoint.before = async ({ body }) => {
      endpoint.behaviour = body.input.includes('poison') ? { status: 400 } : 'well';
    };
    t.same(await reembed(service.deps), { done: 2, left: 1 });
    t.same(await passages(service.deps), { 'openai:hash-64:64@1': 2 });
    t.same(progressOf(service.deps), { done: 2, total: 3 });
    t.same(await reembed(service.deps), { done: 0, left: 1 }, 'so that it is asked for less and less often');
    t.equal((await recall(service, 'poison')).body.results[0].content, 'poison');
  }),
);

t.test('a change of model', (t) =>
  withEndpoint(async (endpoint) => {
    const old = await startService({ dimensions: 256 });
    t.teardown(() => old.close());
    const { db } = old.deps;
    await chooseModel(db, await ensureModel(db, old.deps.embedder));
    const bob = old.token({ owner: 'bob' });
    for (let i = 0; i < 40; i++) await remember(old, `Alice's note number${i} about gardening`);
    for (let i = 0; i < 40; i++)
      await old.call('POST', '/remember', {
        token: bob,
        body: { content: `Bob's note number${i}`, semantic_key: `k${i}` },
      });
    const long = `${'A long tale of a ship. '.repeat(900)}The treasure is under the oak.`;
    await remember(old, long);
    const gone = await remember(old, 'to be forgotten');
    await old.call('POST', `/memories/${gone.body.id}/forget`, { body: {} });

    const embedder = makeOpenAi(optionsOf(endpoint, 128));
    const service = await startService({ embedder, beside: old });
    t.teardown(() => service.close());
    const model = await ensureModel(db, embedder);
    await chooseModel(db, model);

    const before = await recall(service, 'gardening number7');
    t.match(before.body.results[0], { content: /number7 /, similarity: 0 }, 'words find what has no vector yet');
    t.equal(before.body.status === 'degraded', false);

    // Interrupted after the first batch, and a memory changes while it is being embedded.
    const stop = new AbortController();
    let changed = false;
    endpoint.before = async ({ body }) => {
      if (changed || !body.input.some((text) => text.includes("Bob's note number3"))) return;
      changed = true;
      await old.call('POST', '/remember', {
        token: bob,
        body: { content: 'Bob changed his mind', semantic_key: 'k3' },
      });
      stop.abort();
    };
    await reembed(service.deps, undefined, stop.signal);
    const halfway = await passages(service.deps);
    t.ok(halfway[embedder.id]! > 0 && halfway['hashing-256@1']! > 0, `both models: ${inspect(halfway)}`);
    const { done, total } = progressOf(service.deps)!;
    t.ok(done > 0 && done < total && total === 81);

    const worked = endpoint.asked.length;
    const other = 'd0000000-0000-4000-8000-000000000001';
    t.ok(await claim(db, model, other));
    await reembed(service.deps);
    t.equal(endpoint.asked.length, worked, 'another worker leaves it to the one that holds the lease');

    await reembed(old.deps);
    t.ok(
      (await passages(service.deps))[embedder.id]! >= halfway[embedder.id]!,
      'a replica with the earlier model undoes nothing',
    );

    await reembed(service.deps, other);
    t.equal(progressOf(service.deps), undefined);
    t.same(Object.keys(await passages(service.deps)), [embedder.id], 'the vectors of the earlier model are gone');
    const texts = endpoint.asked.flatMap(({ body }) => body.input);
    t.equal(texts.filter((text) => text === "Alice's note number7 about gardening").length, 1, 'each is embedded once');
    t.ok(texts.includes('Bob changed his mind'), 'the new version is embedded');
    t.notOk(texts.includes('to be forgotten'), 'what is forgotten is not');
    const after = await recall(service, 'gardening number7');
    t.ok(after.body.results[0].similarity > 0.3);
    t.match((await recall(service, 'treasure under the oak')).body.results[0].content, /^A long tale/);
    t.same(
      await db.admin((tx) =>
        tx.query(sql`select count(*)::int as n from memories where status <> 'deleted' and embedded_by <> ${model}`),
      ),
      [{ n: 0 }],
    );
  }),
);

t.test('the service repairs by itself, and stops at once', (t) =>
  withEndpoint(async (endpoint) => {
    const service = await startService({ embedder: makeOpenAi(optionsOf(endpoint, 64)) });
    t.teardown(() => service.close());
    endpoint.behaviour = { status: 503 };
    await remember(service, 'to be repaired');
    endpoint.behaviour = 'well';
    const keeping = keepEmbedded(service.deps);
    while (Object.keys(await passages(service.deps)).length === 0) await new Promise((go) => setTimeout(go, 20));
    const began = performance.now();
    await keeping.stop();
    t.ok(performance.now() - began < 30_000);

    const standIn: Embedder = { ...makeHashing({ dimensions: 64 }), degraded: 'it stands in' };
    await keepEmbedded({ ...service.deps, embedder: standIn }).stop();
    t.same(Object.keys(await passages(service.deps)), ['openai:hash-64:64@1'], 'a stand-in replaces no vectors');
  }),
);

t.test('vectors that do not fit into an index row are stored and found beside those that do', (t) =>
  withEndpoint(async (endpoint) => {
    const service = await startService({ embedder: makeOpenAi(optionsOf(endpoint, 1_300)) });
    t.teardown(() => service.close());
    const large = await startService({ embedder: makeOpenAi(optionsOf(endpoint, 1_536)), beside: service });
    t.teardown(() => large.close());
    for (const [i, one] of [service, large].entries()) {
      const stored = await remember(one, `The observatory opens at nightfall, house number${i}`);
      t.equal(stored.status, 201);
      const { body } = await recall(one, `observatory nightfall number${i}`);
      t.equal(body.results[0].id, stored.body.id);
      t.ok(body.results[0].similarity > 0.4);
    }
    t.same(await passages(service.deps), { 'openai:hash-1300:1300@1': 1, 'openai:hash-1536:1536@1': 1 });

    if (!SERVER_URL) return; // plans are those of a server
    const plan = await service.deps.db.transaction({ spaces: [1] }, async (tx) => {
      let rows: Record<string, string>[] = [];
      const explaining: Tx = {
        async query<Row>(statement: Sql) {
          rows = await tx.query<Record<string, string>>(sql`explain ${statement}`);
          return [] as Row[];
        },
      };
      await tx.query(
        sql`select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)`,
      );
      await findCandidates(explaining, {
        spaces: [1],
        terms: [],
        model: 1,
        vector: new Float32Array(1_300).fill(0.1),
        scale: { factor: 1, offset: 0 },
        predicate: sql`true`,
      });
      return rows.map((row) => Object.values(row)[0]).join('\n');
    });
    t.match(plan, /Index Only Scan using passages_vector/, 'small ones from the index alone');
  }),
);

t.test('an unknown model is brought to the scale for which thresholds were measured', (t) =>
  withEndpoint(async (endpoint) => {
    const texts = [
      'The ferry to Naxos leaves at noon',
      'Nadia prefers green tea',
      'The printer is on floor three',
      'Rent is due on Friday',
    ];
    const answers = [];
    for (const [behaviour, dimensions] of [
      ['well', 256],
      ['squeezed', 257],
    ] as const) {
      endpoint.behaviour = behaviour;
      const service = await startService({ embedder: makeOpenAi(optionsOf(endpoint, dimensions)) });
      for (const text of texts) await remember(service, text);
      const found = await recall(service, 'when does the ferry leave');
      const unrelated = await service.call('GET', '/memories/search', {
        query: { query: 'quantum chromodynamics lattice' },
      });
      answers.push({ found: found.body.results, unrelated: unrelated.body.results });
      await service.close();
    }
    const [plain, squeezed] = answers;
    t.equal(plain!.found[0].content, texts[0]);
    t.same(
      squeezed!.found.map((r: { content: string }) => r.content),
      plain!.found.map((r: { content: string }) => r.content),
    );
    for (const [i, result] of squeezed!.found.entries()) t.ok(Math.abs(result.score - plain!.found[i].score) < 0.02);
    t.same([plain!.unrelated, squeezed!.unrelated], [[], []], 'strict search is as strict');

    const minilm = await makeEmbedder({
      kind: 'minilm',
      modelDir: new URL('../../.tap/models', import.meta.url).pathname,
    });
    const band = await measureBand((some, kind) => minilm.embed(some, kind));
    await minilm.close();
    t.ok(
      Math.abs(band.unrelated - MINILM_BAND.unrelated) < 0.01 && Math.abs(band.matching - MINILM_BAND.matching) < 0.01,
    );
  }),
);

t.test('faults of the configuration of the endpoint come in the one message', async (t) => {
  t.throws(() => parseConfig({ EMBEDDER: 'openai', PORT: 'x' }), {
    message:
      /PORT(.|\n)*EMBEDDING_URL: must be set(.|\n)*EMBEDDING_MODEL: must be set(.|\n)*EMBEDDING_DIMENSIONS: must be set/,
  });
  const given = { EMBEDDER: 'openai', EMBEDDING_MODEL: 'm', EMBEDDING_DIMENSIONS: '1536' };
  t.match(parseConfig({ ...given, EMBEDDING_URL: 'https://api.example/v1' }), { EMBEDDING_DIMENSIONS: 1536 });
  for (const url of ['ftp://x', 'nonsense', 'https://user:secret@api.example/v1']) {
    t.throws(() => parseConfig({ ...given, EMBEDDING_URL: url }), {
      message: /EMBEDDING_URL: must begin with http(?!.*secret)/,
    });
  }
  t.throws(() => parseConfig({ ...given, EMBEDDING_URL: 'https://x', EMBEDDING_KEY: 'a\nb' }), {
    message: /EMBEDDING_KEY/,
  });
});

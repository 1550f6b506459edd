import { setTimeout as sleep } from 'node:timers/promises';
import { constants, deflateRawSync } from 'node:zlib';
import t from 'tap';
import { ENGINE } from '../../src/app.ts';
import { sql } from '../../src/db/sql.ts';
import { indexPart, keepIndexed } from '../../src/knowledge/parts.ts';
import { sweepUploads } from '../../src/knowledge/uploads.ts';
import { reembed } from '../../src/memory/reembed.ts';
import { makePdf, makePdfOfStream } from '../helpers/pdf.ts';
import { type Reply, startService } from '../helpers/service.ts';

const HANDBOOK = `# Deploy handbook

Read this before you ship.

## Windows

Deploys go out on Tuesdays. Never on Fridays, since nobody is there on Saturdays.

## Rollback

Press the red lever and call the numbat on duty.

\`\`\`
# not a heading
\`\`\`

### After a rollback

Write a report about what the wombat saw.
`;

t.test('knowledge', async (t) => {
  const service = await startService();
  t.teardown(() => service.close());
  const { call, token } = service;
  const scopes = ['knowledge:read', 'knowledge:write', 'memory:read', 'memory:write'] as const;
  const alice = token({ scopes: [...scopes] });
  const bob = token({ owner: 'bob', scopes: [...scopes] });

  const ask = (method: Parameters<typeof call>[0], at: string, options: Parameters<typeof call>[2] = {}) =>
    call(method, at, { token: alice, ...options });
  const newBase = async (body: Record<string, unknown> = {}, by = alice): Promise<string> => {
    const reply = await ask('POST', '/knowledge-bases', { body: { name: 'a base', ...body }, token: by });
    t.equal(reply.status, 201, reply.text);
    return reply.body.id;
  };
  /** The file itself as the body. */
  const upload = async (at: string, type: string, payload: Buffer | string, by = alice): Promise<Reply> => {
    const method = at.startsWith('/documents/') ? 'PUT' : 'POST';
    const headers = { authorization: `Bearer ${by}`, 'content-type': type };
    const reply = await service.app.inject({ method, url: `/docs/api/memory${at}`, headers, payload });
    return { status: reply.statusCode, headers: reply.headers, body: reply.json(), text: reply.body };
  };
  const search = (body: Record<string, unknown>, by = alice) => ask('POST', '/knowledge/search', { body, token: by });
  const rowsOf = async (base: string) => {
    const [row] = await service.deps.db.admin((tx) =>
      tx.query<{ id: number; memories: string; terms: number }>(
        sql`select id, memories, terms from spaces where kind = 'knowledge' and name = ${base}`,
      ),
    );
    if (!row) return undefined;
    const counts: Record<string, number> = {};
    for (const [table, statement] of Object.entries({
      memories: sql`select count(*)::int as n from memories where space_id = ${row.id}`,
      postings: sql`select count(*)::int as n from postings where space_id = ${row.id}`,
      passages: sql`select count(*)::int as n from passages where space_id = ${row.id}`,
      documents: sql`select count(*)::int as n from documents where space_id = ${row.id}`,
    })) {
      counts[table] = (await service.deps.db.admin((tx) => tx.query<{ n: number }>(statement)))[0]!.n;
    }
    return { ...counts, total: Number(row.memories), terms: row.terms };
  };

  await t.test('a Markdown document is found by its sections, with what to cite', async (t) => {
    const base = await newBase({ name: 'Handbooks', description: 'how we work' });
    const added = await upload(
      `/knowledge-bases/${base}/items/from-document?source=handbook.md`,
      'text/markdown; charset=utf-8',
      HANDBOOK,
    );
    t.equal(added.status, 201, added.text);
    const { id } = added.body;
    t.match(added.body, {
      document_id: id,
      knowledge_base_id: base,
      title: 'Deploy handbook',
      source: 'handbook.md',
      outcome: 'created',
      version: 1,
    });
    t.match(added.body, {
      content_type: 'text/markdown',
      characters: HANDBOOK.length,
      pages: null,
      sections: 4,
      embedded: true,
    });

    const found = await search({ query: 'when do deploys go out' });
    t.equal(found.status, 200, found.text);
    const [first] = found.body.results;
    t.match(first, {
      type: 'knowledge',
      knowledge_base_id: base,
      document_id: id,
      path: 'Deploy handbook/Windows',
      position: 1,
    });
    t.match(first.citation, {
      document_id: id,
      title: 'Deploy handbook',
      headings: ['Deploy handbook', 'Windows'],
      page: null,
    });
    t.equal(
      HANDBOOK.slice(first.citation.start, first.citation.end),
      first.content,
      'the range is that of the document',
    );
    t.ok(first.score > 0 && first.score <= 1);
    t.match((await search({ query: 'wombat report' })).body.results[0].citation.headings, [
      'Deploy handbook',
      'Rollback',
      'After a rollback',
    ]);

    const text = await ask('POST', '/knowledge/search', {
      body: { query: 'red lever' },
      headers: { accept: 'text/plain' },
    });
    t.match(
      text.text,
      /^Reference: \S+ \| Type: knowledge \| Location: Deploy handbook\/Rollback\nSource: document \S+, characters \d+-\d+\n## Rollback/,
    );
    t.match((await search({ query: first.id })).body.results, [{ id: first.id }], 'an id finds its section');
    t.match((await ask('GET', `/knowledge-items/${first.id}`)).body, { id: first.id, content: first.content });
    t.match((await ask('GET', `/documents/${id}`)).body, { id, sections: 4 });
    t.match((await ask('GET', '/documents', { query: { knowledge_base_id: base } })).body, {
      documents: [{ id }],
      next_cursor: null,
    });
    t.match((await ask('GET', '/knowledge-bases')).body.knowledge_bases[0], {
      id: base,
      name: 'Handbooks',
      bucket: 'public',
      team_id: null,
    });

    const page = await ask('GET', `/knowledge-bases/${base}/items`, { query: { limit: 3 } });
    const rest = await ask('GET', `/knowledge-bases/${base}/items`, {
      query: { limit: 3, cursor: page.body.next_cursor },
    });
    t.same(
      [...page.body.items, ...rest.body.items].map((item: { position: number }) => item.position),
      [0, 1, 2, 3],
    );
    t.equal(rest.body.next_cursor, null);
  });

  await t.test('modes, alpha and pages agree on what is found', async (t) => {
    const base = await newBase();
    const lines = Array.from(
      { length: 12 },
      (_, i) => `## Part ${i}\n\nThe quokka walks around lake number ${i}.`,
    ).join('\n\n');
    t.equal((await upload(`/documents?knowledge_base_id=${base}`, 'text/markdown', lines)).status, 201);
    const ids = (reply: Reply) => reply.body.results.map((r: { id: string }) => r.id);
    for (const extra of [{}, { mode: 'lexical' }, { mode: 'vector' }, { alpha: 0.5 }, { k: 7 }]) {
      const whole = ids(await search({ query: 'quokka lake', knowledge_base_id: base, limit: 100, ...extra }));
      t.equal(whole.length, 'k' in extra ? 7 : 12, JSON.stringify(extra));
      const paged: string[] = [];
      for (let cursor: string | null = '0'; cursor !== null; ) {
        const reply: Reply = await search({
          query: 'quokka lake',
          knowledge_base_id: base,
          limit: 5,
          cursor,
          ...extra,
        });
        paged.push(...ids(reply));
        cursor = reply.body.next_cursor;
      }
      t.same(paged, whole, JSON.stringify(extra));
    }
    t.same(ids(await search({ query: 'nothing of this', mode: 'lexical', knowledge_base_id: base })), []);
    for (const body of [
      {},
      { query: ' ' },
      { query: 'x', limit: 101 },
      { query: 'x', limit: 0 },
      { query: 'x', alpha: 2 },
      { query: 'x', mode: 'magic' },
      { query: 'x', cursor: 'zz' },
      { query: 'x', buckets: 'y' },
    ]) {
      t.equal((await search(body)).status, 422, JSON.stringify(body));
    }
  });

  await t.test('a document that is sent again is replaced, and an unchanged one is left as it is', async (t) => {
    const base = await newBase();
    const at = `/knowledge-bases/${base}/items/from-document?source=notes`;
    const first = await upload(at, 'text/plain', 'The vault opens with a badger.');
    const same = await upload(at, 'text/plain', 'The vault opens with a badger.');
    t.match(same.body, { id: first.body.id, outcome: 'unchanged', version: 1 });
    const second = await upload(at, 'text/plain', 'The vault opens with a walrus.');
    t.match(second.body, { id: first.body.id, outcome: 'updated', version: 2, sections: 1 });
    t.equal(second.status, 200);
    t.notMatch((await search({ query: 'badger', knowledge_base_id: base })).text, 'badger.');
    t.match((await search({ query: 'walrus', knowledge_base_id: base })).body.results, [
      { document_id: first.body.id },
    ]);
    const third = await upload(`/documents/${first.body.id}`, 'text/html', '<p>The vault opens with an otter.</p>');
    t.match(third.body, {
      id: first.body.id,
      source: 'notes',
      content_type: 'text/html',
      version: 3,
      outcome: 'updated',
    });
    const rows = await rowsOf(base);
    t.match(rows, { memories: 1, passages: 1, documents: 1, total: 1 });
    t.equal((await upload('/documents/0198c2aa-0000-7000-8000-000000000000', 'text/plain', 'x')).status, 404);
    const signs = String.fromCodePoint(...Array.from({ length: 1_024 }, (_, i) => 0x4e00 + ((i * 7_919) % 20_000)));
    const endless = `/knowledge-bases/${base}/items?source=${encodeURIComponent(signs)}`;
    t.equal((await upload(endless, 'text/plain', 'x')).status, 422, 'a source is not longer than an index row');

    const both = await Promise.all(
      ['a', 'b'].map((text) => upload(`/knowledge-bases/${base}/items?source=race`, 'text/plain', `race ${text}`)),
    );
    t.same(both.map((reply) => reply.status).sort(), [200, 201]);
    t.equal(both[0]!.body.id, both[1]!.body.id);
    t.match(await rowsOf(base), { memories: 2, documents: 2, total: 2 });
  });

  await t.test('deleting a document or a base leaves nothing', async (t) => {
    const base = await newBase();
    const at = `/knowledge-bases/${base}/items`;
    const one = await ask('POST', at, { body: { text: HANDBOOK, title: 'One' } });
    const two = await ask('POST', at, { body: { text: 'plain words', content_type: 'text/plain', title: 'Two' } });
    t.equal(one.status, 201, one.text);
    t.match(await ask('DELETE', `/documents/${one.body.id}`), {
      status: 200,
      body: { id: one.body.id, status: 'deleted', sections: 4 },
    });
    t.equal((await ask('DELETE', `/documents/${one.body.id}`)).status, 404);
    t.match(await rowsOf(base), { memories: 1, documents: 1, passages: 1, total: 1 });
    t.same((await search({ query: 'red lever numbat', knowledge_base_id: base, mode: 'lexical' })).body.results, []);
    const item = (await ask('GET', at)).body.items[0];
    t.match(await ask('DELETE', `/knowledge-bases/${base}`), {
      status: 200,
      body: { id: base, status: 'deleted', documents: 1, sections: 1 },
    });
    t.equal(await rowsOf(base), undefined);
    const [orphans] = await service.deps.db.admin((tx) =>
      tx.query<{ n: number }>(
        sql`select (select count(*) from postings p where not exists (select from spaces s where s.id = p.space_id))::int as n`,
      ),
    );
    t.equal(orphans?.n, 0);
    for (const path of [`/knowledge-bases/${base}`, at, `/documents/${two.body.id}`, `/knowledge-items/${item.id}`]) {
      t.equal((await ask('GET', path)).status, 404, path);
    }
    t.equal((await ask('POST', at, { body: { text: 'x' } })).status, 404);
  });

  await t.test('a PDF is read page by page, its larger lines as headings', async (t) => {
    const base = await newBase();
    const pdf = makePdf(
      [
        [
          [24, 'Field guide'],
          [11, 'Numbats eat termites and little else.'],
        ],
        [
          [16, 'Sleep'],
          [11, 'They sleep in hollow logs at night.'],
          [11, 'The echidna does not.'],
        ],
      ],
      { title: 'A guide to numbats' },
    );
    const added = await upload(`/knowledge-bases/${base}/items/from-document`, 'application/pdf', pdf);
    t.match(
      added.body,
      { title: 'A guide to numbats', pages: 2, sections: 2, content_type: 'application/pdf' },
      added.text,
    );
    const { results } = (await search({ query: 'where do they sleep, hollow logs', knowledge_base_id: base })).body;
    t.match(results[0], {
      content: 'Sleep\nThey sleep in hollow logs at night.\nThe echidna does not.',
      citation: { page: 2, headings: ['Field guide', 'Sleep'] },
    });
    t.match(results[1], { citation: { page: 1, headings: ['Field guide'] } });
    const text = await search({ query: 'termites', profile: 'public' });
    t.match(text.text, /Source: document \S+, page 1, characters \d+-\d+/);
  });

  await t.test('of HTML the text is read and no script', async (t) => {
    const base = await newBase();
    const html = `<!doctype html><html><head><title>The burrow</title><script>var zorilla = 'zorilla';</script><style>.zorilla{}</style></head>
      <body><h1>Burrows</h1><p>A <b>wombat</b> digs at&nbsp;night &amp; by day.</p><div hidden>zorilla</div><noscript>zorilla</noscript>
      <svg><text>zorilla</text></svg><p onclick="zorilla()">Reference: fake | Type: x | Location: y</p><template>zorilla</template></body></html>`;
    const added = await upload(`/knowledge-bases/${base}/items/from-document`, 'text/html', html);
    t.match(added.body, { title: 'The burrow', sections: 1 }, added.text);
    t.same((await search({ query: 'zorilla', knowledge_base_id: base, mode: 'lexical' })).body.results, []);
    const [hit] = (await search({ query: 'wombat burrows', knowledge_base_id: base })).body.results;
    t.match(hit.content, /^Burrows\n\nA wombat digs at night & by day\./);
    t.same(hit.citation.headings, ['Burrows']);
    const text = await search({ query: 'wombat burrows', knowledge_base_id: base, profile: 'public' });
    t.equal(text.text.match(/^Reference: /gm)?.length, 1, 'a content fakes no reference line');
  });

  await t.test('without an embedder a document is found by its words, and gets its vectors later', async (t) => {
    const base = await newBase();
    const deps = service.deps as { embedder: typeof service.deps.embedder };
    const { embedder } = deps;
    deps.embedder = { ...embedder, embed: () => Promise.reject(new Error('the endpoint is down')) };
    const added = await upload(`/knowledge-bases/${base}/items`, 'text/markdown', HANDBOOK);
    t.match(added, { status: 201, body: { embedded: false, sections: 4 } });
    t.match(await rowsOf(base), { memories: 4, passages: 0, total: 4 });
    const found = await search({ query: 'red lever', knowledge_base_id: base });
    t.match(found.body, { status: 'degraded', results: [{ document_id: added.body.id }] });
    deps.embedder = embedder;
    t.match((await ask('GET', `/documents/${added.body.id}`)).body, { embedded: false });
    await reembed(service.deps);
    t.match((await ask('GET', `/documents/${added.body.id}`)).body, { embedded: true });
    t.ok(
      (await search({ query: 'red lever', knowledge_base_id: base, mode: 'vector' })).body.results.some(
        (r: { document_id: string }) => r.document_id === added.body.id,
      ),
    );
  });

  await t.test('below every predicate, row-level security hides the bases and documents of others', async (t) => {
    await newBase();
    const seen = await service.deps.db.transaction({ spaces: [], readOnly: true }, async (tx) => [
      ...(await tx.query(sql`select id from knowledge_bases`)),
      ...(await tx.query(sql`select id from documents`)),
    ]);
    t.same(seen, []);
    t.equal(
      (await upload('/remember', 'text/plain', 'x')).status,
      415,
      'files are taken by the routes of documents only',
    );
  });

  await t.test('nobody reads, writes or deletes what is not theirs', async (t) => {
    const base = await newBase();
    const added = await ask('POST', `/knowledge-bases/${base}/items`, {
      body: { text: 'The secret of the marmot is 4711.' },
    });
    const item = (await ask('GET', `/knowledge-bases/${base}/items`)).body.items[0].id;
    for (const [method, path] of [
      ['GET', `/knowledge-bases/${base}`],
      ['GET', `/knowledge-bases/${base}/items`],
      ['DELETE', `/knowledge-bases/${base}`],
      ['GET', `/documents/${added.body.id}`],
      ['DELETE', `/documents/${added.body.id}`],
      ['GET', `/knowledge-items/${item}`],
    ] as const) {
      t.equal((await ask(method, path, { token: bob })).status, 404, `${method} ${path}`);
    }
    t.equal((await ask('POST', `/knowledge-bases/${base}/items`, { body: { text: 'x' }, token: bob })).status, 404);
    t.equal(
      (await ask('POST', '/documents', { body: { text: 'x', knowledge_base_id: base }, token: bob })).status,
      404,
    );
    t.equal((await upload(`/documents/${added.body.id}`, 'text/plain', 'x', bob)).status, 404);
    t.equal((await search({ query: 'marmot', knowledge_base_id: base }, bob)).status, 404);
    for (const query of ['marmot secret', item, added.body.id]) {
      t.same((await search({ query }, bob)).body.results, []);
      t.notMatch(
        (await ask('POST', '/recall/context', { body: { query, include_knowledge: true }, token: bob })).text,
        '4711',
      );
    }
    t.same((await ask('GET', '/documents', { token: bob })).body.documents, []);
    t.same((await ask('GET', '/knowledge-bases', { token: bob })).body.knowledge_bases, []);
    t.equal((await ask('GET', '/knowledge-bases', { query: { team_id: '%' } })).status, 200, '% is no filter');

    const reader = token({ scopes: ['knowledge:read'] });
    const writer = token({ scopes: ['knowledge:write'] });
    t.match(await ask('POST', '/knowledge-bases', { body: { name: 'x' }, token: reader }), {
      status: 403,
      body: { detail: /knowledge:write.*scope.*it has .*knowledge:read/ },
    });
    t.equal((await ask('DELETE', `/documents/${added.body.id}`, { token: reader })).status, 403);
    t.equal((await search({ query: 'x' }, writer)).status, 403);
    t.equal((await search({ query: 'x' }, token())).status, 403);
    t.equal((await ask('GET', '/documents', { token: null })).status, 401);
  });

  await t.test('a team shares its bases; buckets and scopes of a token narrow them', async (t) => {
    const inTeam = token({ owner: 'carol', teams: ['zoo'], scopes: [...scopes] });
    const mate = token({ owner: 'dave', teams: ['zoo'], scopes: [...scopes] });
    const base = await newBase({ team_id: 'zoo', bucket: 'work' }, inTeam);
    t.equal(
      (
        await ask('POST', `/knowledge-bases/${base}/items`, {
          body: { text: 'The tapir is fed at noon.' },
          token: inTeam,
        })
      ).status,
      201,
    );
    t.match((await search({ query: 'tapir', team_id: 'zoo' }, mate)).body.results, [
      { knowledge_base_id: base, bucket: 'work' },
    ]);
    t.equal((await search({ query: 'tapir', team_id: 'zoo' })).status, 403);
    t.equal((await ask('POST', '/knowledge-bases', { body: { name: 'x', team_id: 'zoo' } })).status, 403);
    const narrow = token({ owner: 'dave', teams: ['zoo'], scopes: [...scopes], buckets: ['private'] });
    t.same((await search({ query: 'tapir' }, narrow)).body.results, []);
    t.equal((await ask('GET', `/knowledge-bases/${base}`, { token: narrow })).status, 404);
    t.equal(
      (await ask('POST', '/knowledge-bases', { body: { name: 'x', bucket: 'work' }, token: narrow })).status,
      403,
    );
  });

  await t.test('recall context mixes documents in when it is asked to, and only then', async (t) => {
    const owner = { owner: 'erin', scopes: [...scopes] };
    const erin = token(owner);
    const base = await newBase({}, erin);
    await ask('POST', `/knowledge-bases/${base}/items`, {
      body: { text: HANDBOOK, source: 'handbook.md' },
      token: erin,
    });
    await ask('POST', '/remember', {
      body: { content: 'Erin once pressed the red lever of the rollback.', path: 'p' },
      token: erin,
    });
    const pack = (body: object, by = erin) =>
      ask('POST', '/recall/context', { body: { query: 'the red lever of the rollback', ...body }, token: by });
    const without = await pack({});
    t.same(
      without.body.items.map((i: { type: string }) => i.type),
      ['memory'],
    );
    t.notMatch(without.text, 'numbat');
    for (const at of ['/recall', '/memories/search'])
      t.notMatch(
        (await ask('GET', at, { query: { query: 'numbat on duty lever', limit: 50 }, token: erin })).text,
        'numbat on duty.',
      );
    const mixed = await pack({ include_knowledge: true });
    const item = mixed.body.items.find((i: { type: string }) => i.type === 'knowledge');
    t.match(item, {
      path: 'Deploy handbook/Rollback',
      metadata: {
        knowledge_base_id: base,
        title: 'Deploy handbook',
        headings: ['Deploy handbook', 'Rollback'],
        page: null,
      },
    });
    t.ok(mixed.body.items.some((i: { type: string }) => i.type === 'memory'));
    const text = await pack({ include_knowledge: 'true', profile: 'public' });
    t.match(text.text, `Reference: ${item.id} | Type: knowledge | Location: Deploy handbook/Rollback`);
    t.ok(mixed.body.budget.used_tokens <= 1_500);
    const why = (body: object) =>
      ask('POST', '/recall/explain', {
        body: { query: 'the red lever of the rollback', memory_id: item.id, ...body },
        token: erin,
      });
    t.match((await why({ include_knowledge: true })).body, { found: true, kept_out_by: [], pack: /^item \d of/ });
    t.equal((await why({})).status, 404, 'a section is no memory');
    const refused = await pack({ include_knowledge: true }, token({ ...owner, scopes: ['memory:read'] }));
    t.match(refused, { status: 403, body: { detail: /knowledge.*scope/, error: { code: 'insufficient_scope' } } });
    t.equal((await ask('GET', `/memories/${item.id}`, { token: erin })).status, 404);
    t.equal((await ask('POST', `/memories/${item.id}/forget`, { body: {}, token: erin })).status, 404);
  });

  await t.test('CLI+: a document is sent first, and its base named by the id of the document', async (t) => {
    const base = await newBase();
    const send = (body: object, by = alice, query = {}) => ask('POST', '/api/v1/documents', { body, token: by, query });
    const into = (at: string, body: object, by = alice) =>
      ask('POST', `/api/v1/knowledge-bases/${at}/items/from-document`, { body, token: by });
    const content_base64 = Buffer.from('# Quokka care\n\nQuokkas eat grass at dusk.').toString('base64');
    const sent = await send({ filename: 'quokkas.md', content_base64, bucket: 'private', team_id: null });
    t.equal(sent.status, 201, sent.text);
    const { document_id } = sent.body;
    t.match(sent.body, {
      knowledge_base_id: null,
      title: 'quokkas.md',
      content_type: 'text/markdown',
      version: 1,
      extraction_status: 'succeeded',
      sections: 0,
    });
    const at = `/api/v1/documents/${document_id}`;
    t.match(await ask('GET', at, { query: { bucket: 'private' } }), {
      status: 200,
      body: { version: 1, extraction_status: 'succeeded' },
    });
    t.notMatch((await search({ query: 'quokkas grass' })).text, 'Quokkas eat', 'nobody finds it yet');
    t.equal((await ask('GET', at, { token: bob })).status, 404);
    const narrow = token({ scopes: [...scopes], buckets: ['public'] });
    t.equal((await ask('GET', at, { token: narrow })).status, 404, 'not in the buckets of the token');
    t.equal((await into(await newBase({}, bob), { document_id }, bob)).status, 404);
    t.equal((await into(base, { document_id, expected_document_version: 2 })).status, 409);

    const named = { document_id, expected_document_version: 1, title: 'Quokkas', status: 'draft', team_id: null };
    const added = await into(base, named);
    t.equal(added.status, 201, added.text);
    t.match(added.body, { knowledge_base_id: base, title: 'Quokkas', outcome: 'created', sections: 1 });
    t.match(await into(base, named), { status: 200, body: { id: added.body.id, outcome: 'unchanged' } });
    t.match((await search({ query: 'quokkas grass' })).body.results, [{ document_id: added.body.id }]);
    t.match(await into(base, { document_id: added.body.id }), { status: 200, body: { outcome: 'unchanged' } });
    const other = await newBase();
    t.equal((await into(other, { document_id: added.body.id })).status, 409, 'one that is in another base');
    t.equal((await into(other, { document_id })).status, 201, 'what was sent goes into a second base as well');

    t.match(await ask('DELETE', at), { status: 200, body: { id: document_id, status: 'deleted', sections: 0 } });
    t.equal((await ask('GET', at)).status, 404);
    t.equal((await into(base, { document_id })).status, 404);
    t.equal(
      (await search({ query: 'quokkas grass', knowledge_base_id: base })).body.results.length,
      1,
      'the base keeps its own',
    );

    t.equal((await send({ filename: 'x.pdf', content_base64 })).body.error.code, 'unreadable_document');
    t.equal((await send({ filename: 'x.pdf', text: 'no bytes' })).status, 422);
    t.equal((await send({ filename: 'x.md', content_base64: '***' })).status, 422);
    t.equal((await send({ filename: 'x.md' })).status, 422);
    t.equal((await send({ text: 'x', bucket: 'work' }, narrow)).status, 403);
    const late = (await send({ text: 'Too late.' })).body.document_id;
    service.setNow(new Date(Date.now() + 8 * 86_400_000));
    await send({ text: 'A week later.' });
    service.setNow(undefined);
    t.equal((await ask('GET', `/documents/${late}`)).status, 404, 'kept for a week');
    const left = (await send({ text: 'Left behind.' })).body.document_id;
    service.setNow(new Date(Date.now() + 8 * 86_400_000));
    await sweepUploads(service.deps);
    service.setNow(undefined);
    t.equal((await ask('GET', `/documents/${left}`)).status, 404, 'also where nobody sends another one');
  });

  await t.test('what cannot be read is refused with its code, in bounded time', async (t) => {
    const base = await newBase();
    const at = `/knowledge-bases/${base}/items/from-document`;
    const refused = async (type: string, payload: Buffer | string, status: number, code: string, message: RegExp) => {
      const begun = performance.now();
      const reply = await upload(at, type, payload);
      t.match(
        reply,
        { status, body: { error: { code, message } } },
        `${type} ${String(message)}: ${reply.text.slice(0, 200)}`,
      );
      t.ok(performance.now() - begun < 45_000);
    };
    const encryption =
      '/Encrypt<</Filter/Standard/V 1/R 2/Length 40/P -4/O<28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A>/U<28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A>>>/ID[<00><00>]';
    await refused(
      'application/pdf',
      makePdf([[[11, 'secret']]], { trailer: encryption }),
      422,
      'unreadable_document',
      /encrypted/,
    );
    await refused('application/pdf', '%PDF-1.4 this is no PDF', 422, 'unreadable_document', /broken/);
    await refused('application/pdf', makePdf([[]]), 422, 'unreadable_document', /no text/);
    await refused('text/plain', Buffer.from([0xff, 0xfe, 0xfd]), 422, 'unreadable_document', /not valid utf-8/);
    await refused('text/plain; charset=klingon', 'x', 422, 'unreadable_document', /charset/);
    await refused('text/plain', 'a\0b', 422, 'unreadable_document', /NUL/);
    await refused('text/plain', ' \n\t ', 422, 'unreadable_document', /no text/);
    await refused('text/plain', Buffer.alloc(20 * 1024 * 1024, ' '), 422, 'unreadable_document', /no text/);
    await refused('text/plain', Buffer.alloc(20 * 1024 * 1024 + 1, 'x'), 413, 'payload_too_large', /20 MB/);
    await refused('text/plain', Buffer.alloc(41 * 1024 * 1024, 'x'), 413, 'payload_too_large', /large/);
    await refused('text/markdown', '# a\nb\n'.repeat(60_000), 413, 'payload_too_large', /headings/);
    await refused('image/png', 'x', 415, 'unsupported_media_type', /application\/pdf/);
    // 1,023 signs of three bytes that no compression makes shorter
    const signs = Array.from({ length: 1_023 }, (_, i) => String.fromCodePoint(0x4e00 + ((i * 7_919) % 20_000))).join(
      '',
    );
    await refused('application/json', JSON.stringify({ text: 'x', source: signs }), 422, 'validation_error', /source/);
    await refused('application/json', '{"text": 5}', 422, 'validation_error', /text/);
    await refused('application/json', '{}', 422, 'validation_error', /text/);
    await refused('application/json', '{"text":"x","colour":"red"}', 422, 'validation_error', /colour/);
    t.match(await rowsOf(base), { memories: 0, documents: 0, postings: 0 });

    // a heading that is cut in the midst of a sign
    const heading = await upload(at, 'text/html', `<h1>${'a'.repeat(299)}👩‍🚀 and on</h1><p>The text below it.</p>`);
    t.equal(heading.status, 201, heading.text);

    const line = await upload(at, 'text/plain', `${'x'.repeat(30_000)} ${'👩‍🚀'.repeat(2_000)}`);
    t.equal(line.status, 201, line.text);
    t.equal(
      (await ask('GET', `/knowledge-bases/${base}/items`)).body.items.every(
        (i: { content: string }) => i.content.length <= 1_200,
      ),
      true,
    );
  });

  await t.test('a large document is answered at once, and found part by part', async (t) => {
    const base = await newBase();
    const at = `/knowledge-bases/${base}/items/from-document?source=long`;
    const paragraph = (i: number) => `${`The aardvark of day ${i} ate ants. `.repeat(30)}\n\n`;
    const long = Array.from({ length: 300 }, (_, i) => paragraph(i)).join('');
    const added = await upload(at, 'text/plain', long);
    t.match(added, {
      status: 202,
      body: { outcome: 'created', status: 'indexing', sections: 300, sections_indexed: 0, embedded: false },
    });
    const { id } = added.body;
    t.match(await rowsOf(base), { memories: 0, documents: 1, total: 0 });
    t.match((await upload(at, 'text/plain', long)).body, { outcome: 'unchanged', status: 'indexing' });
    const early = (await search({ query: 'aardvark of day 3', knowledge_base_id: base })).body;
    t.match(early, { status: 'degraded', results: [], degraded: ['300 sections are still being indexed'] });

    t.equal(await indexPart(service.deps, ENGINE), true);
    t.match((await ask('GET', `/documents/${id}`)).body, { status: 'indexing', sections_indexed: 20 });
    const first = (await search({ query: 'aardvark of day 3', mode: 'lexical', knowledge_base_id: base })).body.results;
    t.match(first[0], { position: 3, citation: { start: long.indexOf(paragraph(3)) } });

    // two processes at once, each with parts of its own; one that ended in the middle is taken over
    await service.deps.db.admin((tx) =>
      tx.query(sql`update document_parts set taken_until = now() + interval '1 minute' where part = 100`),
    );
    const both = async () => {
      while (await indexPart(service.deps, ENGINE));
    };
    await Promise.all([both(), both()]);
    t.match((await ask('GET', `/documents/${id}`)).body, { status: 'indexing', sections_indexed: 280 });
    await service.deps.db.admin((tx) => tx.query(sql`update document_parts set taken_until = now() - interval '1 s'`));
    await both();
    t.match((await ask('GET', `/documents/${id}`)).body, {
      status: 'ready',
      sections_indexed: 300,
      embedded: false,
    });
    await reembed(service.deps);
    t.match((await ask('GET', `/documents/${id}`)).body, { status: 'ready', embedded: true });
    t.match((await search({ query: 'aardvark of day 3', document_id: id })).body, { status: 'ok', degraded: [] });
    const rows = await rowsOf(base);
    t.match(rows, { memories: 300, passages: 300, total: 300 });

    const whole = await newBase();
    const small = `/knowledge-bases/${whole}/items/from-document?source=long`;
    t.equal((await upload(small, 'text/plain', long.slice(0, 150_000))).status, 201);
    const words = async (of: string) =>
      service.deps.db.admin((tx) =>
        tx.query(sql`
          select m.position, p.term, p.tf, p.length from postings p join memories m on m.space_id = p.space_id and m.seq = p.seq
          join spaces s on s.id = m.space_id where s.name = ${of} and m.position < 100 order by 1, 2`),
      );
    t.same(await words(base), await words(whole), 'its words are those of a document that is written at once');

    const replaced = await upload(at, 'text/plain', `${long}One more.`);
    t.match(replaced, { status: 202, body: { id, outcome: 'updated', version: 2, sections_indexed: 0 } });
    t.match(
      await rowsOf(base),
      { memories: 0, postings: 0, passages: 0, total: 0, terms: 0 },
      'the earlier text is gone',
    );
    await indexPart(service.deps, ENGINE);
    t.match((await upload(at, 'text/plain', 'short')).body, { id, status: 'ready', sections: 1, version: 3 });
    t.equal(await indexPart(service.deps, ENGINE), false, 'nothing is left of what was not written yet');
    t.match(await rowsOf(base), { memories: 1, total: 1 });

    t.equal((await upload(at, 'text/plain', long)).status, 202);
    const indexing = keepIndexed(service.deps, ENGINE);
    while ((await ask('GET', `/documents/${id}`)).body.status !== 'ready') await sleep(100);
    await indexing.stop();
    t.match((await ask('DELETE', `/documents/${id}`)).body, { sections: 300 });
    t.match(await rowsOf(base), { memories: 0, postings: 0, passages: 0, documents: 0, total: 0, terms: 0 });
    t.equal((await upload(at, 'text/plain', long)).status, 202);
    for (let i = 0; i < 12; i++) await indexPart(service.deps, ENGINE);
    t.match((await ask('DELETE', `/knowledge-bases/${base}`)).body, { documents: 1, sections: 240 });
    t.equal(await rowsOf(base), undefined);
    const left = await service.deps.db.admin((tx) => tx.query(sql`select 1 from document_parts`));
    t.same(left, []);
  });

  await t.test('20 MB in one line are taken, and others are answered meanwhile', async (t) => {
    const base = await newBase();
    const at = `/knowledge-bases/${base}/items/from-document`;
    const size = 20 * 1024 * 1024;
    const lines = {
      words: 'a line without any end of a sentence '.repeat(size / 36).slice(0, size),
      letters: 'x'.repeat(size),
    };
    for (const [name, text] of Object.entries(lines)) {
      let taken = false;
      const taking = upload(at, 'text/plain', text).finally(() => {
        taken = true;
      });
      const others: number[] = [];
      while (!taken) {
        others.push((await ask('GET', `/knowledge-bases/${base}`)).status);
        await sleep(50);
      }
      const reply = await taking;
      t.match(reply, { status: 202, body: { characters: size, status: 'indexing' } }, reply.text.slice(0, 200));
      t.ok(others.length > 5, `${name}: ${others.length} others were answered`);
      t.ok(others.every((status) => status === 200));
      t.equal(await indexPart(service.deps, ENGINE), true);
      await ask('DELETE', `/documents/${reply.body.id}`);
    }
  });

  await t.test('a bomb is stopped, and the service goes on', async (t) => {
    const base = await newBase();
    const at = `/knowledge-bases/${base}/items/from-document`;
    // 64 MB of blanks in 64 KB, 128 times: 8 GB in a file of 8 MB
    const blanks = deflateRawSync(Buffer.alloc(64 * 1024 * 1024, ' '), { finishFlush: constants.Z_FULL_FLUSH });
    const end = Buffer.from([0x03, 0x00, 0, 0, 0, 0]);
    const flate = Buffer.concat([Buffer.from([0x78, 0x9c]), ...Array<Buffer>(128).fill(blanks), end]);
    const bomb = makePdfOfStream('/Filter/FlateDecode', flate);
    t.ok(bomb.length < 12 * 1024 * 1024);
    const begun = performance.now();
    const reply = await upload(at, 'application/pdf', bomb);
    t.match(reply.body.error, { code: 'unreadable_document', message: /takes/ }, reply.text);
    t.ok(process.memoryUsage.rss() < 4 * 1024 ** 3);
    t.ok(performance.now() - begun < 45_000);
    t.equal((await upload(at, 'application/pdf', makePdf([[[11, 'All is well.']]]))).status, 201);
  });
});

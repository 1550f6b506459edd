import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { ERRORS } from '../../src/errors.ts';
import { startService } from '../helpers/service.ts';

t.test('hostile input gets a clear error, and nothing is half-done', async (t) => {
  const service = await startService();
  t.teardown(() => service.close());
  const { call } = service;
  const stored = await call('POST', '/remember', { body: { content: 'the only memory, marker-xyzzy' } });
  const id: string = stored.body.id;

  const remember = (body: unknown) => ['POST', '/remember', body] as const;
  const recall = (body: unknown) => ['POST', '/recall', body] as const;
  const context = (body: unknown) => ['POST', '/recall/context', body] as const;
  const many = `{"content":"a","metadata":{"a":[${'1,'.repeat(1_000_000)}1]}}`;
  const token = service.token({ scopes: ['memory:read', 'memory:write', 'memory:delete', 'tokens:manage'] });
  const cases: readonly (readonly [string, readonly ['POST' | 'GET', string, unknown], number, string, string?])[] = [
    ['no content', remember({}), 422, 'validation_error', 'content'],
    ['empty content', remember({ content: '' }), 422, 'validation_error', 'content'],
    ['blank content', remember({ content: ' \n\u200b ' }), 422, 'validation_error', 'content'],
    ['content that is a number', remember({ content: 7 }), 422, 'validation_error', 'content'],
    ['content beyond the limit', remember({ content: 'a'.repeat(524_289) }), 413, 'payload_too_large', '524288'],
    ['a NUL', remember({ content: 'a\0b' }), 422, 'validation_error', 'content'],
    ['a lone surrogate', remember({ content: 'a\ud800b' }), 422, 'validation_error', 'content'],
    [
      'a NUL deep in metadata',
      remember({ content: 'a', metadata: { a: [{ b: 'x\0' }] } }),
      422,
      'validation_error',
      'metadata',
    ],
    [
      'metadata nested beyond reason',
      remember({ content: 'a', metadata: nested(64) }),
      422,
      'validation_error',
      'metadata',
    ],
    ['importance above 1', remember({ content: 'a', importance: 1.1 }), 422, 'validation_error', 'importance'],
    [
      'importance that is a word',
      remember({ content: 'a', importance: 'high' }),
      422,
      'validation_error',
      'importance',
    ],
    [
      'a local time',
      remember({ content: 'a', occurred_at: '2024-01-01T10:00:00' }),
      422,
      'validation_error',
      'occurred_at',
    ],
    [
      'a day that does not exist',
      remember({ content: 'a', expires_at: '2024-02-30' }),
      422,
      'validation_error',
      'expires_at',
    ],
    ...(['9999-12-31T23:59:59-23:59', '0001-01-01T00:00:00+23:59', '0000-01-01'] as const).flatMap((time) => [
      [`${time} in a memory`, remember({ content: 'a', occurred_at: time }), 422, 'validation_error', '9999'] as const,
      [`${time} as an end`, remember({ content: 'a', expires_at: time }), 422, 'validation_error', '9999'] as const,
      [`${time} in a question`, recall({ query: 'a', as_of: time }), 422, 'validation_error', '9999'] as const,
    ]),
    ['an unknown type', remember({ content: 'a', memory_type: 'secret' }), 422, 'validation_error', 'memory_type'],
    [
      'the wildcard as a bucket to write to',
      remember({ content: 'a', bucket: '%' }),
      422,
      'validation_error',
      'bucket',
    ],
    ['a mistyped field', remember({ content: 'a', buckett: 'b' }), 422, 'validation_error', 'did you mean bucket?'],
    ['__proto__ as a field', ['POST', '/remember', '{"content":"a","__proto__":{"x":1}}'], 400, 'bad_json'],
    ['a list of a million', ['POST', '/remember', many], 422, 'validation_error', 'more than 10,000 values'],
    [
      'a number that JSON cannot tell',
      ['POST', '/remember', '{"content":"a","metadata":{"n":1e400}}'],
      422,
      'validation_error',
      'too large',
    ],
    [
      'a number that JavaScript rounds',
      ['POST', '/remember', '{"content":"a","metadata":{"ids":[1,{"message":1234567890123456789}]}}'],
      422,
      'validation_error',
      'metadata: holds a whole number beyond 2^53',
    ],
    [
      '__proto__ in a filter that came as text',
      ['GET', `/recall?query=q&metadata=${encodeURIComponent('{"__proto__":{"a":1}}')}`, undefined],
      422,
      'validation_error',
      '__proto__',
    ],
    ['a NUL in the id of a team', ['GET', '/teams/%00/members', undefined], 404, 'not_found'],
    ['a NUL in the id of a token', ['POST', '/tokens/%00/rotate', {}], 404, 'not_found'],
    ['a NUL in a path of the reference page', ['GET', '/static/%00', undefined], 400, 'bad_request'],
    [
      'a version beyond all',
      ['GET', `/memories/${id}/versions?before=9007199254740991`, undefined],
      422,
      'validation_error',
      'before',
    ],
    ['a team of others', remember({ content: 'a', team_id: 'red' }), 403, 'boundary_denied'],
    ['a list as the body', remember([]), 422, 'validation_error'],
    ['a string as the body', ['POST', '/remember', '"hello"'], 422, 'validation_error'],
    ['half of JSON', ['POST', '/remember', '{"content":'], 400, 'bad_json'],
    ['no query', recall({}), 422, 'validation_error', 'query'],
    ['an empty query', recall({ query: '' }), 422, 'validation_error', 'query'],
    ['a blank query', recall({ query: '\t ' }), 422, 'validation_error', 'query'],
    ['a query of 4,001 characters', recall({ query: 'q'.repeat(4_001) }), 422, 'validation_error', '4000'],
    ['limit 0', recall({ query: 'q', limit: 0 }), 422, 'validation_error', 'limit'],
    ['limit 51', recall({ query: 'q', limit: 51 }), 422, 'validation_error', '50'],
    ['limit 1.5', recall({ query: 'q', limit: 1.5 }), 422, 'validation_error', 'limit'],
    ['threshold 2', recall({ query: 'q', threshold: 2 }), 422, 'validation_error', 'threshold'],
    ['status deleted', recall({ query: 'q', status: 'deleted' }), 422, 'validation_error', 'status'],
    ['an empty bucket', recall({ query: 'q', bucket: '' }), 422, 'validation_error', 'bucket'],
    ['a list as a filter', recall({ query: 'q', bucket: ['a', 'b'] }), 422, 'validation_error', 'bucket'],
    ['metadata that is no object', recall({ query: 'q', metadata: [1] }), 422, 'validation_error', 'metadata'],
    ['a mistyped filter', recall({ query: 'q', agentid: 'x' }), 422, 'validation_error', 'agent_id'],
    ['since that is no time', recall({ query: 'q', since: 'yesterday' }), 422, 'validation_error', 'since'],
    ['max_items 0', context({ query: 'q', max_items: 0 }), 422, 'validation_error', 'max_items'],
    ['max_items 51', context({ query: 'q', max_items: 51 }), 422, 'validation_error', 'max_items'],
    ['max_tokens 0', context({ query: 'q', max_tokens: 0 }), 422, 'validation_error', 'max_tokens'],
    ['max_tokens 12001', context({ query: 'q', max_tokens: 12_001 }), 422, 'validation_error', '12000'],
    ['a tokenizer that is not there', context({ query: 'q', tokenizer: 'p50k' }), 422, 'validation_error', 'tokenizer'],
    [
      'an answer budget below its frame',
      context({ query: 'q', max_tokens: 3, budget_scope: 'answer' }),
      422,
      'validation_error',
      'max_tokens',
    ],
    [
      'metadata in a query string that is not JSON',
      ['GET', '/recall?query=q&metadata={', undefined],
      422,
      'validation_error',
      'metadata',
    ],
    [
      'a field twice in a query string',
      ['GET', '/recall?query=q&bucket=a&bucket=b', undefined],
      422,
      'validation_error',
      'bucket',
    ],
    ['an id that cannot be one', ['GET', '/memories/nope', undefined], 404, 'not_found'],
    ['an id that never was', ['GET', '/memories/0198c2aa-0000-7000-8000-000000000000', undefined], 404, 'not_found'],
    ['an id as long as a book', ['GET', `/memories/${'a'.repeat(2_000)}`, undefined], 404, 'not_found'],
    ['SQL as an id', ['GET', "/memories/'%20or%201=1--", undefined], 404, 'not_found'],
    [
      'forgetting what never was',
      ['POST', '/memories/0198c2aa-0000-7000-8000-000000000000/forget', {}],
      404,
      'not_found',
    ],
    [
      'forgetting in an unknown mode',
      ['POST', `/memories/${id}/forget`, { mode: 'burn' }],
      422,
      'validation_error',
      'mode',
    ],
    ['a path beside a route', ['POST', '/recal/context', {}], 404, 'route_not_found', '/recall/context'],
    [
      'a path like no route',
      ['GET', '/v1/zzzzzzzzzzzzzzzzzzzzzzzzzzzz', undefined],
      404,
      'route_not_found',
      '/docs/api',
    ],
    ['a method that a route does not take', ['GET', '/remember', undefined], 405, 'method_not_allowed', 'POST'],
    [
      'a method that a route with an id does not take',
      ['POST', `/memories/${id}`, {}],
      405,
      'method_not_allowed',
      'PATCH',
    ],
    ['a list where a text is meant', recall({ query: ['q'] }), 422, 'validation_error', 'query: must be text'],
    ['a field left out', recall({}), 422, 'validation_error', 'query: is missing'],
    ['a number out of bounds', context({ query: 'q', max_items: 51 }), 422, 'validation_error', 'must be at most 50'],
    [
      'a word of no list',
      recall({ query: 'q', status: 'gone' }),
      422,
      'validation_error',
      'must be one of active, archived',
    ],
  ];

  for (const [title, [method, at, body], status, code, named] of cases) {
    await t.test(title, async (t) => {
      const reply = await call(method, at, body === undefined ? { token } : { token, body });
      t.equal(reply.status, status, reply.text.slice(0, 300));
      t.equal(reply.body.error.code, code);
      t.equal(reply.body.request_id, reply.headers['x-request-id']);
      t.ok(Object.hasOwn(ERRORS, reply.body.error.code), 'the code is one of the table');
      if (status === 422)
        t.ok(
          reply.body.detail.every(
            (d: { loc: unknown; msg: unknown; type: unknown }) => Array.isArray(d.loc) && d.msg && d.type,
          ),
        );
      if (named) t.ok(reply.text.includes(named), `${reply.text} names ${named}`);
      t.notMatch(reply.text, /select |insert |xyzzy|eyJ/i, 'no SQL, memory text or token');
    });
  }

  await t.test('a body that is not JSON by its type is refused', async (t) => {
    const reply = await service.app.inject({
      method: 'POST',
      url: '/v1/remember',
      headers: { authorization: `Bearer ${service.token()}`, 'content-type': 'text/csv' },
      payload: 'a,b',
    });
    t.equal(reply.statusCode, 415);
    t.equal(reply.json().error.code, 'unsupported_media_type');
  });

  await t.test(
    'bytes that are not what they are said to be are refused, and never stored as question marks',
    async (t) => {
      const send = (payload: Buffer, headers: Record<string, string> = {}) =>
        service.app.inject({
          method: 'POST',
          url: '/v1/remember',
          headers: { authorization: `Bearer ${service.token()}`, 'content-type': 'application/json', ...headers },
          payload,
        });
      const latin1 = await send(Buffer.from('{"content":"caf\xe9"}', 'latin1'));
      t.match(latin1.json(), { error: { code: 'bad_json', message: /UTF-8/ } });
      const packed = await send(gzipSync('{"content":"packed"}'), { 'content-encoding': 'gzip' });
      t.match([packed.statusCode, packed.json()], [415, { error: { code: 'unsupported_media_type' } }]);
    },
  );

  await t.test('what is said of a refused value is the limit that counts, the entry, and the field', async (t) => {
    const said = async (...request: Parameters<typeof call>) => (await call(...request)).body.error.message;
    t.equal(await said('POST', '/recall', { body: { query: 'q', limit: 1e17 } }), 'limit: must be at most 50');
    t.equal(await said('POST', '/recall', { body: { query: 'q', limit: -1e17 } }), 'limit: must be at least 1');
    t.equal(await said('GET', '/recall?query=q&bucket=a&bucket=b'), 'bucket: stands there more than once');
    for (const query of [{ since_pack: 'pk_x' }, { budget_scope: 'answer', max_tokens: 1 }]) {
      const { body } = await call('GET', '/recall/context', { query: { query: 'q', ...query } });
      t.same(body.detail[0].loc, ['query', Object.keys(query).at(-1)]);
    }
    const device = await call('POST', '/auth/device/start', { body: { scopes: ['memory:read', ['x']] } });
    t.match(device.text, 'scopes: entry 1 must be text');
    const ledger = service.token({ scopes: ['ledger:write'] });
    t.equal(
      await said('POST', '/ledger/expenses', { token: ledger, body: { item: 'a', amount: '1', date: 7 } }),
      'date: must be empty or must be a day that exists, as YYYY-MM-DD',
    );
    for (const body of ['{"content":"a","__proto__":{}}', '{"content":"a","metadata":{"constructor":{"prototype":1}}}'])
      t.match(await said('POST', '/remember', { body }), /^the body has a key __proto__, or a constructor/);
    t.equal(await said('POST', '/remember', { body: '{"content":"a",' }), 'the body is not valid JSON');
  });

  await t.test('of thousands of unknown fields the first are named', async (t) => {
    const body = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`a${i}`, 1]));
    const refused = await call('POST', '/recall', { body: { ...body, query: 'q' } });
    t.match([refused.status, refused.body.detail.length], [422, 20]);
    t.equal((await call('POST', '/v1/recall', { body: { ...body, query: 'q' } })).body.warnings.length, 20);
    const scopes = await call('POST', '/tokens', { token, body: { name: 'n', scopes: Array(9_000).fill('x') } });
    t.match([scopes.status, scopes.body.detail.length], [422, 50]);
  });

  await t.test('a body beyond the limit is refused unread', async (t) => {
    const reply = await call('POST', '/remember', { body: JSON.stringify({ content: 'a'.repeat(5_000_000) }) });
    t.equal(reply.status, 413);
    t.equal(reply.body.error.code, 'payload_too_large');
  });

  await t.test('after all this there is still one memory', async (t) => {
    const all = await call('POST', '/recall', { body: { query: 'memory', limit: 50 } });
    t.same(
      all.body.results.map((r: { id: string }) => r.id),
      [id],
    );
  });

  await t.test('odd queries are answered honestly', async (t) => {
    for (const query of [
      'q'.repeat(4_000),
      'é',
      'the of and',
      '🙂👨‍👩‍👧‍👦',
      "'; drop table memories; --",
      '記憶',
      '%',
      '\\',
      '<|endoftext|>',
      '(((',
      'Context:',
    ]) {
      for (const at of ['/recall', '/memories/search', '/recall/context']) {
        const reply = await call('POST', at, { body: { query } });
        t.equal(reply.status, 200, `${query.slice(0, 20)} at ${at}: ${reply.text.slice(0, 200)}`);
        t.ok(['ok', 'empty', 'below_threshold'].includes(reply.body.status));
      }
    }
  });

  await t.test('the first and the last day of time are days', async (t) => {
    for (const day of ['0001-01-01', '9999-12-31']) {
      const made = await call('POST', '/remember', { body: { content: `on the day ${day}`, occurred_at: day } });
      t.equal(made.status, 201, made.text);
      for (const field of ['as_of', 'asked_at', 'since', 'until'])
        t.equal((await call('GET', '/recall', { query: { query: 'the day last week', [field]: day } })).status, 200);
      t.equal((await call('GET', `/memories/${made.body.id}`)).body.occurred_at, `${day}T00:00:00.000Z`);
    }
  });
});

function nested(depth: number): Record<string, unknown> {
  let value: Record<string, unknown> = {};
  for (let i = 0; i < depth; i++) value = { a: value };
  return value;
}

t.test('pages of other origins read nothing, unless the operator names them', async (t) => {
  const preflight = { origin: 'https://app.example.com', 'access-control-request-method': 'POST' };
  const closed = await startService();
  t.teardown(() => closed.close());
  const refused = await closed.app.inject({ method: 'OPTIONS', url: '/v1/recall', headers: preflight });
  t.notOk(refused.headers['access-control-allow-origin']);
  const open = await startService({
    env: { CORS_ORIGINS: 'https://app.example.com, https://b.example' },
    beside: closed,
  });
  t.teardown(() => open.close());
  const allowed = await open.app.inject({ method: 'OPTIONS', url: '/v1/recall', headers: preflight });
  t.equal(allowed.headers['access-control-allow-origin'], 'https://app.example.com');
  const foreign = await open.app.inject({
    method: 'OPTIONS',
    url: '/v1/recall',
    headers: { ...preflight, origin: 'https://evil.example' },
  });
  t.notOk(foreign.headers['access-control-allow-origin']);
});

t.test('a client that drips its request is cut off, and others are answered meanwhile', async (t) => {
  const service = await startService({ env: { REQUEST_TIMEOUT_MS: '400' } });
  t.teardown(() => service.close());
  const address = new URL(await service.app.listen({ port: 0, host: '127.0.0.1' }));
  const auth = `Authorization: Bearer ${service.token()}`;
  const head = `POST /docs/api/memory/remember HTTP/1.1\r\nHost: x\r\n${auth}\r\nContent-Type: application/json\r\n`;
  /** Sends what it is given at once, then one byte every 50 ms for as long as it is let. */
  const drip = (begin: string, byte: string) =>
    new Promise<string>((done) => {
      let answer = '';
      let dripping: NodeJS.Timeout | undefined;
      const socket = connect(Number(address.port), address.hostname, () => {
        socket.write(begin);
        dripping = setInterval(() => socket.write(byte), 50);
      });
      socket.on('data', (data) => {
        answer += data;
      });
      socket.on('error', () => {});
      socket.on('close', () => {
        clearInterval(dripping);
        done(answer);
      });
    });
  const slow = Promise.all([
    drip(`${head}Content-Length: 5000\r\n\r\n{"content":"`, 'x'),
    drip(`${head}X-Slow: `, 'x'),
    drip('POST /docs', '/'),
  ]);
  const other = await fetch(new URL('/health', address));
  t.equal(other.status, 200);
  t.match(await drip('GET /health HTTP/1.1\r\nConnection: close\r\n\r\n', ''), /^HTTP\/1\.1 400 .*"bad_request"/s);
  for (const twice of ['Host: y', 'Authorization: Bearer b\r\nAuthorization: Bearer c'])
    t.match(
      await drip(`GET /health HTTP/1.1\r\nHost: x\r\n${twice}\r\nConnection: close\r\n\r\n`, ''),
      /^HTTP\/1\.1 400 .*(host|authorization) was sent more than once/s,
    );
  const expecting = 'GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: a miracle\r\n\r\n';
  t.match(await drip(expecting, ''), /^HTTP\/1\.1 200 /);
  for (const [i, answer] of (await slow).entries()) {
    t.match(answer, /^HTTP\/1\.1 408 /, `${i}`);
    t.match(answer, /"code":"request_timeout"/, `${i}`);
  }
  t.notMatch(service.logged.join(''), /"level":50/, 'that is no fault of ours');
});

t.test(
  'a service that closes answers what is on its way, and waits for no connection that is kept alive',
  async (t) => {
    const service = await startService();
    const address = new URL(await service.app.listen({ port: 0, host: '127.0.0.1' }));
    const body = JSON.stringify({ content: 'sent while the service closed' });
    const auth = `Authorization: Bearer ${service.token()}`;
    const socket = connect(Number(address.port), address.hostname);
    const answered = new Promise<string>((done) => {
      let answer = '';
      socket.on('data', (data) => {
        answer += data;
      });
      socket.on('close', () => done(answer));
    });
    await new Promise<void>((seen) => {
      service.app.server.once('request', () => seen());
      socket.write(`POST /v1/remember HTTP/1.1\r\nHost: x\r\n${auth}\r\nContent-Type: application/json\r\n`);
      socket.write(`Content-Length: ${body.length}\r\n\r\n`);
    });
    const begun = Date.now();
    const closed = service.close();
    setTimeout(() => socket.write(body), 100);
    t.match(await answered, /^HTTP\/1\.1 201 Created\r\n(?=[\s\S]*\r\nconnection: close\r\n)/i);
    await closed;
    t.ok(Date.now() - begun < 30_000, `closed after ${Date.now() - begun} ms`);
  },
);

import { type AddressInfo, createServer } from 'node:net';
import { auth, type OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import t from 'tap';
import { makeHttpServer } from '../../examples/mcp-gateway/http.ts';
import { startService } from '../helpers/service.ts';

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/;
const UUID_OF_NOTHING = '0198c2aa-0000-7000-8000-000000000000';
const EMPTY = 'No matching XMemo memory was found.';

t.test('the MCP gateway, by the client of the official SDK', async (t) => {
  const service = await startService();
  const base = await service.app.listen({ port: 0, host: '127.0.0.1' });
  const logged: string[] = [];
  const gateway = makeHttpServer(base, (line) => logged.push(line));
  await new Promise<void>((done) => gateway.listen(0, '127.0.0.1', done));
  const url = new URL(`http://127.0.0.1:${(gateway.address() as AddressInfo).port}/mcp`);
  t.teardown(async () => {
    gateway.close();
    await service.close();
  });

  const connect = async (headers: Record<string, string>): Promise<Client> => {
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }) as Transport);
    return client;
  };
  const as = (token: string, more: Record<string, string> = {}) =>
    connect({ authorization: `Bearer ${token}`, ...more });
  const callOn = async (client: Client, name: string, args: Record<string, unknown> = {}) => {
    const result = await client.callTool({ name, arguments: args });
    const [content] = result.content as { type: string; text: string }[];
    return { failed: result.isError === true, text: content?.text ?? '' };
  };

  const alice = await as(service.token());
  const call = (name: string, args: Record<string, unknown> = {}) => callOn(alice, name, args);

  await t.test('lists the documented tools with their defaults, limits and hints', async (t) => {
    const { tools } = await alice.listTools();
    t.same(tools.map((tool) => tool.name).sort(), [
      'forget',
      'get_mcp_identity',
      'ledger',
      'recall',
      'recall_context',
      'remember',
      'search_knowledge',
      'search_memory',
      'todos',
    ]);
    const byName = new Map(tools.map((tool) => [tool.name, tool]));
    for (const { name, description, annotations, inputSchema } of tools) {
      t.ok(description && description.length > 40, name);
      t.equal(annotations?.readOnlyHint, /^(recall|search|get)/.test(name), name);
      t.equal(annotations?.destructiveHint, name === 'forget', name);
      t.equal(inputSchema.additionalProperties, false, name);
    }
    t.match(byName.get('recall_context')?.inputSchema, {
      required: ['query'],
      properties: {
        max_items: { default: 8, minimum: 1, maximum: 50 },
        max_tokens: { default: 1500, minimum: 1, maximum: 12_000 },
        bucket: { default: '%' },
        path_filter: { default: '%' },
        memory_type: { default: 'auto' },
        prefer_working: { default: true },
        output_json: { default: false },
      },
    });
    t.match(byName.get('recall')?.inputSchema.properties, { limit: { default: 5 }, memory_type: { default: '%' } });
    t.match(byName.get('remember')?.inputSchema, {
      required: ['content', 'path'],
      properties: { bucket: { default: 'public' }, memory_type: { default: 'auto' } },
    });
  });

  await t.test(
    'what one tool remembers the others find, as the text of the service, until it is forgotten',
    async (t) => {
      const stored = await call('remember', {
        content: 'Deploys go out on Tuesdays.',
        path: 'team/rules',
        metadata_json: '{"a":1}',
        agent_id: 'coder',
      });
      t.notOk(stored.failed, stored.text);
      const id = UUID.exec(stored.text)?.[0] ?? '';
      t.match(
        stored.text,
        /^Reference: \S+ \| Type: semantic \| Location: team\/rules \| Outcome: created \| Version: 1$/,
      );
      t.match((await service.call('GET', `/memories/${id}`)).body, { metadata: { a: 1 }, agent_id: 'coder' });

      const pack = await call('recall_context', { query: 'when do deploys go out' });
      const direct = await service.call('GET', '/recall/context', {
        query: { query: 'when do deploys go out' },
        headers: { accept: 'text/plain' },
      });
      t.equal(pack.text, direct.text);
      t.match(pack.text, `### XMemo Context\nItems: 1\nReference: ${id}`);
      t.match(JSON.parse((await call('recall_context', { query: 'deploys', output_json: true })).text), {
        version: '1',
        items: [{ id }],
      });
      for (const tool of ['recall', 'search_memory']) {
        t.match((await call(tool, { query: 'deploys on Tuesdays' })).text, `Reference: ${id}`, tool);
        t.match(
          JSON.parse((await call(tool, { query: 'deploys on Tuesdays', explain: true })).text).results[0],
          { id, explanation: {} },
          tool,
        );
      }
      t.match(await call('recall', { query: 'deploys', path_filter: 'nowhere/%' }), { failed: false, text: EMPTY });

      t.match(await call('forget', { target: id, reason: 'a test' }), {
        failed: false,
        text: `Reference: ${id} | Status: deleted | Mode: soft_delete`,
      });
      t.match(await call('recall_context', { query: 'when do deploys go out' }), { failed: false, text: EMPTY });
    },
  );

  await t.test('documents are searched with what to cite, and mixed into a pack', async (t) => {
    const token = service.token({ owner: 'frank', scopes: ['memory:read', 'knowledge:read', 'knowledge:write'] });
    const base = await service.call('POST', '/knowledge-bases', { token, body: { name: 'Handbooks' } });
    const text = '# Rollback\n\nPress the red lever.';
    await service.call('POST', `/knowledge-bases/${base.body.id}/items`, { token, body: { text, title: 'Handbook' } });
    const frank = await as(token);
    t.match(
      (await callOn(frank, 'search_knowledge', { query: 'red lever' })).text,
      /^Reference: \S+ \| Type: knowledge \| Location: Handbook\/Rollback\nSource: document \S+, characters 0-32\n/,
    );
    t.match(
      (await callOn(frank, 'recall_context', { query: 'red lever', include_knowledge: true })).text,
      /Type: knowledge/,
    );
    t.equal((await callOn(frank, 'recall_context', { query: 'red lever' })).text, EMPTY);
    t.match(await call('search_knowledge', { query: 'red lever' }), {
      failed: true,
      text: /^Error insufficient_scope: .*knowledge:read/,
    });
  });

  await t.test('todos are created, listed and completed', async (t) => {
    const token = service.token({ owner: 'tina' });
    const tina = await as(token);
    const todos = (args: object) => callOn(tina, 'todos', { ...args });
    const made = await todos({
      action: 'create',
      content: 'Water the fern',
      due_at: '2031-05-04',
      path: 'home/plants',
      bucket: 'home',
      scope: 'flat',
    });
    const id = UUID.exec(made.text)?.[0] ?? '';
    t.equal(made.text, `Reference: ${id} | Status: open | Due: 2031-05-04T00:00:00.000Z\nWater the fern`);
    const other = UUID.exec((await todos({ action: 'create', content: 'Sharpen the saw' })).text)?.[0] ?? '';
    const listed = async (args: object = {}) =>
      [...(await todos(args)).text.matchAll(/Reference: (\S+)/g)].map((found) => found[1]).sort();
    t.same(await listed(), [id, other].sort(), 'list is the default');
    t.same(await listed({ action: 'list', due_before: '2031-06-01' }), [id]);
    t.same(await listed({ bucket: 'home', scope: 'flat', limit: 1 }), [id]);
    t.equal((await todos({ bucket: 'garden' })).text, 'There are no such todos.');
    const done = await todos({ action: 'complete', todo_id: id, note: 'It was thirsty', bucket: 'home' });
    t.match(done, { failed: false, text: new RegExp(`^Reference: ${id} \\| Status: completed`) });
    t.same(await listed(), [other]);
    t.same(await listed({ item_status: 'completed' }), [id]);
    t.same(await listed({ item_status: '%' }), [id, other].sort());
    t.match((await service.call('GET', '/reminders', { token, query: { item_status: 'completed' } })).body.reminders, [
      { id, bucket: 'home', scope: 'flat', path: 'home/plants' },
    ]);
    t.match(await todos({ action: 'complete', todo_id: UUID_OF_NOTHING }), {
      failed: true,
      text: /^Error not_found/,
    });
    t.ok((await todos({ action: 'create', content: 'x', due_at: 'tomorrow' })).failed);
  });

  await t.test('the ledger takes expenses, lists them and sums up a month, to the last digit', async (t) => {
    const olga = await as(service.token({ owner: 'olga', scopes: ['ledger:read', 'ledger:write'] }));
    const ledger = (args: object) => callOn(olga, 'ledger', { ...args });
    t.equal((await ledger({})).text, 'Transactions: 0 of 0');
    const made = await ledger({
      action: 'add_expense',
      item: 'Tea | green',
      amount: '12.10',
      currency: 'yen',
      transaction_date: '2031-05-04',
      category: 'food',
      merchant: 'Kettle & Co',
      payment_method: 'card',
      note: 'for\nthe office',
      bucket: 'work',
      scope: 'team',
    });
    const id = UUID.exec(made.text)?.[0];
    t.equal(
      made.text,
      `Reference: ${id} | Type: expense | Date: 2031-05-04 | Item: Tea ¦ green | Amount: 12.1 JPY | Category: food | Merchant: Kettle & Co | Note: for the office`,
    );
    await ledger({ action: 'add_expense', item: 'Lunch', amount: 8, transaction_date: '2031-05-05' });
    t.match((await ledger({ action: 'list' })).text, /^Transactions: 2 of 2\n.*Lunch \| Amount: 8 CNY\n.*Tea/);
    for (const narrowed of [
      { query: 'kettle' },
      { category: 'food' },
      { currency: 'JPY' },
      { min_amount: 10, max_amount: '12.1' },
      { date_to: '2031-05-04' },
      { bucket: 'work', scope: 'team' },
      { limit: 1, offset: 1, transaction_type: 'expense' },
    ])
      t.match(
        (await ledger({ action: 'list', ...narrowed })).text,
        /^Transactions: 1 of \d\n.*Tea/,
        JSON.stringify(narrowed),
      );
    t.equal((await ledger({ action: 'list', transaction_type: 'income' })).text, 'Transactions: 0 of 0');
    const sum = await ledger({ action: 'monthly_summary', month: 5, year: 2031, currency: 'JPY' });
    t.match(JSON.parse(sum.text), { month: '2031-05', currency: 'JPY', total: 12.1, total_exact: '12.1', count: 1 });
    t.match(await ledger({ action: 'add_expense', item: 'x', amount: -1 }), {
      failed: true,
      text: /^Error validation_error: .*amount/,
    });
    t.match(await call('ledger', {}), { failed: true, text: /^Error insufficient_scope: .*ledger:read/ });
  });

  await t.test('each caller is who their token says, and attributed by their headers', async (t) => {
    const bob = await as(service.token({ owner: 'bob' }), { 'x-memory-os-agent-id': 'Bob Harness' });
    await callOn(bob, 'remember', { content: 'The wombat code is 4711.', path: 'codes' });
    t.match((await callOn(bob, 'recall', { query: 'wombat code' })).text, /4711[\s\S]*Attribution: self/);
    t.equal((await call('recall', { query: 'wombat code' })).text, EMPTY);
    t.match(await callOn(bob, 'get_mcp_identity'), {
      failed: false,
      text: /^Account: bob\nScopes: memory:read, memory:write, memory:delete \| Expires: /,
    });
    const byKey = await connect({ 'x-api-key': service.token({ owner: 'bob' }) });
    t.match((await callOn(byKey, 'recall', { query: 'wombat code' })).text, '4711');
  });

  await t.test('a fault comes back as a tool error with its code and what to do', async (t) => {
    const reader = await as(service.token({ scopes: ['memory:read'] }));
    t.match(await callOn(reader, 'remember', { content: 'x', path: 'p' }), {
      failed: true,
      text: /^Error insufficient_scope: .*memory:write.*\nWhat to do: Tell the user which scope/,
    });
    t.match(await call('forget', { target: UUID_OF_NOTHING }), {
      failed: true,
      text: /^Error not_found: [\s\S]*Reference[\s\S]*Request id: /,
    });
    t.match(await call('search_memory', { query: 'x', team_id: 'not-mine' }), {
      failed: true,
      text: /^Error boundary_denied/,
    });
    t.match(await call('remember', { content: 'x', path: 'p', metadata_json: 'nope' }), {
      failed: true,
      text: /^Error validation_error: .*metadata/,
    });
    t.match(await call('recall', { query: ' \n' }), { failed: true, text: /^Error validation_error: .*query/ });
    for (const [name, args] of [
      ['recall_context', { query: 'x', max_items: 51 }],
      ['recall_context', { query: 'x', max_tokens: 0 }],
      ['recall', { query: 'x', limit: 51 }],
      ['recall', { query: 'x', buckett: 'private' }],
      ['recall', {}],
      ['forget', { target: 'latest' }],
      ['forget', { target: '../recall' }],
      ['forget', { target: '..' }],
      ['todos', { action: 'create' }],
      ['ledger', { action: 'add_expense', item: 'tea' }],
      ['no_such_tool', {}],
    ] as const) {
      t.ok((await call(name, args)).failed, `${name} ${JSON.stringify(args)}`);
    }
    t.match((await call('todos', { action: 'complete' })).text, 'todo_id');
  });

  await t.test('a service that is away is said so, in words for a model', async (t) => {
    const alone = makeHttpServer('http://127.0.0.1:1', () => {});
    await new Promise<void>((done) => alone.listen(0, '127.0.0.1', done));
    t.teardown(() => alone.close());
    const client = new Client({ name: 'test', version: '1' });
    const at = new URL(`http://127.0.0.1:${(alone.address() as AddressInfo).port}/mcp`);
    await client.connect(
      new StreamableHTTPClientTransport(at, { requestInit: { headers: { authorization: 'Bearer x' } } }) as Transport,
    );
    t.match(await callOn(client, 'recall', { query: 'x' }), {
      failed: true,
      text: /^Error unreachable: [\s\S]*Go on without memory/,
    });
  });

  await t.test('only POST /mcp with a credential is served', async (t) => {
    const initialize = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
    });
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const post = (body: string, more: Record<string, string> = {}) =>
      fetch(url, { method: 'POST', headers: { ...headers, ...more }, body });
    const refused = await post(initialize);
    t.equal(refused.status, 401);
    t.equal(refused.headers.get('www-authenticate'), 'Bearer');
    const strange = await post(initialize, { authorization: 'Bearer no-such-token-at-all' });
    t.match([strange.status, strange.headers.get('www-authenticate')], [401, 'Bearer error="invalid_token"']);
    const credential = { authorization: `Bearer ${service.token()}` };
    const old = await post(initialize, credential);
    t.match(await old.json(), { id: 1, result: { protocolVersion: '2024-11-05', serverInfo: { name: 'xmemo' } } });
    t.equal((await post('{', credential)).status, 400);
    t.equal((await post(`"${'x'.repeat(5 * 1024 * 1024)}"`, credential)).status, 413);
    t.equal((await fetch(url, { headers: credential })).status, 405);
    t.equal((await fetch(new URL('/other', url))).status, 404);
    t.match(await (await fetch(new URL('/health', url))).json(), { status: 'ok' });
  });

  await t.test('over stdio the token comes from the environment', async (t) => {
    const main = new URL('../../examples/mcp-gateway/main.ts', import.meta.url).pathname;
    const start = async (env: Record<string, string>): Promise<Client> => {
      const client = new Client({ name: 'test', version: '1' });
      await client.connect(
        new StdioClientTransport({
          command: process.execPath,
          args: ['--import', 'tsx', main, '--stdio'],
          env: { XMEMO_URL: base, ...env },
          stderr: 'ignore',
        }) as Transport,
      );
      return client;
    };
    const client = await start({ XMEMO_TOKEN: service.token(), XMEMO_AGENT_ID: 'desk' });
    const stored = await callOn(client, 'remember', { content: 'Numbats eat termites.', path: 'animals' });
    t.match((await service.call('GET', `/memories/${UUID.exec(stored.text)?.[0]}`)).body, { agent_id: 'desk' });
    t.match((await callOn(client, 'recall_context', { query: 'numbats' })).text, 'termites');
    await client.close();
    await t.rejects(start({}));
    const stranger = await start({ XMEMO_TOKEN: 'no-such-token-at-all' });
    t.match(await callOn(stranger, 'recall', { query: 'x' }), {
      failed: true,
      text: /^Error invalid_token: [\s\S]*valid token/,
    });
    await stranger.close();
  });

  t.same(logged, []);
});

/** A program as the SDK has it: keeps what it is given, and sends the owner to a page. */
function makeProgram(redirectUrl: string) {
  const kept: { client?: OAuthClientInformationMixed; tokens?: OAuthTokens; verifier?: string; page?: URL } = {};
  const provider: OAuthClientProvider = {
    redirectUrl,
    clientMetadata: { client_name: 'SDK', redirect_uris: [redirectUrl] },
    state: () => 'the state',
    clientInformation: () => kept.client,
    saveClientInformation: (client) => {
      kept.client = client;
    },
    tokens: () => kept.tokens,
    saveTokens: (tokens) => {
      kept.tokens = tokens;
    },
    redirectToAuthorization: (page) => {
      kept.page = page;
    },
    saveCodeVerifier: (verifier) => {
      kept.verifier = verifier;
    },
    codeVerifier: () => kept.verifier ?? '',
  };
  return { kept, provider };
}

const freePort = () =>
  new Promise<number>((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => done(port));
    });
  });

t.test('the client of the official SDK signs in by itself: discovery, registration, approval, refresh', async (t) => {
  const port = await freePort();
  const url = new URL(`http://127.0.0.1:${port}/mcp`);
  const service = await startService({ env: { MCP_URL: url.href } });
  const gateway = makeHttpServer(await service.app.listen({ port: 0, host: '127.0.0.1' }), () => {});
  await new Promise<void>((done) => gateway.listen(port, '127.0.0.1', done));
  t.teardown(async () => {
    gateway.close();
    await service.close();
  });
  const { kept, provider } = makeProgram('http://localhost:7777/callback');
  const connect = async () => {
    const client = new Client({ name: 'test', version: '1' });
    const transport = new StreamableHTTPClientTransport(url, { authProvider: provider });
    const connected = client.connect(transport as Transport);
    return { client, transport, connected };
  };
  const first = await connect();
  await t.rejects(first.connected, { message: 'Unauthorized' });
  t.match(kept.client, { client_id: /^client_/, token_endpoint_auth_method: 'none' });
  t.match(Object.fromEntries(kept.page!.searchParams), {
    state: 'the state',
    resource: url.href,
    code_challenge_method: 'S256',
    scope: /memory:read memory:write/,
  });

  const page = await fetch(kept.page!);
  t.equal(page.status, 200);
  const html = await page.text();
  const fields: [string, string][] = [...html.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)].map(
    ([, name = '', value = '']) => [name, value],
  );
  const token = service.token({ owner: 'olivia', scopes: ['memory:read', 'memory:write', 'tokens:manage'] });
  const approved = await fetch(new URL('/oauth/authorize', kept.page), {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams([...fields, ['token', token], ['decision', 'approve']]),
  });
  t.equal(approved.status, 303);
  const back = new URL(approved.headers.get('location') ?? '');
  t.equal(back.searchParams.get('state'), 'the state');
  await first.transport.finishAuth(back.searchParams.get('code') ?? '');
  t.match(kept.tokens, { access_token: /^xmemo_tok_/, refresh_token: /^xmemo_grt_/, token_type: 'Bearer' });

  const second = await connect();
  await second.connected;
  await second.client.callTool({ name: 'remember', arguments: { content: 'Signed in by the SDK.', path: 'test' } });
  t.match((await service.call('GET', '/memories', { token })).body.memories, [{ content: 'Signed in by the SDK.' }]);

  const before = kept.tokens!.access_token;
  t.equal(await auth(provider, { serverUrl: url }), 'AUTHORIZED');
  t.not(kept.tokens!.access_token, before, 'refreshed');
  const third = await connect();
  await third.connected;
  const used = kept.tokens!.access_token;
  service.setNow(new Date(Date.now() + 2 * 3_600_000));
  const recalled = await third.client.callTool({ name: 'recall', arguments: { query: 'signed in' } });
  t.match(recalled.content, [{ text: /by the SDK/ }], 'an access token that has expired is renewed without a word');
  t.not(kept.tokens!.access_token, used);
});

import { createHash } from 'node:crypto';
import t from 'tap';
import { sql } from '../../src/db/sql.ts';
import { sweepOauth } from '../../src/login/oauth/clients.ts';
import { startService } from '../helpers/service.ts';

const GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

t.test('discovery and login', async (t) => {
  const service = await startService();
  t.teardown(() => service.close());
  const { app, call, token } = service;
  const owner = token({ owner: 'olivia', scopes: ['memory:read', 'memory:write', 'ledger:read', 'tokens:manage'] });
  const start = (body: object = {}) =>
    call('POST', '/v1/auth/device/start', { token: null, body: { client_id: 'xmemo-skill', ...body } });
  const poll = (device_code: string, more: object = {}) =>
    call('POST', '/v1/auth/device/token', { token: null, body: { device_code, grant_type: GRANT, ...more } });
  const approve = (user_code: string, by = owner, decision = 'approve') =>
    call('POST', '/auth/device/approve', { token: by, body: { user_code, decision } });
  let clock = Date.parse('2026-05-04T12:00:00Z');
  const pass = (seconds: number) => {
    clock += seconds * 1_000;
    service.setNow(new Date(clock));
  };
  pass(0);

  await t.test('a code is not used up where the owner can have no more tokens', async (t) => {
    const full = token({ owner: 'full', scopes: ['tokens:manage', 'memory:read', 'memory:write'] });
    const { device_code, user_code } = (await start()).body;
    t.equal((await approve(user_code, full)).status, 200);
    const body = { name: 'one of many', scopes: ['memory:read'] };
    const { id } = (await call('POST', '/tokens', { token: full, body })).body;
    while ((await call('POST', '/tokens', { token: full, body })).status === 201);
    t.match(await poll(device_code), { status: 409, body: { error: 'conflict' } });
    t.equal((await call('DELETE', `/tokens/${id}`, { token: full })).status, 200);
    t.match(await poll(device_code), { status: 200, body: { access_token: /^xmemo_tok_/ } });
  });

  await t.test('a device gets a token once the owner approved it, and only once', async (t) => {
    const started = await start({
      client_version: '1.2',
      surface: 'standalone_skill',
      token_type: 'skill_token',
      scopes: ['memory:read', 'memory:write', 'memory:restore', 'tokens:manage', 'nonsense'],
    });
    t.equal(started.status, 200, started.text);
    const { device_code, user_code } = started.body;
    t.match(started.body, {
      user_code: /^[B-Z]{4}-[B-Z]{4}$/,
      interval: 5,
      expires_in: 600,
      verification_uri: /^http:\/\/.*\/device$/,
    });
    t.equal(started.body.verification_uri_complete, `${started.body.verification_uri}?user_code=${user_code}`);
    const waiting = await poll(device_code);
    t.equal(waiting.status, 400);
    t.match(waiting.body, { error: 'authorization_pending', error_description: String, request_id: String });
    t.match((await poll(device_code)).body, { error: 'slow_down' }, 'at once again');
    pass(10);
    t.match((await poll(device_code)).body, { error: 'authorization_pending' });
    t.match((await approve(user_code.toLowerCase().replace('-', ' '))).body, {
      status: 'approved',
      client_id: 'xmemo-skill',
      scopes: ['memory:read', 'memory:write'],
    });
    pass(10);
    const got = await poll(device_code);
    t.equal(got.status, 200, got.text);
    t.match(got.body, {
      token: got.body.access_token,
      token_type: 'Bearer',
      scope: 'memory:read memory:write',
      user: { id: 'olivia', user_id: 'olivia' },
      account: { display_name: 'olivia' },
    });
    t.equal(got.headers['cache-control'], 'no-store');
    const made = await call('POST', '/remember', {
      token: got.body.access_token,
      body: { content: 'from the device' },
    });
    t.equal(made.status, 201);
    t.equal(
      (await call('GET', `/memories/${made.body.id}`, { token: owner })).status,
      200,
      'it is the owner who approved',
    );
    t.equal(
      (await call('GET', '/me/ledger/transactions', { token: got.body.access_token })).status,
      403,
      'it has what it asked for',
    );
    t.equal((await approve(user_code, got.body.access_token)).status, 403, 'it approves no others');
    t.match(await poll(device_code), { status: 400, body: { error: 'invalid_grant' } });
    t.equal((await approve(user_code)).status, 404, 'a used code is gone');
  });

  await t.test('polls at once give one token', async (t) => {
    const { device_code, user_code } = (await start()).body;
    await approve(user_code);
    const all = await Promise.all([1, 2, 3, 4].map(() => poll(device_code)));
    t.same(all.map((r) => r.status).sort(), [200, 400, 400, 400]);
  });

  await t.test('the token keeps the boundaries of the one that approved it', async (t) => {
    const narrow = token({
      owner: 'nora',
      scopes: ['memory:read', 'memory:write', 'tokens:manage'],
      buckets: ['work'],
      teams: ['red'],
      agent: 'bot',
    });
    const { device_code, user_code } = (await start({ scopes: 'memory:write memory:delete' })).body;
    t.same((await approve(user_code, narrow)).body.scopes, ['memory:write']);
    const { access_token } = (await poll(device_code)).body;
    t.equal(
      (await call('POST', '/remember', { token: access_token, body: { content: 'x', bucket: 'private' } })).body.error
        .code,
      'boundary_denied',
    );
    t.equal(
      (await call('POST', '/remember', { token: access_token, body: { content: 'x', bucket: 'work' } })).status,
      201,
    );
  });

  await t.test('a denied code, an expired one and one that never was are told apart from waiting', async (t) => {
    const denied = (await start()).body;
    t.match((await approve(denied.user_code, owner, 'deny')).body, { status: 'denied' });
    t.match((await poll(denied.device_code)).body, { error: 'access_denied' });
    const late = (await start()).body;
    pass(600);
    t.equal((await approve(late.user_code)).status, 404);
    t.match(await poll(late.device_code), { status: 400, body: { error: 'expired_token' } });
    t.match(await poll('no such code'), { status: 400, body: { error: 'invalid_grant' } });
    t.match((await poll(late.device_code, { grant_type: 'password' })).body, { error: 'unsupported_grant_type' });
  });

  await t.test('errors of these routes are plain strings, whatever is wrong', async (t) => {
    for (const [at, body] of [
      ['/v1/auth/device/start', {}],
      ['/v1/auth/device/start', { client_id: 5 }],
      ['/v1/auth/device/token', {}],
      ['/v1/auth/device/token', '{'],
      ['/auth/device/start', { client_id: 'x', colour: 'red' }],
    ] as const) {
      const reply = await call('POST', at, { token: null, body });
      t.ok(reply.status === 422 || reply.status === 400, reply.text);
      t.match(reply.body, { error: 'invalid_request', error_description: String, request_id: String }, at);
    }
  });

  await t.test('approving takes tokens:manage and a scope to give', async (t) => {
    const { user_code } = (await start({ scopes: ['ledger:write'] })).body;
    t.match((await approve(user_code, token({ owner: 'olivia' }))).body.error, { code: 'insufficient_scope' });
    t.match(
      (await approve(user_code)).body.error,
      { code: 'insufficient_scope' },
      'olivia may not write a ledger herself',
    );
    t.equal((await call('POST', '/auth/device/approve', { token: null, body: { user_code } })).status, 401);
  });

  await t.test('who guesses codes is shut out for a while, and nobody else is', async (t) => {
    const { user_code, device_code } = (await start()).body;
    const guesser = token({ owner: 'mallory', scopes: ['memory:read', 'tokens:manage'] });
    for (let i = 0; i < 10; i++) t.equal((await approve(`BBBB-BBB${'CDFGHJKLMN'[i]}`, guesser)).status, 404);
    const shut = await approve(user_code, guesser);
    t.match(shut, { status: 429, body: { error: { code: 'rate_limited' } }, headers: { 'retry-after': /^\d+$/ } });
    t.equal((await approve(user_code)).status, 200, 'another owner still may');
    for (let i = 0; i < 10; i++) await poll(`guess ${i}`);
    t.match(await poll('guess'), { status: 429, body: { error: 'rate_limited' }, headers: { 'retry-after': /^\d+$/ } });
    pass(601);
    t.equal((await approve(user_code, guesser)).status, 404, 'after ten minutes the count begins anew');
    t.match((await poll(device_code)).body, { error: 'expired_token' });
  });

  await t.test('the logins that an address begins are counted, on all mounts together', async (t) => {
    const busy = await startService({ env: { DEVICE_LOGINS_PER_HOUR: '2' }, beside: service });
    const begin = (mount: string, remoteAddress: string) =>
      busy.app.inject({
        method: 'POST',
        url: `${mount}/auth/device/start`,
        payload: { client_id: 'cli' },
        remoteAddress,
      });
    const replies = [];
    for (const mount of ['/v1', '/api/v1', '/docs/api/memory']) replies.push(await begin(mount, '203.0.113.7'));
    t.same(
      replies.map((reply) => reply.statusCode),
      [200, 200, 429],
    );
    t.match(replies[2]!.json(), { error: 'rate_limited', error_description: String });
    t.match(replies[2]!.headers, { 'retry-after': /^\d+$/ });
    t.equal((await begin('/v1', '203.0.113.8')).statusCode, 200);
    await busy.app.close();
  });

  await t.test('the page lets an owner look, approve and deny, and runs no script', async (t) => {
    const { user_code, device_code } = (await start({ client_id: '<script>alert(1)</script>' })).body;
    const page = await app.inject({ method: 'GET', url: `/device?user_code=${user_code}` });
    t.match(page, {
      statusCode: 200,
      headers: {
        'content-type': /text\/html/,
        'cache-control': 'no-store',
        'content-security-policy': /default-src 'none'.*frame-ancestors 'none'/,
      },
    });
    t.match(page.body, `value="${user_code}"`);
    const submit = (fields: Record<string, string>) =>
      app.inject({
        method: 'POST',
        url: '/device',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        payload: new URLSearchParams(fields).toString(),
      });
    const review = await submit({ user_code, token: owner });
    t.equal(review.statusCode, 200);
    t.match(review.body, /&lt;script&gt;alert\(1\)&lt;\/script&gt;.*memory:read/s);
    t.notMatch(review.body, '<script>');
    t.match((await poll(device_code)).body, { error: 'authorization_pending' }, 'looking is not approving');
    for (const [fields, status] of [
      [{ user_code, token: 'nonsense' }, 401],
      [{ user_code, token: token({ owner: 'olivia' }) }, 403],
      [{ user_code: '"><img src=x>', token: owner }, 404],
      [{}, 401],
    ] as const) {
      const refused = await submit(fields);
      t.equal(refused.statusCode, status, JSON.stringify(Object.keys(fields)));
      t.match(refused.headers['content-type'], /text\/html/);
      t.notMatch(refused.body, '<img');
      t.notMatch(refused.body, 'eyJ');
    }
    const done = await submit({ user_code, token: owner, decision: 'approve' });
    t.match(done.body, 'was approved');
    t.notMatch(done.body, 'eyJ', 'the token does not stay on the page');
    pass(10);
    t.equal((await poll(device_code)).status, 200);
    t.notMatch((await app.inject({ method: 'GET', url: '/device?user_code=%22%3E%3Cimg%3E' })).body, '<img');
  });

  await t.test('the documents hold what clients check, under the name that the caller used', async (t) => {
    const get = async (url: string, host = 'memory.example:8443') => {
      const reply = await app.inject({ method: 'GET', url, headers: { host } });
      t.equal(reply.statusCode, 200, url);
      t.match(reply.headers['content-type'], /application\/json/);
      return reply.json();
    };
    const base = 'http://memory.example:8443';
    const root = await get('/.well-known/memory-os.json');
    t.match(root, {
      service: 'memory-os',
      version: /^0\.4\.\d+$/,
      auth: { token_env_var: 'XMEMO_KEY', token_in_discovery: false },
    });
    t.match(root.urls, {
      api_base: base,
      mcp: `${base}/mcp`,
      onboarding_status: `${base}/v1/onboarding/status`,
      root_discovery: `${base}/.well-known/memory-os.json`,
      guide: String,
      docs: String,
      token_portal: String,
    });
    t.ok(Array.isArray(root.agent_boundary.client_allowed) && Array.isArray(root.agent_boundary.admin_required));
    const agent = await get('/.well-known/agent-discovery.json');
    t.match(agent, {
      service: 'memory-os',
      protocol: 'memory-os-agent-discovery-v1',
      mcp_url: `${base}/mcp`,
      api: { mcp: { url: `${base}/mcp` } },
      security: { no_remote_code_execution: true, token_in_discovery: false },
      auth: { token_in_discovery: false },
    });
    t.match(agent.standalone_skill, {
      status: 'available',
      runtime_model: 'standalone_skill',
      package: { version: String },
      auth: { default_scopes: ['memory:read', 'memory:write'] },
    });
    t.ok(agent.standalone_skill.operations.includes('doctor'));
    t.match(await get('/.well-known/oauth-authorization-server'), {
      issuer: base,
      device_authorization_endpoint: `${base}/v1/auth/device/start`,
      token_endpoint: `${base}/oauth/token`,
      grant_types_supported: ['authorization_code', 'refresh_token', GRANT],
      mcp_endpoint: `${base}/mcp`,
    });
    t.match(await get('/v1/onboarding/status'), {
      ready: true,
      requirements: { token_portal_url: `${base}/device`, token_env_var: 'XMEMO_KEY' },
      agent_boundary: {},
    });
    for (const { id, config_endpoint } of root.clients.mcp) {
      const config = await get(new URL(config_endpoint).pathname);
      t.match(config, { client: id, url: `${base}/mcp`, token_in_config: false });
      t.match(JSON.stringify(config), 'XMEMO_KEY');
    }
    t.equal((await call('GET', '/v1/mcp/config/emacs', { token: null })).body.error.code, 'not_found');
    t.notMatch(
      JSON.stringify(await get('/.well-known/memory-os.json', 'evil.example/"><script>')),
      'evil',
      'a host that is none is not repeated',
    );
  });

  await t.test('behind a proxy every address that is named begins with PUBLIC_URL', async (t) => {
    const proxied = await startService({ env: { PUBLIC_URL: 'https://memory.example/' }, beside: service });
    t.teardown(() => proxied.app.close());
    const ask = async (method: 'GET' | 'POST', url: string, payload?: object) =>
      (await proxied.app.inject({ method, url, ...(payload && { payload }) })).body;
    for (const named of [
      await ask('GET', '/.well-known/memory-os.json'),
      await ask('GET', '/.well-known/agent-discovery.json'),
      await ask('GET', '/.well-known/oauth-authorization-server'),
      await ask('GET', '/.well-known/oauth-protected-resource'),
      await ask('GET', '/.well-known/xmemo-agent.json'),
      await ask('GET', '/v1/onboarding/status'),
      await ask('GET', '/v1/mcp/config/cursor'),
      await ask('POST', '/v1/auth/device/start', { client_id: 'xmemo-skill' }),
      await ask('POST', '/v1/agents/register', {}),
    ]) {
      const addresses = named.match(/https?:\/\/[^"]*/g) ?? [];
      t.ok(addresses.length > 0, named);
      t.same(
        addresses.filter((address) => !/^https:\/\/memory\.example(?:\/[^/]|$)/.test(address)),
        [],
      );
    }
  });

  await t.test('the log holds no code and no token', async (t) => {
    const log = service.logged.join('\n');
    const { device_code, user_code } = (await start()).body;
    for (const secret of [device_code, user_code, 'eyJ', 'user_code='])
      t.notOk(log.includes(secret) || service.logged.join('\n').includes(secret), secret);
  });
});

t.test('OAuth with PKCE', async (t) => {
  const service = await startService();
  t.teardown(() => service.close());
  const { app, call, token } = service;
  const owner = token({ owner: 'olivia', scopes: ['memory:read', 'memory:write', 'tokens:manage'] });
  let clock = Date.parse('2026-05-04T12:00:00Z');
  const pass = (seconds: number) => {
    clock += seconds * 1_000;
    service.setNow(new Date(clock));
  };
  pass(0);

  const CALLBACK = 'http://127.0.0.1:5000/callback';
  const VERIFIER = 'v'.repeat(43);
  const challengeOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url');
  const form = (url: string, fields: Record<string, string>) =>
    app.inject({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams(fields).toString(),
    });
  const register = async (redirect_uris: unknown, more: object = {}) =>
    app.inject({ method: 'POST', url: '/oauth/register', payload: { client_name: 'Test', redirect_uris, ...more } });
  const clientOf = async (uri = CALLBACK): Promise<string> => (await register([uri])).json().client_id;
  const client = await clientOf();
  const request = (more: Record<string, string> = {}) => ({
    response_type: 'code',
    client_id: client,
    redirect_uri: CALLBACK,
    state: 's t&te',
    code_challenge: challengeOf(VERIFIER),
    code_challenge_method: 'S256',
    scope: 'memory:read memory:write ledger:read tokens:manage nonsense',
    resource: 'http://localhost:80/mcp',
    ...more,
  });
  const look = (fields: Record<string, string>) =>
    app.inject({ method: 'GET', url: `/oauth/authorize?${new URLSearchParams(fields)}` });
  const decide = (fields: Record<string, string>, by = owner, decision = 'approve') =>
    form('/oauth/authorize', { ...fields, token: by, decision });
  const backOf = (reply: { headers: Record<string, unknown> }) =>
    Object.fromEntries(new URL(String(reply.headers.location)).searchParams);
  const codeFor = async (more: Record<string, string> = {}, by = owner) =>
    backOf(await decide(request(more), by)).code!;
  const exchange = (code: string, more: Record<string, string> = {}) =>
    form('/oauth/token', {
      grant_type: 'authorization_code',
      code,
      redirect_uri: CALLBACK,
      client_id: client,
      code_verifier: VERIFIER,
      ...more,
    });
  const refresh = (refresh_token: string, more: Record<string, string> = {}) =>
    form('/oauth/token', { grant_type: 'refresh_token', refresh_token, client_id: client, ...more });
  const works = async (access: string) => (await call('GET', '/auth/token/validate', { token: access })).status === 200;
  const assertRefused = async (reply: ReturnType<typeof form>, error: string, why: string) => {
    const { statusCode, body, headers } = await reply;
    t.equal(statusCode, 400, why);
    t.match(JSON.parse(body), { error, error_description: String, request_id: String }, why);
    t.match(headers['content-type'], /application\/json/);
  };

  await t.test('the metadata name what clients look for', async (t) => {
    const get = async (url: string) => (await app.inject({ method: 'GET', url })).json();
    const base = 'http://localhost:80';
    const server = await get('/.well-known/oauth-authorization-server');
    t.match(server, {
      issuer: base,
      authorization_endpoint: `${base}/oauth/authorize`,
      token_endpoint: `${base}/oauth/token`,
      registration_endpoint: `${base}/oauth/register`,
      revocation_endpoint: `${base}/oauth/revoke`,
      code_challenge_methods_supported: ['S256'],
      resource: `${base}/mcp`,
    });
    t.notOk(server.scopes_supported.includes('tokens:manage'));
    for (const at of ['', '/mcp'])
      t.match(await get(`/.well-known/oauth-protected-resource${at}`), {
        resource: `${base}/mcp`,
        authorization_servers: [base],
        scopes_supported: Array,
      });
  });

  await t.test('the whole dance: register, approve, exchange, use, refresh, revoke', async (t) => {
    const registered = await register([CALLBACK], { token_endpoint_auth_method: 'client_secret_post', scope: 'x' });
    t.equal(registered.statusCode, 201);
    t.match(registered.json(), {
      client_id: String,
      client_id_issued_at: clock / 1_000,
      redirect_uris: [CALLBACK],
      token_endpoint_auth_method: 'none',
    });
    t.notOk('client_secret' in registered.json());

    const page = await look(request());
    t.match(page, {
      statusCode: 200,
      headers: {
        'content-type': /text\/html/,
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'content-security-policy':
          /default-src 'none'.*form-action 'self' http:\/\/127\.0\.0\.1:5000; .*frame-ancestors 'none'/,
      },
    });
    t.match(page.body, /calls itself <strong>Test<\/strong>.*memory:read.*a program on this computer/s);
    t.notMatch(page.body, /<li>tokens:manage|<script|set-cookie/);

    const approved = await decide(request());
    t.equal(approved.statusCode, 303);
    t.match(String(approved.headers.location), /^http:\/\/127\.0\.0\.1:5000\/callback\?code=[\w-]{43}&state=/);
    t.match(backOf(approved), { state: 's t&te', iss: 'http://localhost:80' });
    const got = await exchange(backOf(approved).code!);
    t.equal(got.statusCode, 200, got.body);
    t.equal(got.headers['cache-control'], 'no-store');
    const first = got.json();
    t.match(first, { token_type: 'Bearer', expires_in: 3_600, scope: 'memory:read memory:write' });
    const stored = await call('POST', '/v1/remember', { token: first.access_token, body: { content: 'by a program' } });
    t.equal(stored.status, 201);
    t.equal((await call('GET', `/memories/${stored.body.id}`, { token: owner })).status, 200, 'it acts for the owner');
    t.equal((await call('GET', '/tokens', { token: first.access_token })).status, 403, 'and approves nothing');
    t.equal((await call('GET', '/v1/recall', { token: first.refresh_token, query: { query: 'x' } })).status, 401);

    const listed = (await call('GET', '/tokens', { token: owner })).body.tokens;
    t.match(listed, [{ name: 'Test', scopes: ['memory:read', 'memory:write'], status: 'active' }]);
    pass(3_601);
    t.notOk(await works(first.access_token), 'an hour is its life');
    const second = (await refresh(first.refresh_token, { resource: 'http://localhost:80/mcp' })).json();
    t.ok(await works(second.access_token));
    t.not(second.refresh_token, first.refresh_token);
    t.equal((await call('GET', '/tokens', { token: owner })).body.tokens.length, 1, 'one token for one approval');

    const json = await app.inject({
      method: 'POST',
      url: '/oauth/token',
      payload: { grant_type: 'refresh_token', refresh_token: second.refresh_token, client_id: client, scope: null },
    });
    t.equal(json.statusCode, 200, 'JSON is taken as well');
    const third = json.json();
    const narrow = (await refresh(third.refresh_token, { scope: 'memory:read' })).json();
    t.equal(narrow.scope, 'memory:read');
    t.same((await call('GET', '/auth/token/validate', { token: narrow.access_token })).body.scopes, ['memory:read']);
    t.match(await form('/oauth/revoke', { token: narrow.refresh_token, client_id: client }), { statusCode: 200 });
    t.notOk(await works(narrow.access_token));
    await assertRefused(refresh(narrow.refresh_token), 'invalid_grant', 'revoked');
    const actions = await call('GET', '/audit/events', { token: token({ owner: 'olivia', scopes: ['audit:read'] }) });
    const names = actions.body.events.map((event: { action: string }) => event.action);
    for (const name of ['oauth.approve', 'token.create', 'token.renew', 'oauth.revoke', 'token.revoke'])
      t.ok(names.includes(name), name);
  });

  await t.test('addresses to send back to are https, loopback with any port, or a scheme of the program', async (t) => {
    for (const uri of [
      'https://app.example/cb?x=1',
      'http://localhost/cb',
      'http://[::1]:1/',
      'vscode://yonro.xmemo/auth',
      'com.example.app:/cb',
    ])
      t.equal((await register([uri])).statusCode, 201, uri);
    for (const uri of [
      'http://app.example/cb',
      'http://127.0.0.1.evil.example/cb',
      'http://127.0.0.1@evil.example/',
      'https://user:pass@app.example/',
      'https://app.example/cb#part',
      'https://*.example/cb',
      'https:\\\\evil.example',
      'javascript:alert(1)',
      'data:text/html,x',
      'file:///etc/passwd',
      'http://:@evil.example/',
      'http:localhost/cb',
      'https:evil.example',
      'https://app.example;sandbox/cb',
      'https://app.example,default-src/cb',
      "https://app.example'self'/cb",
      'livescript:alert(1)',
      'search-ms:query=x',
      '/relative',
      'vscode://a b',
      `https://app.example/${'x'.repeat(2_048)}`,
    ])
      t.match((await register([uri])).json(), { error: 'invalid_redirect_uri' }, uri);
    for (const uris of [[], undefined, 'https://app.example/', [5], Array(11).fill(CALLBACK)])
      t.match((await register(uris)).json(), { error: 'invalid_client_metadata' }, JSON.stringify(uris));
    t.match((await register([CALLBACK], { client_name: 'a\u0000b' })).json(), { error: 'invalid_client_metadata' });

    t.equal((await look(request({ redirect_uri: 'http://127.0.0.1:61234/callback' }))).statusCode, 200);
    const vscode = await clientOf('vscode://yonro.xmemo/auth');
    const back = await decide(request({ client_id: vscode, redirect_uri: 'vscode://yonro.xmemo/auth' }));
    t.match(String(back.headers.location), /^vscode:\/\/yonro\.xmemo\/auth\?code=/);
    const page = await look(request({ client_id: vscode, redirect_uri: 'vscode://yonro.xmemo/auth' }));
    t.match(page.headers['content-security-policy'], "form-action 'self' vscode:;");
  });

  await t.test('whoever is not known is told on a page, and nobody is redirected', async (t) => {
    for (const more of [
      { client_id: '' },
      { client_id: 'client_000000000000000000000000' },
      { client_id: `${client}\u0000` },
      { client_id: '"><script>' },
      { redirect_uri: '' },
      { redirect_uri: 'https://evil.example/callback' },
      { redirect_uri: 'http://127.0.0.1:5000/callback/../evil' },
      { redirect_uri: 'http://127.0.0.1:5000/callback?more=1' },
      { redirect_uri: 'http://localhost:5000/callback' },
      { redirect_uri: 'javascript:alert(1)' },
    ] as Record<string, string>[]) {
      for (const reply of [
        await look(request(more)),
        await decide(request(more)),
        await decide(request(more), '', 'deny'),
      ]) {
        t.equal(reply.statusCode, 400, JSON.stringify(more));
        t.match(reply.headers['content-type'], /text\/html/);
        t.notOk('location' in reply.headers);
        t.notMatch(reply.body, '<script>');
      }
    }
    const other = await clientOf('https://other.example/cb');
    t.equal((await look(request({ client_id: other }))).statusCode, 400, 'the address of another program');
    const twice = await app.inject({ url: `/oauth/authorize?${new URLSearchParams(request())}&client_id=${client}` });
    t.equal(twice.statusCode, 400);
    const long = await decide(request({ state: 's'.repeat(5_000) }), '', 'deny');
    t.equal(long.statusCode, 400, 'what would be a header that nobody takes');
    t.notOk('location' in long.headers);
  });

  await t.test('a faulty request of a known program is sent back with its state', async (t) => {
    for (const [more, error] of [
      [{ code_challenge_method: 'plain' }, 'invalid_request'],
      [{ code_challenge_method: '' }, 'invalid_request'],
      [{ code_challenge: '' }, 'invalid_request'],
      [{ code_challenge: 'short' }, 'invalid_request'],
      [{ response_type: 'token' }, 'unsupported_response_type'],
      [{ scope: 'tokens:manage' }, 'invalid_scope'],
      [{ resource: 'https://evil.example/mcp' }, 'invalid_target'],
      [{ resource: 'http://localhost:80.evil.example/' }, 'invalid_target'],
    ] as [Record<string, string>, string][]) {
      for (const reply of [await look(request(more)), await decide(request(more))]) {
        t.ok(reply.statusCode === 302 || reply.statusCode === 303);
        t.match(String(reply.headers.location), /^http:\/\/127\.0\.0\.1:5000\/callback\?error=/);
        t.match(
          backOf(reply),
          { error, error_description: String, state: 's t&te', iss: String },
          JSON.stringify(more),
        );
        t.notOk('code' in backOf(reply));
      }
    }
    const twice = await app.inject({ url: `/oauth/authorize?${new URLSearchParams(request())}&scope=memory:read` });
    t.match(backOf(twice), { error: 'invalid_request', error_description: /scope/ });
    const both = new URLSearchParams({ ...request(), token: owner, decision: 'approve' });
    both.append('scope', 'memory:read');
    const posted = await app.inject({
      method: 'POST',
      url: '/oauth/authorize',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: both.toString(),
    });
    t.match(backOf(posted), { error: 'invalid_request', error_description: /scope/ });
  });

  await t.test('only an owner who may hand out tokens approves; anybody denies for himself', async (t) => {
    for (const [by, status] of [
      ['', 401],
      ['nonsense', 401],
      [token({ owner: 'olivia' }), 403],
      [token({ owner: 'olivia', scopes: ['tokens:manage', 'audit:read'] }), 403],
    ] as const) {
      const reply = await decide(request(), by);
      t.equal(reply.statusCode, status, String(status));
      t.match(reply.body, /role="alert".*name="code_challenge"/s, 'the page is there once more');
      t.notMatch(reply.body, 'eyJ');
      t.notOk('location' in reply.headers);
    }
    t.equal((await decide(request(), owner, 'maybe')).statusCode, 400);
    t.match(backOf(await decide(request(), '', 'deny')), { error: 'access_denied', state: 's t&te' });
    const named = (await register([CALLBACK], { client_name: '<b>\u202ekcatta' })).json().client_id;
    const shown = (await look(request({ client_id: named }))).body;
    t.match(shown, '<strong>&lt;b&gt;\u202ekcatta</strong>');
    t.match(shown, 'strong{unicode-bidi:isolate}', 'a name turns no text around it');
    t.notMatch((await look(request({ state: '"><img src=x>', scope: 'memory:read <img>' }))).body, '<img');
  });

  await t.test('a program gets no more than was asked for and than the owner has', async (t) => {
    const bounded = token({
      owner: 'nora',
      scopes: ['memory:write', 'tokens:manage', 'audit:read'],
      buckets: ['work'],
    });
    const got = (await exchange(await codeFor({}, bounded))).json();
    t.equal(got.scope, 'memory:write');
    const write = (bucket: string) =>
      call('POST', '/remember', { token: got.access_token, body: { content: 'x', bucket } });
    t.equal((await write('private')).status, 403);
    t.equal((await write('work')).status, 201);
    await assertRefused(refresh(got.refresh_token, { scope: 'memory:write memory:read' }), 'invalid_scope', 'wider');
    await assertRefused(
      refresh(got.refresh_token, { scope: 'audit:read' }),
      'invalid_scope',
      'held, but not asked for',
    );
    t.equal(
      (await exchange(await codeFor({ scope: '' }))).json().scope,
      'memory:read memory:write',
      'asked for nothing',
    );
  });

  await t.test('a code works once, for its program, with its verifier, for five minutes', async (t) => {
    const code = await codeFor();
    const foreign = await clientOf();
    await assertRefused(exchange('nonsense'), 'invalid_grant', 'no such code');
    await assertRefused(exchange(code, { client_id: foreign }), 'invalid_grant', 'another program');
    await assertRefused(exchange(code, { code_verifier: 'w'.repeat(43) }), 'invalid_grant', 'another verifier');
    await assertRefused(
      exchange(code, { code_verifier: challengeOf(VERIFIER) }),
      'invalid_grant',
      'as if it were plain',
    );
    await assertRefused(
      exchange(code, { redirect_uri: 'http://127.0.0.1:5001/callback' }),
      'invalid_grant',
      'another address',
    );
    await assertRefused(exchange(code, { resource: 'https://evil.example/' }), 'invalid_target', 'another resource');
    const got = (await exchange(code)).json();
    t.ok(await works(got.access_token), 'none of that used it up');
    await assertRefused(exchange(code), 'invalid_grant', 'a second time');
    t.notOk(await works(got.access_token), 'and what it gave is revoked');
    await assertRefused(refresh(got.refresh_token), 'invalid_grant', 'with its family');
    const late = await codeFor();
    pass(301);
    await assertRefused(exchange(late), 'invalid_grant', 'expired');
    const raced = await codeFor();
    const all = await Promise.all([1, 2, 3].map(() => exchange(raced)));
    t.equal(all.filter((reply) => reply.statusCode === 200).length, 1, 'at once');
  });

  await t.test('an old refresh token ends the whole family', async (t) => {
    const first = (await exchange(await codeFor())).json();
    await assertRefused(
      refresh(first.refresh_token, { client_id: await clientOf() }),
      'invalid_grant',
      'another program',
    );
    const second = (await refresh(first.refresh_token)).json();
    t.notOk(await works(first.access_token), 'the access token before is gone');
    t.ok(await works(second.access_token));
    await assertRefused(refresh(first.refresh_token), 'invalid_grant', 'reuse');
    t.notOk(await works(second.access_token));
    await assertRefused(refresh(second.refresh_token), 'invalid_grant', 'the newest too');
    const unused = (await exchange(await codeFor())).json();
    pass(90 * 86_400 + 1);
    await assertRefused(refresh(unused.refresh_token), 'invalid_grant', 'ninety days without use');
  });

  await t.test('an owner who revokes the token in the list ends the family', async (t) => {
    const got = (await exchange(await codeFor())).json();
    const { token_id } = (await call('GET', '/auth/token/validate', { token: got.access_token })).body;
    const manager = token({ owner: 'olivia', scopes: ['tokens:manage'] });
    t.equal((await call('DELETE', `/tokens/${token_id}`, { token: manager })).status, 200);
    t.notOk(await works(got.access_token));
    await assertRefused(refresh(got.refresh_token), 'invalid_grant', 'revoked by the owner');
  });

  await t.test('revoking answers 200 whatever the token, and ends only what belongs to it', async (t) => {
    const got = (await exchange(await codeFor())).json();
    const revoke = async (fields: Record<string, string>) => {
      const reply = await form('/oauth/revoke', fields);
      t.equal(reply.statusCode, 200);
      t.match(reply.json(), { status: 'revoked' });
    };
    for (const unknown of ['', 'nonsense', 'a\u0000b', owner, `${got.refresh_token.slice(0, -43)}${'x'.repeat(43)}`])
      await revoke({ token: unknown });
    await revoke({ token: got.refresh_token, client_id: await clientOf() });
    t.ok(await works(got.access_token), 'another program cannot');
    t.ok(await works(owner), 'tokens that are none of OAuth stay');
    await revoke({ token: got.access_token, client_id: client });
    t.notOk(await works(got.access_token));
    await assertRefused(refresh(got.refresh_token), 'invalid_grant', 'with its family');
  });

  await t.test('what is missing is named, as a plain string error', async (t) => {
    await assertRefused(form('/oauth/token', {}), 'unsupported_grant_type', 'nothing');
    await assertRefused(form('/oauth/token', { grant_type: 'password' }), 'unsupported_grant_type', 'password');
    await assertRefused(exchange('x', { code_verifier: '' }), 'invalid_request', 'no verifier');
    await assertRefused(exchange('x', { client_id: '' }), 'invalid_request', 'no program');
    await assertRefused(refresh('nonsense'), 'invalid_grant', 'no refresh token of ours');
    const broken = await app.inject({
      method: 'POST',
      url: '/oauth/token',
      headers: { 'content-type': 'application/json' },
      payload: '{',
    });
    t.match(broken.json(), { error: 'invalid_request', error_description: String });
    const started = (await call('POST', '/v1/auth/device/start', { token: null, body: { client_id: 'x' } })).body;
    const poll = form('/oauth/token', { grant_type: GRANT, device_code: started.device_code });
    await assertRefused(poll, 'authorization_pending', 'the device flow, at the endpoint that the metadata name');
  });

  await t.test('only hashes are stored, and registrations are counted by address', async (t) => {
    const code = await codeFor();
    const got = (await exchange(code)).json();
    const rows = await service.deps.db.admin((tx) =>
      tx.query<{ row: string }>(
        sql`select row(g.*)::text as row from oauth_grants g union all select row(k.*)::text from tokens k`,
      ),
    );
    const dump = JSON.stringify(rows);
    for (const secret of [code, got.access_token, got.refresh_token]) {
      const [, part = secret] = secret.split('.');
      t.notOk(dump.includes(part));
      t.notOk(service.logged.join('').includes(part));
    }
    const busy = await startService({ env: { AGENT_REGISTRATIONS_PER_HOUR: '2' }, beside: service });
    const statuses: number[] = [];
    for (let i = 0; i < 3; i++) {
      const reply = await busy.app.inject({
        method: 'POST',
        url: '/oauth/register',
        payload: { redirect_uris: [CALLBACK] },
      });
      statuses.push(reply.statusCode);
      if (i === 2) t.match(reply.json(), { error: 'rate_limited', error_description: String });
    }
    t.same(statuses, [201, 201, 429]);
    await busy.app.close();
  });

  await t.test('what has ended is taken away, programs after half a year without use', async (t) => {
    const { refresh_token } = (await exchange(await codeFor())).json();
    await codeFor();
    const rows = async () => {
      const [row] = await service.deps.db.admin((tx) =>
        tx.query(
          sql`select (select count(*)::int from oauth_grants) as grants, (select count(*)::int from oauth_clients where id = ${client}) as client`,
        ),
      );
      return row;
    };
    const was = clock;
    pass(2 * 86_400);
    await sweepOauth(service.deps);
    t.equal((await refresh(refresh_token)).statusCode, 200, 'what is used stays');
    pass(91 * 86_400);
    await sweepOauth(service.deps);
    t.same(await rows(), { grants: 0, client: 1 });
    pass(90 * 86_400);
    await sweepOauth(service.deps);
    t.same(await rows(), { grants: 0, client: 0 });
    clock = was;
    pass(0);
  });
});

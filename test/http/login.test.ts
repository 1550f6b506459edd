import t from 'tap';
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
      token_endpoint: `${base}/v1/auth/device/token`,
      grant_types_supported: [GRANT],
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

  await t.test('the log holds no code and no token', async (t) => {
    const log = service.logged.join('\n');
    const { device_code, user_code } = (await start()).body;
    for (const secret of [device_code, user_code, 'eyJ', 'user_code='])
      t.notOk(log.includes(secret) || service.logged.join('\n').includes(secret), secret);
  });
});

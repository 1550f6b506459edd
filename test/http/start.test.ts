import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { parseConfig } from '../../src/config.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

interface Running {
  readonly output: () => string;
  readonly ended: Promise<number | null>;
  until(pattern: RegExp): Promise<RegExpExecArray>;
  stop(): Promise<number | null>;
}

/** A command of src/bin in a process of its own, as a person starts it. */
const run = (command: string, env: Record<string, string>, args: string[] = []): Running =>
  start([path.join(ROOT, `src/bin/${command}.ts`), ...args], env);

function start(args: string[], env: Record<string, string>): Running {
  const clean = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(DATABASE_URL|TEST_DATABASE_URL|NODE_OPTIONS|TAP|_TAP)/.test(name),
    ),
  );
  const child = spawn(process.execPath, ['--import', 'tsx', ...args], { cwd: ROOT, env: { ...clean, ...env } });
  let output = '';
  child.stdout.on('data', (part) => {
    output += part;
  });
  child.stderr.on('data', (part) => {
    output += part;
  });
  const ended = new Promise<number | null>((resolve) => child.on('exit', resolve));
  t.teardown(() => child.kill('SIGKILL'));
  return {
    output: () => output,
    ended,
    async until(pattern) {
      for (;;) {
        const found = pattern.exec(output);
        if (found) return found;
        if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode}: ${output}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    stop() {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

/** Locks twenty folders, each at an instant that all racers know, and says of which it has. */
const RACER = `
  import { mkdir, writeFile } from 'node:fs/promises';
  import { setTimeout } from 'node:timers/promises';
  import { lockFolder } from './src/db/folder-lock.ts';
  let told = '';
  for (let round = 0; round < 20; round++) {
    const folder = process.env.DATA_DIR + round;
    await mkdir(folder, { recursive: true });
    await writeFile(folder + '/lock.999999999.1', '');
    await setTimeout(Number(process.env.AT) + round * 200 - Date.now());
    told += await lockFolder(folder).then(() => '+', () => '-');
  }
  console.log(told);
  setInterval(() => {}, 1_000);
`;

t.test('starting the service', async (t) => {
  const data = await mkdtemp(path.join(tmpdir(), 'xmemo-'));
  t.teardown(() => rm(data, { recursive: true, force: true }));
  const env = { DATA_DIR: data, PORT: '0', EMBEDDER: 'hashing', LOG_LEVEL: 'warn' };

  await t.test(
    'a first start prints an address, a token and three lines that work; a second start has the data',
    async (t) => {
      let service = run('serve', env);
      const [, token] = await service.until(/export TOKEN=(\S+)/);
      const curls = [...service.output().matchAll(/^curl -sw '\\n' "?(http:\S+?)"? .*$/gm)];
      t.equal(curls.length, 3);
      const auth = { authorization: `Bearer ${token}` };
      const [, body] = /-d '([^']+)'/.exec(curls[0]![0])!;
      const stored = await fetch(curls[0]![1]!, {
        method: 'POST',
        headers: { ...auth, 'content-type': 'application/json' },
        body: body!,
      });
      t.equal(stored.status, 201);
      const text = await (await fetch(curls[1]![1]!, { headers: { ...auth, accept: 'text/plain' } })).text();
      t.match(text, /^### XMemo Context\nItems: 1\n/);
      const pack = (await (await fetch(curls[2]![1]!, { headers: auth })).json()) as { items: { path: string }[] };
      t.equal(pack.items[0]!.path, 'team/rules');
      t.equal((await stat(path.join(data, 'jwt-secret'))).mode & 0o777, 0o600);

      const second = run('serve', env);
      t.equal(await second.ended, 1, 'a second process is refused');
      t.match(second.output(), /data folder .* is in use by process \d+/);

      const third = run('token', env, ['list', '--owner', 'demo']);
      t.equal(await third.ended, 1);
      t.match(third.output(), /^xmemo-api: the data folder .* in use .*While the service runs, .*\/tokens\n$/);

      const token2 = run('token', env, ['--owner', 'demo', '--ttl', '1h']);
      await token2.ended;
      t.match(token2.output(), /^[\w-]+\.[\w-]+\.[\w-]+\n$/, 'the token command prints a token and nothing else');

      t.equal(await service.stop(), 0, 'it ends cleanly');
      service = run('serve', env);
      const [, address] = await service.until(/listens on (http:\S+)/);
      const again = await fetch(`${address}/v1/recall/context`, {
        method: 'POST',
        headers: { 'x-api-key': token2.output().trim(), 'content-type': 'application/json' },
        body: JSON.stringify({ query: 'deploys' }),
      });
      t.equal(((await again.json()) as { items: unknown[] }).items.length, 1);
      await service.stop();
    },
  );

  await t.test('a lock that a killed process left behind keeps nobody out', async (t) => {
    const service = run('serve', env);
    await service.until(/listens on/);
    const [, pid] = /lock\.(\d+)\.\d+/.exec((await readdir(data)).join(' '))!;
    process.kill(Number(pid), 'SIGKILL');
    await service.ended;
    const next = run('serve', env);
    await next.until(/listens on/);
    t.equal(await next.stop(), 0);
    t.notMatch((await readdir(data)).join(' '), 'lock.');
  });

  await t.test('of processes that find a dead lock at one moment, one has the folder', async (t) => {
    const folder = path.join(data, 'raced');
    const at = String(Date.now() + 4_000);
    const racers = Array.from({ length: 4 }, () =>
      start(['--input-type=module', '-e', RACER], { DATA_DIR: folder, AT: at }),
    );
    const rounds = await Promise.all(racers.map(async (racer) => (await racer.until(/^\S{20}$/m))[0]));
    for (let round = 0; round < 20; round++)
      t.equal(rounds.map((told) => told[round]).filter((one) => one === '+').length, 1, `round ${round}`);
  });

  await t.test(
    'a process that knows nothing of the id of the one that has the folder is refused all the same',
    async (t) => {
      const folder = path.join(data, 'shared');
      await mkdir(folder);
      // as a process of another container looks: its id is nobody's here
      const alive = createServer().listen(path.join(folder, 'lock.999999999.1'));
      await once(alive, 'listening');
      const service = run('serve', { ...env, DATA_DIR: folder });
      t.equal(await service.ended, 1);
      t.match(service.output(), /is in use by a process of another container; stop it or set another DATA_DIR/);
      await new Promise((done) => alive.close(done));
    },
  );

  await t.test('a secret that was cut off is refused, with what to do', async (t) => {
    const folder = path.join(data, 'cut');
    await mkdir(folder);
    await writeFile(path.join(folder, 'jwt-secret'), '');
    const service = run('serve', { ...env, DATA_DIR: folder });
    t.equal(await service.ended, 1);
    t.match(service.output(), /jwt-secret holds no secret of 32 bytes: delete it/);
  });

  await t.test('a database that is not migrated is said once, with what to do', async (t) => {
    const service = run('serve', { ...env, DATA_DIR: path.join(data, 'empty'), MIGRATE_ON_START: 'false' });
    const [, address] = await service.until(/listens on (http:\S+)/);
    t.equal(service.output().split('run npm run migrate').length, 2);
    t.equal((await fetch(`${address}/ready`)).status, 503);
    await service.stop();
  });

  await t.test('faults of the configuration come all at once, without a stack', async (t) => {
    const service = run('serve', {
      ...env,
      PORT: 'eighty',
      JWT_SECRET: 'short',
      LOG_LEVEL: 'loud',
      DATABASE_URL: 'mysql://x',
    });
    t.equal(await service.ended, 1);
    for (const name of ['PORT', 'JWT_SECRET', 'LOG_LEVEL', 'DATABASE_URL']) t.match(service.output(), name);
    t.notMatch(service.output(), /\n {4}at /);
    t.match(service.output(), 'PORT: must be a number');
    t.notMatch(service.output(), 'short\n');
  });

  await t.test('a database that is not there is said in one line', async (t) => {
    const service = run('serve', {
      ...env,
      DATABASE_URL: 'postgres://nobody:s3cret@127.0.0.1:1/none',
      MIGRATE_ON_START: 'true',
    });
    t.equal(await service.ended, 1);
    t.match(service.output(), /database/i);
    t.notMatch(service.output(), /s3cret|\n {4}at /);
  });

  await t.test('the token command makes, lists and revokes opaque tokens', async (t) => {
    const token = async (...args: string[]) => {
      const command = run('token', env, args);
      t.equal(await command.ended, 0, command.output());
      return command.output();
    };
    const made = await token('create', '--owner', 'demo', '--name', 'gateway', '--buckets', 'work');
    t.match(made, /^xmemo_tok_[0-9a-f]{24}\.[\w-]{43}\n$/, 'the token and nothing else');
    const id = /tok_[0-9a-f]{24}/.exec(made)![0];
    const listed = await token('list', '--owner', 'demo');
    t.match(listed, `${id}\tgateway\tmemory:read,memory:write`);
    t.notMatch(listed, made.trim().split('.')[1]!);
    t.match(await token('revoke', '--owner', 'demo', '--id', id), /^revoked at 2/);
  });

  await t.test('the token command names what is wrong', async (t) => {
    for (const [args, message] of [
      [[], '--owner is missing'],
      [['--owner', 'a', '--scopes', 'memory:everything'], 'unknown scope memory:everything'],
      [['--owner', 'a', '--ttl', 'soon'], '--ttl soon'],
      [['rotate', '--owner', 'a'], '--id is missing'],
      [['destroy', '--owner', 'a'], 'there is no command destroy'],
    ] as const) {
      const command = run('token', env, [...args]);
      t.equal(await command.ended, 1);
      t.match(command.output(), message);
    }
  });
});

t.test('the configuration is documented, defaulted and frozen', (t) => {
  const config = parseConfig({ PORT: '', EMBEDDER: 'hashing' });
  t.match(config, { HOST: '127.0.0.1', PORT: 8080, EMBEDDER: 'hashing', DATA_DIR: './data' });
  t.ok(Object.isFrozen(config));
  t.throws(() => parseConfig({ HASHING_DIMENSIONS: '5000' }), /HASHING_DIMENSIONS/);
  t.end();
});

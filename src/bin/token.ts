/**
 * npm run token -- --owner alice --scopes memory:read,memory:write --ttl 30d: prints a signed token (JWT) and nothing else.
 * npm run token -- create|list|rotate|revoke …: opaque tokens, which the database knows and which can be revoked one by one.
 */
import { parseArgs } from 'node:util';
import { createToken, listTokens, revokeToken, rotateToken, shutOutOwner } from '../access/tokens.ts';
import { FolderInUse } from '../db/folder-lock.ts';
import { migrate } from '../db/migrate.ts';
import { TOKEN_SCOPES, type TokenScope } from '../types.ts';
import { configOrExit, fail, jwtSecret, makeLog, openDb, signsTokens } from './start.ts';
import { signToken } from './tokens.ts';

const USAGE = `usage: npm run --silent token -- --owner NAME [RIGHTS]          a signed token (JWT)
       npm run --silent token -- create --owner NAME [--name TEXT] [RIGHTS]
       npm run --silent token -- list --owner NAME
       npm run --silent token -- rotate --owner NAME --id ID
       npm run --silent token -- revoke --owner NAME --id ID
       npm run --silent token -- revoke --owner NAME --all        no token of the owner works any more, signed ones included
RIGHTS: [--scopes memory:read,memory:write] [--ttl 30d] [--teams a,b] [--buckets a,b] [--memory-scopes a,b] [--agent NAME] [--profile public]`;

const SECONDS = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;

try {
  process.stdout.write(`${await run()}\n`);
} catch (error) {
  if (error instanceof FolderInUse)
    fail(
      new Error(
        `${error.message}. While the service runs, it makes and revokes tokens itself: /docs/api/memory/tokens`,
      ),
    );
  fail(error instanceof Error ? new Error(`${error.message}\n${USAGE}`) : error);
}

function read() {
  return parseArgs({
    allowPositionals: true,
    options: {
      owner: { type: 'string' },
      name: { type: 'string', default: 'made by the operator' },
      id: { type: 'string' },
      all: { type: 'boolean', default: false },
      scopes: { type: 'string', default: 'memory:read,memory:write' },
      ttl: { type: 'string', default: '30d' },
      teams: { type: 'string' },
      buckets: { type: 'string' },
      'memory-scopes': { type: 'string' },
      agent: { type: 'string' },
      profile: { type: 'string' },
    },
  });
}

async function run(): Promise<string> {
  const { values, positionals } = read();
  const [command, ...rest] = positionals;
  if (rest.length > 0) throw new Error(`what is ${rest.join(' ')}?`);
  if (!values.owner) throw new Error('--owner is missing');
  if (command === undefined) return sign(values.owner, values);
  return change(command, values.owner, values);
}

type Values = ReturnType<typeof read>['values'];

async function sign(owner: string, values: Values): Promise<string> {
  const config = configOrExit();
  if (!signsTokens(config)) {
    throw new Error(
      'JWT_PUBLIC_KEY or JWKS_URL is set and JWT_SECRET is not: the service refuses tokens that are signed here',
    );
  }
  const rights = rightsOf(values);
  return signToken(await jwtSecret(config), {
    owner,
    scopes: rights.scopes,
    ttlSeconds: seconds(values.ttl),
    ...(rights.teams && { teams: rights.teams }),
    ...(rights.buckets && { buckets: rights.buckets }),
    ...(rights.memoryScopes && { memoryScopes: rights.memoryScopes }),
    ...(rights.agentId && { agent: rights.agentId }),
    ...(rights.profile && { profile: rights.profile }),
  });
}

/** What to print. */
async function change(command: string, owner: string, values: Values): Promise<string> {
  const rights = rightsOf(values);
  const expiresAt = new Date(Date.now() + seconds(values.ttl) * 1_000);
  const needsId = command === 'rotate' || (command === 'revoke' && !values.all);
  if (!['create', 'list', 'rotate', 'revoke'].includes(command)) throw new Error(`there is no command ${command}`);
  if (needsId && values.id === undefined) throw new Error('--id is missing');
  const id = values.id ?? '';
  const config = configOrExit();
  const db = await openDb(config, makeLog(config));
  try {
    if (db.kind === 'embedded') await migrate(db);
    const needs = { db, now: () => new Date() };
    if (command === 'create')
      return (await createToken(needs, { owner }, { ...rights, name: values.name, expiresAt })).token;
    if (command === 'rotate') return (await rotateToken(needs, { owner }, id)).token;
    if (command === 'list') {
      const rows = await listTokens(needs, owner);
      return rows
        .map((t) =>
          [
            t.id,
            t.name,
            t.scopes.join(','),
            t.expires_at?.toISOString() ?? 'never',
            t.last_used_at?.toISOString() ?? 'unused',
          ].join('\t'),
        )
        .join('\n');
    }
    if (!values.all) return `revoked at ${(await revokeToken(needs, { owner }, id)).toISOString()}`;
    await shutOutOwner(needs, owner);
    return `no token of ${owner} works any more`;
  } finally {
    await db.close();
  }
}

function rightsOf(values: Values) {
  const scopes = list(values.scopes);
  const unknown = scopes.filter((scope) => !(TOKEN_SCOPES as readonly string[]).includes(scope));
  if (unknown.length > 0) throw new Error(`unknown scope ${unknown.join(', ')}; known are ${TOKEN_SCOPES.join(', ')}`);
  if (values.profile !== undefined && values.profile !== 'public') throw new Error('--profile can only be public');
  const names = (text: string | undefined) => (text === undefined ? null : list(text));
  return {
    scopes: scopes as TokenScope[],
    teams: names(values.teams),
    buckets: names(values.buckets),
    memoryScopes: names(values['memory-scopes']),
    agentId: values.agent ?? null,
    profile: values.profile ?? null,
  } as const;
}

function list(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);
}

function seconds(ttl: string): number {
  const [, amount, unit] = /^(\d+)([smhd])$/.exec(ttl) ?? [];
  if (!amount || Number(amount) === 0) throw new Error(`--ttl ${ttl} is not a time like 30d, 12h or 15m`);
  return Number(amount) * SECONDS[unit as keyof typeof SECONDS];
}

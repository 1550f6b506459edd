/** npm run token -- --owner alice --scopes memory:read,memory:write --ttl 30d: prints a token and nothing else. */
import { parseArgs } from 'node:util';
import { TOKEN_SCOPES } from '../types.ts';
import { configOrExit, fail, jwtSecret } from './start.ts';
import { signToken } from './tokens.ts';

const USAGE = `usage: npm run --silent token -- --owner NAME [--scopes memory:read,memory:write] [--ttl 30d]
  [--teams a,b] [--buckets a,b] [--memory-scopes a,b] [--agent NAME] [--profile public]`;

const SECONDS = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;

try {
  process.stdout.write(`${await run()}\n`);
} catch (error) {
  fail(error instanceof Error ? new Error(`${error.message}\n${USAGE}`) : error);
}

async function run(): Promise<string> {
  const { values } = parseArgs({
    options: {
      owner: { type: 'string' },
      scopes: { type: 'string', default: 'memory:read,memory:write' },
      ttl: { type: 'string', default: '30d' },
      teams: { type: 'string' },
      buckets: { type: 'string' },
      'memory-scopes': { type: 'string' },
      agent: { type: 'string' },
      profile: { type: 'string' },
    },
  });
  if (!values.owner) throw new Error('--owner is missing');
  const scopes = list(values.scopes);
  const unknown = scopes.filter((scope) => !(TOKEN_SCOPES as readonly string[]).includes(scope));
  if (unknown.length > 0) throw new Error(`unknown scope ${unknown.join(', ')}; known are ${TOKEN_SCOPES.join(', ')}`);
  if (values.profile !== undefined && values.profile !== 'public') throw new Error('--profile can only be public');
  return signToken(await jwtSecret(configOrExit()), {
    owner: values.owner,
    scopes,
    ttlSeconds: seconds(values.ttl),
    ...(values.teams !== undefined && { teams: list(values.teams) }),
    ...(values.buckets !== undefined && { buckets: list(values.buckets) }),
    ...(values['memory-scopes'] !== undefined && { memoryScopes: list(values['memory-scopes']) }),
    ...(values.agent !== undefined && { agent: values.agent }),
    ...(values.profile === 'public' && { profile: 'public' }),
  });
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

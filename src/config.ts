/** The whole configuration: one schema, parsed once at start, all faults in one message, then frozen. */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import './faults.ts';

const EMBEDDERS = ['minilm', 'hashing', 'openai'] as const;

/** JWT secrets below this are guessable: HS256 wants a key at least as long as its hash (RFC 7518, 3.2). */
export const MIN_SECRET_BYTES = 32;

function isEndpoint(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}

export type Algorithm = 'RS256' | 'ES256';

/** What a public key verifies. @throws when it is neither RSA of at least 2,048 bits nor on P-256 */
export function algorithmOf(key: KeyObject): Algorithm {
  const { modulusLength = 0, namedCurve } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === 'rsa' && modulusLength >= 2_048) return 'RS256';
  if (key.asymmetricKeyType === 'ec' && namedCurve === 'prime256v1') return 'ES256';
  throw new Error('the key is neither RSA of at least 2,048 bits nor on P-256');
}

function isPublicKey(pem: string): boolean {
  try {
    algorithmOf(createPublicKey(pem));
    return true;
  } catch {
    return false;
  }
}

/** Keys fetched in clear text could be anybody's; a loopback address has nobody between. */
const HTTPS_OR_LOOPBACK = /^(https:\/\/|http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?\/)/;

const int = (min: number, max: number) => z.coerce.number().int().min(min).max(max);

export const configSchema = z.object({
  HOST: z.string().min(1).default('127.0.0.1').describe('Address to listen on; 0.0.0.0 inside a container.'),
  PORT: int(0, 65535).default(8080).describe('Port to listen on; 0 takes a free one.'),
  PUBLIC_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('Address that clients reach the service under, for the documents that name it. Unset: from the request.'),
  MCP_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('Address of the MCP gateway that the documents name. Unset: /mcp below PUBLIC_URL.'),
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'must begin with postgres:// or postgresql://')
    .optional()
    .describe('Postgres 15 or newer with pgvector 0.7 or newer. Unset: the embedded database in DATA_DIR.'),
  DATA_DIR: z
    .string()
    .min(1)
    .default('./data')
    .describe('Folder of the embedded database, the generated secret and the model file.'),
  MODEL_DIR: z.string().min(1).optional().describe('Folder of the prepared model file. Unset: DATA_DIR/models.'),
  JWT_SECRET: z
    .string()
    .refine((s) => Buffer.byteLength(s) >= MIN_SECRET_BYTES, `must have at least ${MIN_SECRET_BYTES} bytes`)
    .optional()
    .describe('HS256 secret of the tokens, at least 32 bytes. Unset: made once and kept in DATA_DIR with mode 600.'),
  JWT_PUBLIC_KEY: z
    .string()
    .transform((pem) => pem.replaceAll('\\n', '\n'))
    .refine(isPublicKey, 'must be a public key in PEM: RSA of at least 2,048 bits or EC on P-256')
    .optional()
    .describe('Public key (PEM) of tokens signed with RS256 or ES256. HS256 is then off unless JWT_SECRET is set too.'),
  JWKS_URL: z
    .string()
    .regex(HTTPS_OR_LOOPBACK, 'must begin with https:// (http:// on a loopback address only)')
    .optional()
    .describe(
      'Where the issuer publishes its public keys (RS256, ES256). HS256 is then off unless JWT_SECRET is set too.',
    ),
  JWT_ISSUER: z.string().min(1).optional().describe('Signed tokens must carry this `iss`. Unset: not checked.'),
  JWT_AUDIENCE: z.string().min(1).optional().describe('Signed tokens must carry this `aud`. Unset: not checked.'),
  JWT_CLOCK_TOLERANCE: int(0, 300).default(5).describe('Seconds that the clocks of issuer and service may differ.'),
  // Far above what one replica answers: a stray 429 opens the circuit breakers of clients, and imports come in bursts.
  RATE_LIMIT_PER_TOKEN: int(0, 1_000_000).default(60_000).describe('Requests a minute of one token. 0: no limit.'),
  RATE_LIMIT_PER_ADDRESS: int(0, 1_000_000)
    .default(120_000)
    .describe('Requests a minute of one address, counted before the token is looked at. 0: no limit.'),
  AGENT_REGISTRATIONS_PER_HOUR: int(0, 100_000)
    .default(20)
    .describe('Temporary agents, and as many OAuth programs, that one address may register an hour. 0: no limit.'),
  // Many people may sit behind one address; each code is a row that is kept for a day.
  DEVICE_LOGINS_PER_HOUR: int(0, 100_000)
    .default(200)
    .describe('Logins of a device that one address may begin an hour. 0: no limit.'),
  TRUST_PROXY: z
    .string()
    .min(1)
    .optional()
    .describe('Addresses or networks (comma-separated) of proxies whose X-Forwarded-For is believed. Unset: none.'),
  METRICS_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]{16,}$/, 'must be at least 16 printable ASCII characters without blanks')
    .optional()
    .describe(
      'Whoever sends it as a bearer token may read GET /metrics (Prometheus); at least 16 characters. Unset: there is no such route.',
    ),
  CORS_ORIGINS: z
    .string()
    .regex(
      /^https?:\/\/[^\s,*/]+(,\s*https?:\/\/[^\s,*/]+)*$/,
      'must be origins like https://app.example.com, separated by commas',
    )
    .optional()
    .describe('Origins (comma-separated) whose browser pages may read answers. Unset: none.'),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info')
    .describe('Least level that is logged. No level logs memory text or tokens.'),
  EMBEDDER: z
    .enum(EMBEDDERS)
    .default('minilm')
    .describe(
      'minilm: local all-MiniLM-L6-v2. hashing: no model, hashed n-grams, weaker. openai: the endpoint of EMBEDDING_URL.',
    ),
  HASHING_DIMENSIONS: int(64, 1300).default(512).describe('Dimensions of the hashing embedder.'),
  EMBEDDING_URL: z
    .string()
    .refine(isEndpoint, 'must begin with http:// or https:// and hold no user or password')
    .optional()
    .describe(
      'Endpoint with the embeddings API of OpenAI, up to or with `/embeddings`: `https://api.openai.com/v1`. Memory text is sent there.',
    ),
  EMBEDDING_KEY: z
    .string()
    .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without blanks')
    .optional()
    .describe('Key of the endpoint, sent as a bearer token. Unset: none is sent.'),
  EMBEDDING_MODEL: z.string().min(1).max(200).optional().describe('Model that the endpoint is asked for.'),
  EMBEDDING_DIMENSIONS: int(32, 8_192)
    .optional()
    .describe(
      'Dimensions of its vectors. Up to 1,300 are read from the index; larger ones are searched several times slower.',
    ),
  EMBEDDING_SEND_DIMENSIONS: z
    .stringbool()
    .default(false)
    .describe('Ask the endpoint to shorten its vectors to EMBEDDING_DIMENSIONS; for models that can.'),
  EMBEDDING_QUERY_PREFIX: z.string().max(1_000).default('').describe('Put before a query: `query: ` for E5 models.'),
  EMBEDDING_PASSAGE_PREFIX: z
    .string()
    .max(1_000)
    .default('')
    .describe('Put before a passage: `passage: ` for E5 models.'),
  EMBEDDING_MAX_TOKENS: int(64, 32_768).default(512).describe('Tokens of a passage; longer memories are split.'),
  EMBEDDING_BATCH: int(1, 2_048).default(64).describe('Passages a request to the endpoint.'),
  EMBEDDING_TIMEOUT_MS: int(100, 120_000)
    .default(10_000)
    .describe(
      'Limit of embedding passages, repetitions included; after that a memory is found by its words and embedded later.',
    ),
  EMBEDDING_QUERY_TIMEOUT_MS: int(50, 60_000)
    .default(2_000)
    .describe('Limit of embedding a query; after that words alone answer.'),
  MIGRATE_ON_START: z
    .stringbool()
    .optional()
    .describe('Run migrations at start. Default: true on the embedded database, false on Postgres.'),
  RETENTION_DAYS: int(0, 36_500)
    .default(30)
    .describe('Days after which a soft-deleted memory is deleted for good; until then it can be restored.'),
  REQUEST_TIMEOUT_MS: int(100, 3_600_000)
    .default(30_000)
    .describe(
      'A client that takes longer to send its headers, or its whole request, is cut off. A document of 20 MB over a slow line may need more.',
    ),
  POOL_SIZE: int(1, 64).default(8).describe('Connections to Postgres. The embedded database has one.'),
  STATEMENT_TIMEOUT_MS: int(100, 600_000)
    .default(10_000)
    .describe('Postgres stops a statement after this many milliseconds.'),
});

/** What the endpoint cannot do without. */
const OF_ENDPOINT = ['EMBEDDING_URL', 'EMBEDDING_MODEL', 'EMBEDDING_DIMENSIONS'] as const;

export type Config = Readonly<z.infer<typeof configSchema>>;

/** All faults of the environment at once, one line each. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** @throws ConfigError */
export function parseConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const result = configSchema.safeParse(given);
  const lacking = given.EMBEDDER === 'openai' ? OF_ENDPOINT.filter((name) => given[name] === undefined) : [];
  if (result.success && lacking.length === 0) return Object.freeze(result.data);
  const lines = [
    ...(result.error?.issues ?? []).map((issue) => `  ${issue.path.join('.')}: ${issue.message}`),
    ...lacking.map((name) => `  ${name}: must be set when EMBEDDER is openai`),
  ];
  throw new ConfigError(`the configuration is not valid:\n${lines.join('\n')}`);
}

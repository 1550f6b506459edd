/**
 * Signed bearer tokens: HS256 by secret, RS256 and ES256 by public key or JWKS; `exp` required. A key verifies one algorithm, which follows
 * from the key: what a token says of its algorithm only chooses the key, so that none can pass off one kind of key as another.
 */
import { createPublicKey } from 'node:crypto';
import fastifyJwt from '@fastify/jwt';
import { createDecoder, createVerifier } from 'fast-jwt';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { z } from 'zod';
import { algorithmOf, type Config } from '../config.ts';
import { ApiError } from '../errors.ts';
import { invalidText } from '../text/unicode.ts';
import { makeJwks, type PublicKey } from './jwks.ts';
import { isOpaque, parseToken } from './secrets.ts';
import { EVERY_TOKEN } from './store.ts';

/** Half a character or a NUL would not come back from the database as it went in: two owners could become one. */
const name = z
  .string()
  .min(1)
  .max(256)
  .refine((text) => invalidText(text) === null);
const names = z.array(name).max(1_000);

const claims = z.object({
  sub: name,
  /** Up to the year 9999, which a Date and the database both know. */
  exp: z.number().max(253_402_300_799),
  jti: name.refine((jti) => jti !== EVERY_TOKEN).optional(),
  /** OAuth's blank-separated text, or a list. */
  scope: z.union([z.string(), z.array(z.string())]).optional(),
  scopes: z.union([z.string(), z.array(z.string())]).optional(),
  teams: names.optional(),
  buckets: names.optional(),
  memory_scopes: names.optional(),
  agent_id: name.optional(),
  profile: z.literal('public').optional(),
});

/** What a verified token says. */
export type Claims = z.infer<typeof claims>;

/** @throws ApiError invalid_token or token_expired, unavailable when the issuer's keys cannot be had */
export type VerifyJwt = (token: string) => Promise<Claims>;

/** A token longer than this is not one of ours: refused before any cryptography. */
const MAX_TOKEN_LENGTH = 8_192;

const decode = createDecoder({ complete: true });

/**
 * `secret` is the service's own: it counts when no issuer is configured, or when the operator set it beside one. @fastify/jwt holds it; the keys
 * of an issuer, which come and go, have a verifier each.
 */
export async function registerJwt(
  app: FastifyInstance,
  config: Config,
  secret: string,
  log: Logger,
): Promise<VerifyJwt> {
  const { JWT_PUBLIC_KEY, JWKS_URL, JWT_SECRET } = config;
  const shared = JWT_PUBLIC_KEY || JWKS_URL ? JWT_SECRET : secret;
  if (shared !== undefined) await app.register(fastifyJwt, { secret: shared, verify: rules(config, 'HS256') });
  const hs256 = shared === undefined ? undefined : guarded((token) => app.jwt.verify(token));
  const pinned = JWT_PUBLIC_KEY && verifierOf(config, algorithmOf(createPublicKey(JWT_PUBLIC_KEY)), JWT_PUBLIC_KEY);
  const findKey = JWKS_URL === undefined ? undefined : makeJwks(JWKS_URL, log);
  const verifiers = new WeakMap<PublicKey, Verifier>();

  async function issued(kid: unknown): Promise<Verifier | undefined> {
    if (pinned && (typeof kid !== 'string' || !findKey)) return pinned;
    const key = typeof kid === 'string' ? await findKey?.(kid) : undefined;
    if (!key) return pinned || undefined;
    const verifier = verifiers.get(key) ?? verifierOf(config, key.algorithm, key.pem);
    verifiers.set(key, verifier);
    return verifier;
  }

  return async (token) => {
    if (token.length > MAX_TOKEN_LENGTH) throw new ApiError('invalid_token');
    const header = headerOf(token);
    const verify = header.alg === 'HS256' ? hs256 : await issued(header.kid);
    if (!verify) throw new ApiError('invalid_token');
    const parsed = claims.safeParse(verify(token));
    // a boundary that cannot be read must not be dropped
    if (!parsed.success) throw new ApiError('invalid_token', 'the token has a claim that is not valid');
    return parsed.data;
  };
}

type Verifier = (token: string) => unknown;

function rules(config: Config, algorithm: 'HS256' | PublicKey['algorithm']) {
  return {
    algorithms: [algorithm],
    requiredClaims: ['sub', 'exp', ...(config.JWT_ISSUER ? ['iss'] : []), ...(config.JWT_AUDIENCE ? ['aud'] : [])],
    clockTolerance: config.JWT_CLOCK_TOLERANCE * 1_000,
    cache: false,
    ...(config.JWT_ISSUER && { allowedIss: config.JWT_ISSUER }),
    ...(config.JWT_AUDIENCE && { allowedAud: config.JWT_AUDIENCE }),
  };
}

function verifierOf(config: Config, algorithm: PublicKey['algorithm'], key: string): Verifier {
  return guarded(createVerifier({ key, ...rules(config, algorithm) }));
}

function guarded(verify: Verifier): Verifier {
  return (token) => {
    try {
      return verify(token);
    } catch (cause) {
      const expired = cause instanceof Error && 'code' in cause && cause.code === 'FAST_JWT_EXPIRED';
      throw new ApiError(expired ? 'token_expired' : 'invalid_token', undefined, { cause });
    }
  };
}

function headerOf(token: string): { alg?: unknown; kid?: unknown } {
  try {
    return (decode(token) as { header: { alg?: unknown; kid?: unknown } }).header;
  } catch (cause) {
    throw new ApiError('invalid_token', undefined, { cause });
  }
}

/** The part that names a token and is no secret, for the log. What a signed one says of itself is not verified here, so only a plain word counts. */
export function tokenIdOf(token: string): string | undefined {
  if (isOpaque(token)) return parseToken(token)?.id;
  if (token.length > MAX_TOKEN_LENGTH) return undefined;
  try {
    const { jti } = (decode(token) as { payload: { jti?: unknown } }).payload;
    return typeof jti === 'string' && /^[\w-]{1,64}$/.test(jti) ? jti : undefined;
  } catch {
    return undefined;
  }
}

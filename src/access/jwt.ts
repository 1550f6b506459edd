/** JWT bearer tokens: HS256, `exp` required. Turns claims into a principal; nothing else of the token is trusted. */
import fastifyJwt from '@fastify/jwt';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { ApiError } from '../errors.ts';
import { type Principal, TOKEN_SCOPES, type TokenScope } from '../types.ts';

const name = z.string().min(1).max(256);
const names = z.array(name).max(1_000);

const claims = z.object({
  sub: name,
  exp: z.number(),
  jti: name.optional(),
  /** OAuth's blank-separated text, or a list. */
  scope: z.union([z.string(), z.array(z.string())]).optional(),
  scopes: z.union([z.string(), z.array(z.string())]).optional(),
  teams: names.optional(),
  buckets: names.optional(),
  memory_scopes: names.optional(),
  agent_id: name.optional(),
  profile: z.literal('public').optional(),
});

const KNOWN_SCOPES: ReadonlySet<string> = new Set(TOKEN_SCOPES);

/** A token longer than this is not one of ours: refused before any cryptography. */
const MAX_TOKEN_LENGTH = 8_192;

export type Authenticate = (token: string) => Principal;

export async function registerJwt(app: FastifyInstance, secret: string): Promise<Authenticate> {
  await app.register(fastifyJwt, {
    secret,
    sign: { algorithm: 'HS256' },
    verify: { algorithms: ['HS256'], requiredClaims: ['sub', 'exp'], cache: false },
  });
  return (token) => principalOf(verify(app, token));
}

function verify(app: FastifyInstance, token: string): unknown {
  if (token.length > MAX_TOKEN_LENGTH) throw new ApiError('invalid_token');
  try {
    return app.jwt.verify(token);
  } catch (cause) {
    const expired = cause instanceof Error && 'code' in cause && cause.code === 'FAST_JWT_EXPIRED';
    throw new ApiError(expired ? 'token_expired' : 'invalid_token', undefined, { cause });
  }
}

/** @throws ApiError invalid_token when a claim has the wrong shape: a boundary that cannot be read must not be dropped */
function principalOf(payload: unknown): Principal {
  const parsed = claims.safeParse(payload);
  if (!parsed.success) throw new ApiError('invalid_token', 'the token has a claim that is not valid');
  const c = parsed.data;
  const granted = [c.scope, c.scopes].flat().flatMap((text) => text?.split(/[\s,]+/) ?? []);
  return {
    owner: c.sub,
    tokenId: c.jti,
    tokenScopes: new Set(granted.filter((scope): scope is TokenScope => KNOWN_SCOPES.has(scope))),
    teams: c.teams ?? [],
    buckets: c.buckets,
    scopes: c.memory_scopes,
    boundAgent: c.agent_id,
    profile: c.profile,
  };
}

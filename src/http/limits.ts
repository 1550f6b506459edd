/**
 * How often one may ask: per address before the token is looked at, per token after. Counted in this process alone: N replicas allow up to
 * N times as much. The limits are wide, since clients stay away for minutes after a few refusals.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../errors.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Not counted: probes of the operator. */
    unlimited?: true;
  }
}

/** Addresses and tokens that are counted at a time; the least recently seen go first. */
const MAX_COUNTED = 50_000;
const MINUTE_MS = 60_000;

export type Limit = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

export async function registerLimits(app: FastifyInstance): Promise<void> {
  await app.register(rateLimit, { global: false, cache: MAX_COUNTED });
}

/** Requests that `keyOf` gives undefined for are not counted. `max` 0: no limit. */
function makeLimit(
  app: FastifyInstance,
  options: { name: string; max: number; windowMs: number; keyOf: (request: FastifyRequest) => string | undefined },
): Limit {
  const { name, max, windowMs, keyOf } = options;
  const count = app.createRateLimit({
    max,
    timeWindow: windowMs,
    keyGenerator: (request) => `${name} ${keyOf(request)}`,
    allowList: (request) => max === 0 || keyOf(request) === undefined,
  });
  return async (request, reply) => {
    const counted = await count(request);
    if (counted.isAllowed) return;
    reply.headers({
      'ratelimit-limit': counted.max,
      'ratelimit-remaining': counted.remaining,
      'ratelimit-reset': counted.ttlInSeconds,
    });
    if (counted.isExceeded) {
      const message = `more than ${counted.max} requests of one ${name} in ${Math.round(windowMs / 1_000)} seconds`;
      throw new ApiError('rate_limited', message, { retryAfter: Math.max(1, counted.ttlInSeconds) });
    }
  };
}

/** One who has one IPv6 address has 2^64 of them: the network (/64) is what counts. */
function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined || !isIPv6(address)) return mapped ?? address;
  const [head = '', tail] = address.split('%')[0]!.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail ? tail.split(':') : [];
  const missing = tail === undefined ? 0 : 8 - left.length - right.length;
  return [...left, ...Array<string>(missing).fill('0'), ...right]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}

const within = new AsyncLocalStorage<true>();

/** A request that one of our routes makes of another for its caller: the address was counted when it asked. */
export const asCounted = <T>(ask: () => PromiseLike<T>): Promise<T> => within.run(true, async () => await ask()); // awaited in here: an injected request begins when it is waited for

/** Also counts what fails authentication, and paths that do not exist. */
export const addressLimit = (app: FastifyInstance, max: number): Limit =>
  makeLimit(app, {
    name: 'address',
    max,
    windowMs: MINUTE_MS,
    keyOf: (request) =>
      request.routeOptions.config?.unlimited || within.getStore() ? undefined : networkOf(request.ip),
  });

/** By the credential, of which only a hash is kept. */
export const tokenLimit = (app: FastifyInstance, max: number): Limit =>
  makeLimit(app, {
    name: 'token',
    max,
    windowMs: MINUTE_MS,
    keyOf: (request) => {
      if (!request.principal) return undefined;
      const { owner, tokenId } = request.principal;
      const credential = String(request.headers['x-api-key'] ?? request.headers.authorization);
      return createHash('sha256')
        .update(tokenId === undefined ? credential : JSON.stringify([owner, tokenId]))
        .digest('base64');
    },
  });

/** For a route that makes something without a token, per address. */
export const hourlyLimit = (app: FastifyInstance, name: string, max: number): Limit =>
  makeLimit(app, { name, max, windowMs: 60 * MINUTE_MS, keyOf: (request) => networkOf(request.ip) });

/**
 * The public keys of an issuer, fetched from its JWKS URL. Kept as long as the process lives: when the issuer cannot be reached the keys that
 * are known go on. A key that it withdrew is gone with the next fetch that succeeds. (A cache that forgets by time alone would fail every
 * token in an outage of the issuer.)
 */
import { createPublicKey } from 'node:crypto';
import type { Logger } from 'pino';
import { z } from 'zod';
import { type Algorithm, algorithmOf } from '../config.ts';
import { ApiError } from '../errors.ts';

export interface PublicKey {
  readonly pem: string;
  /** Follows from the key, never from a token. */
  readonly algorithm: Algorithm;
}

const FRESH_MS = 10 * 60_000;
/** A token with an unknown key id makes a fetch at most this often. */
const RETRY_MS = 30_000;
const TIMEOUT_MS = 5_000;
const MAX_BYTES = 256 * 1024;
const MAX_KEYS = 100;

const jwks = z.object({ keys: z.array(z.record(z.string(), z.unknown())).max(MAX_KEYS) });

/** @throws ApiError unavailable when the issuer was never reached: whether the token is good cannot be told */
export type FindKey = (kid: string) => Promise<PublicKey | undefined>;

export function makeJwks(url: string, log: Logger, now: () => number = Date.now): FindKey {
  let keys: ReadonlyMap<string, PublicKey> | undefined;
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let triedAt = Number.NEGATIVE_INFINITY;
  let running: Promise<void> | undefined;

  function refresh(): Promise<void> {
    running ??= fetchKeys(url)
      .then((fetched) => {
        keys = fetched;
        fetchedAt = now();
      })
      .catch((err: unknown) => log.warn({ err, event: 'jwks_failed' }, 'the keys of the issuer cannot be fetched'))
      .finally(() => {
        triedAt = now();
        running = undefined;
      });
    return running;
  }

  return async (kid) => {
    const mayTry = now() - triedAt >= RETRY_MS;
    const known = keys?.get(kid);
    if (known) {
      if (now() - fetchedAt >= FRESH_MS && mayTry) void refresh(); // this token does not wait for it
      return known;
    }
    if (mayTry || running) await refresh();
    if (!keys) throw new ApiError('unavailable', 'the keys of the token issuer cannot be fetched', { retryAfter: 30 });
    return keys.get(kid);
  };
}

async function fetchKeys(url: string): Promise<ReadonlyMap<string, PublicKey>> {
  const reply = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!reply.ok || !reply.body) throw new Error(`the JWKS URL answers ${reply.status}`);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of reply.body as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Error('the JWKS document is too large');
    chunks.push(chunk);
  }
  const { keys } = jwks.parse(JSON.parse(Buffer.concat(chunks).toString('utf8')));
  return new Map(keys.flatMap((key) => toPublicKey(key)));
}

/** A key of another use, kind or strength is no key of ours. */
function toPublicKey(jwk: Record<string, unknown>): [string, PublicKey][] {
  if (typeof jwk.kid !== 'string' || (jwk.use !== undefined && jwk.use !== 'sig')) return [];
  try {
    const key = createPublicKey({ key: jwk, format: 'jwk' });
    const algorithm = algorithmOf(key);
    if (jwk.alg !== undefined && jwk.alg !== algorithm) return [];
    return [[jwk.kid, { pem: key.export({ type: 'spki', format: 'pem' }).toString(), algorithm }]];
  } catch {
    return [];
  }
}

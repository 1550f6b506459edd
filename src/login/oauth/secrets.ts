/** Ids and secrets of OAuth. Of a secret only the SHA-256 is stored: each has 256 bits of its own. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

const makeId = (kind: string): string => `${kind}_${randomBytes(12).toString('hex')}`;
const makeSecret = (): string => randomBytes(32).toString('base64url');

export const makeClientId = (): string => makeId('client');
export const isClientId = (id: string): boolean => /^client_[0-9a-f]{24}$/.test(id);

export const makeGrantId = (): string => makeId('grt');
export const makeCode = makeSecret;

/** Names its grant, so that an old one is known as that. */
export const makeRefreshToken = (grant: string): string => `xmemo_${grant}.${makeSecret()}`;

/** Undefined for what is no refresh token. */
export const grantOf = (refreshToken: string): string | undefined =>
  /^xmemo_(grt_[0-9a-f]{24})\.[\w-]{43}$/.exec(refreshToken)?.[1];

export const sameHash = (a: Buffer, b: Buffer | null): boolean => b?.length === a.length && timingSafeEqual(a, b);

/** A SHA-256 in base64url, as S256 makes it. */
export const isChallenge = (text: string): boolean => /^[\w-]{43}$/.test(text);

export function proves(verifier: string, challenge: string): boolean {
  if (!/^[\w.~-]{43,128}$/.test(verifier)) return false;
  return sameHash(createHash('sha256').update(verifier).digest(), Buffer.from(challenge, 'base64url'));
}

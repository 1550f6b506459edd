/** Opaque tokens: their form, their hash. A secret is shown once; the database holds its SHA-256. */
import { createHash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';

/** `tok`: a token of an owner. `agt`: the token of a temporary agent. `team` has no secret. */
export type IdKind = 'tok' | 'agt' | 'team';

const ID_BYTES = 12;
const SECRET_BYTES = 32;
const FORM = /^xmemo_((tok|agt)_[0-9a-f]{24})\.[\w-]{43}$/;
const MANAGED_TEAM = /^team_[0-9a-f]{24}$/;

export const makeId = (kind: IdKind): string => `${kind}_${randomBytes(ID_BYTES).toString('hex')}`;

/** A token for an id: `xmemo_<id>.<secret>`, 256 bits of chance, no white space and no slash. */
export const makeToken = (id: string): string => `xmemo_${id}.${randomBytes(SECRET_BYTES).toString('base64url')}`;

export const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();

/** Takes as long for any two hashes. */
export const sameHash = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && timingSafeEqual(a, b);

export interface Parsed {
  readonly id: string;
  readonly kind: 'tok' | 'agt';
}

/** Undefined when it has not the form of a token of ours, whatever its length. */
export function parseToken(token: string): Parsed | undefined {
  const [, id, kind] = FORM.exec(token) ?? [];
  return id === undefined ? undefined : { id, kind: kind as Parsed['kind'] };
}

export const isOpaque = (token: string): boolean => token.startsWith('xmemo_');

/** Was this team made here? Then its membership is what counts; the name of any other team is the word of the tokens' issuer. */
export const isManagedTeam = (team: string): boolean => MANAGED_TEAM.test(team);

/** Read aloud and typed by people: no 0, 1, I, L, O, U. */
const ALPHABET = '23456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Four groups of four: 78 bits. */
export function makeClaimCode(): string {
  const groups = Array.from({ length: 4 }, () =>
    Array.from({ length: 4 }, () => ALPHABET[randomInt(ALPHABET.length)]).join(''),
  );
  return groups.join('-');
}

/** Names one claim that waits for the agent. */
export const makeConfirmation = (): string => randomBytes(SECRET_BYTES).toString('base64url');

/** As a person may have typed it. */
export const hashOfClaimCode = (code: string): Buffer => hashOf(code.toUpperCase().replace(/[^A-Z0-9]/g, ''));

/** Device codes and user codes. */
import { createHash, randomBytes, randomInt } from 'node:crypto';

/** Without vowels and look-alikes: no words, nothing to misread. 20^8 codes, and a guesser has ten tries. */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const LETTERS_OF_A_CODE = 8;

export const makeDeviceCode = (): string => randomBytes(32).toString('base64url');

export function makeUserCode(): string {
  const code = Array.from({ length: LETTERS_OF_A_CODE }, () => LETTERS[randomInt(LETTERS.length)]).join('');
  return `${code.slice(0, 4)}-${code.slice(4)}`;
}

/** As it was typed: in any case, with or without the hyphen. */
export function readUserCode(typed: string): string {
  const letters = typed.toUpperCase().replace(/[^A-Z]/g, '');
  return `${letters.slice(0, 4)}-${letters.slice(4)}`;
}

export const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();

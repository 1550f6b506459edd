/**
 * The id of a pack says what its reader holds, by ids and versions: nothing is kept for it, it holds on every replica and for as long as the
 * reader likes. It is no secret and gives no right: what it names is looked for under the token alone.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { invalid } from '../errors.ts';

/** A memory that a reader holds. Version 0: a section of a document, whose text never changes under its id. */
export interface Known {
  readonly id: string;
  readonly version: number;
}

/**
 * Memories that an id can name: two of the largest packs; the oldest are let go of, and would be sent again. With text answers the id is a header,
 * and proxies take 4 KB of those.
 */
const MAX_KNOWN = 100;

const PREFIX = 'pk_';
const ID_BYTES = 16;
const ENTRY_BYTES = ID_BYTES + 4;
const CHECK_BYTES = 4;

const checkOf = (entries: Buffer): Buffer =>
  createHash('sha256').update('pack').update(entries).digest().subarray(0, CHECK_BYTES);

/** `pk_`, then base64url of 20 bytes a memory and a checksum. */
export function writePackId(known: readonly Known[]): string {
  const entries = Buffer.alloc(ENTRY_BYTES * Math.min(MAX_KNOWN, known.length));
  for (const [i, { id, version }] of known.slice(0, MAX_KNOWN).entries()) {
    entries.write(id.replaceAll('-', ''), i * ENTRY_BYTES, 'hex');
    entries.writeUInt32BE(version, i * ENTRY_BYTES + ID_BYTES);
  }
  return PREFIX + Buffer.concat([checkOf(entries), entries]).toString('base64url');
}

/** @throws ApiError validation_error when it is not one of ours, or was cut */
export function readPackId(text: string): Known[] {
  const bytes = Buffer.from(text.slice(PREFIX.length), 'base64url');
  const entries = bytes.subarray(CHECK_BYTES);
  const whole = text.startsWith(PREFIX) && bytes.length >= CHECK_BYTES && entries.length % ENTRY_BYTES === 0;
  if (!whole || entries.length > MAX_KNOWN * ENTRY_BYTES || !checkOf(entries).equals(bytes.subarray(0, CHECK_BYTES))) {
    throw notOurs();
  }
  const known = Array.from({ length: entries.length / ENTRY_BYTES }, (_, i) => {
    const hex = entries.toString('hex', i * ENTRY_BYTES, i * ENTRY_BYTES + ID_BYTES);
    return {
      id: hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'),
      version: entries.readUInt32BE(i * ENTRY_BYTES + ID_BYTES),
    };
  });
  // the checksum is no signature: anybody can make one
  if (!known.every(({ id }) => z.uuid().safeParse(id).success)) throw notOurs();
  return known;
}

const notOurs = () => invalid('body', 'since_pack', 'is not the pack_id of an earlier pack: send it whole, as it came');

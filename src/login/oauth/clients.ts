/** Programs register themselves (RFC 7591) and get an id and no secret: they run on the machines of their users, where none can be kept. */
import { z } from 'zod';
import type { Deps } from '../../deps.ts';
import { isRedirectUri } from './redirects.ts';
import type { Refusal } from './refusal.ts';
import { makeClientId } from './secrets.ts';
import { type ClientRow, insertClient, sweep } from './store.ts';

const DAY_MS = 86_400_000;
/** A program that nobody approved or used for so long registers anew. */
const KEPT_MS = 180 * DAY_MS;

/** Whatever else a program says of itself is not needed, and not kept. */
const metadata = z.object({
  redirect_uris: z.array(z.string()).min(1).max(10),
  client_name: z
    .string()
    .max(256)
    .regex(/^[^\p{Cc}\p{Surrogate}]*$/u, 'must hold no control characters')
    .nullish(),
});

export async function registerClient(deps: Deps, given: unknown): Promise<ClientRow | Refusal> {
  const parsed = metadata.safeParse(given);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return { refused: 'invalid_client_metadata', why: `${issue!.path.join('.') || 'the body'}: ${issue!.message}` };
  }
  const { redirect_uris, client_name } = parsed.data;
  if (!redirect_uris.every(isRedirectUri)) {
    const why =
      'redirect_uris: each must be https, http on a loopback address, or a scheme of the program itself, without fragment, user and wildcard';
    return { refused: 'invalid_redirect_uri', why };
  }
  const now = deps.now();
  const client = { id: makeClientId(), name: client_name?.trim() || null, redirect_uris };
  await deps.db.admin((tx) => insertClient(tx, client, now));
  return client;
}

/** Approvals that have ended, and programs that nobody used for long. */
export async function sweepOauth({ db, now }: Deps): Promise<void> {
  const at = now();
  await db.admin((tx) => sweep(tx, at, new Date(at.getTime() - KEPT_MS)));
}

/** The device flow (RFC 8628): start, approve or deny, and the token, once. */
import type { Tx } from '../db/db.ts';
import type { Deps } from '../deps.ts';
import { ApiError } from '../errors.ts';
import type { Principal, TokenScope } from '../types.ts';
import { hashOf, makeDeviceCode, makeUserCode, readUserCode } from './codes.ts';
import { assertMayGrant, DEFAULT_SCOPES, type Granted, heldOf, readScopes, toGranted } from './granting.ts';
import { notGuessing } from './guesses.ts';
import { type DeviceRow, insertDevice, lockByDevice, lockByUserCode, notePoll, setStatus, sweep } from './store.ts';

const LIFE_SECONDS = 600;
const INTERVAL_SECONDS = 5;

/** Clocks and networks jitter: a poll this much early is no hurry. */
const GRACE_MS = 1_000;

/** Ended codes are kept so long, to tell "expired" from "unknown". */
const KEPT_MS = 86_400_000;

export interface Started {
  readonly deviceCode: string;
  readonly userCode: string;
  readonly interval: number;
  readonly expiresIn: number;
}

/** Scopes that are not known are left out, as OAuth has it; none: those of a memory client. */
export async function startDevice(
  deps: Deps,
  asked: { readonly clientId: string; readonly clientVersion: string | undefined; readonly scopes: readonly string[] },
): Promise<Started> {
  const now = deps.now();
  await sweepDevices(deps);
  const scopes = readScopes(asked.scopes);
  const deviceCode = makeDeviceCode();
  for (;;) {
    const userCode = makeUserCode();
    const made = await deps.db.admin((tx) =>
      insertDevice(tx, {
        device_hash: hashOf(deviceCode),
        user_code: userCode,
        client_id: asked.clientId,
        client_version: asked.clientVersion ?? null,
        scopes: scopes.length > 0 ? scopes : [...DEFAULT_SCOPES],
        interval_seconds: INTERVAL_SECONDS,
        created_at: now,
        expires_at: new Date(now.getTime() + LIFE_SECONDS * 1_000),
      }),
    );
    if (made) return { deviceCode, userCode, interval: INTERVAL_SECONDS, expiresIn: LIFE_SECONDS };
  }
}

/** Codes and counts of wrong ones that ended long ago. */
export async function sweepDevices({ db, now }: Deps): Promise<void> {
  await db.admin((tx) => sweep(tx, new Date(now().getTime() - KEPT_MS)));
}

export interface Asked {
  readonly clientId: string;
  readonly clientVersion: string | null;
  /** What a token would hold: asked for, and held by who approves. */
  readonly scopes: readonly TokenScope[];
}

/** What a code asks for, to be shown before it is approved. @throws ApiError not_found, insufficient_scope, rate_limited */
export function reviewDevice(deps: Deps, principal: Principal, typed: string): Promise<Asked> {
  return withCode(deps, principal, typed, async (row) => toAsked(row, principal));
}

/** @throws ApiError not_found, insufficient_scope, rate_limited */
export function decideDevice(
  deps: Deps,
  principal: Principal,
  typed: string,
  decision: 'approve' | 'deny',
): Promise<Asked> {
  return withCode(deps, principal, typed, async (row, tx) => {
    const asked = toAsked(row, principal);
    if (decision === 'deny') await setStatus(tx, row.device_hash, 'denied', null);
    else await setStatus(tx, row.device_hash, 'approved', toGranted(principal, asked.scopes));
    return asked;
  });
}

async function withCode<T>(
  deps: Deps,
  principal: Principal,
  typed: string,
  work: (row: DeviceRow, tx: Tx) => Promise<T>,
): Promise<T> {
  assertMayGrant(principal);
  return notGuessing(deps, `owner ${principal.owner}`, async (tx) => {
    const row = await lockByUserCode(tx, readUserCode(typed), deps.now());
    return row && { value: await work(row, tx) };
  });
}

function toAsked({ client_id, client_version, scopes }: DeviceRow, principal: Principal): Asked {
  return { clientId: client_id, clientVersion: client_version, scopes: heldOf(principal, scopes) };
}

export type Polled<Issued> =
  | { readonly issued: Issued }
  | { readonly refused: 'authorization_pending' | 'slow_down' | 'access_denied' | 'expired_token' | 'invalid_grant' };

/**
 * What `issue` makes of the approval, the first time that it is asked for: in the transaction that uses the code up, so that one that fails
 * can be tried again. @throws ApiError rate_limited, and whatever `issue` throws
 */
export async function pollDevice<Issued>(
  deps: Deps,
  deviceCode: string,
  address: string,
  issue: (tx: Tx, granted: Granted) => Promise<Issued>,
): Promise<Polled<Issued>> {
  const now = deps.now();
  const hash = hashOf(deviceCode);
  try {
    return await notGuessing<Polled<Issued>>(deps, `address ${address}`, async (tx) => {
      const row = await lockByDevice(tx, hash);
      if (!row) return undefined;
      if (row.status === 'used') return { value: { refused: 'invalid_grant' } as const };
      if (row.expires_at <= now) return { value: { refused: 'expired_token' } as const };
      if (row.status === 'denied') return { value: { refused: 'access_denied' } as const };
      if (row.status === 'approved') {
        await setStatus(tx, hash, 'used', null);
        return { value: { issued: await issue(tx, row.granted!) } };
      }
      const hurried =
        row.polled_at !== null && now.getTime() - row.polled_at.getTime() < row.interval_seconds * 1_000 - GRACE_MS;
      await notePoll(tx, hash, now, row.interval_seconds + (hurried ? INTERVAL_SECONDS : 0));
      return { value: { refused: hurried ? ('slow_down' as const) : ('authorization_pending' as const) } };
    });
  } catch (error) {
    if (error instanceof ApiError && error.code === 'not_found') return { refused: 'invalid_grant' };
    throw error;
  }
}

/** The statements of the device flow. They run as the connecting role: a code has no owner until it is approved. */
import type { Tx } from '../db/db.ts';
import { sql } from '../db/sql.ts';
import type { TokenScope } from '../types.ts';
import type { Granted } from './granting.ts';

export interface DeviceRow {
  readonly device_hash: Buffer;
  readonly user_code: string;
  readonly client_id: string;
  readonly client_version: string | null;
  readonly scopes: TokenScope[];
  readonly status: 'pending' | 'approved' | 'denied' | 'used';
  readonly granted: Granted | null;
  readonly interval_seconds: number;
  readonly polled_at: Date | null;
  readonly expires_at: Date;
}

export interface NewDevice
  extends Pick<
    DeviceRow,
    'device_hash' | 'user_code' | 'client_id' | 'client_version' | 'scopes' | 'interval_seconds' | 'expires_at'
  > {
  readonly created_at: Date;
}

/** False when the user code is taken. */
export async function insertDevice(tx: Tx, d: NewDevice): Promise<boolean> {
  const rows = await tx.query(sql`
    insert into device_codes (device_hash, user_code, client_id, client_version, scopes, interval_seconds, created_at, expires_at)
    values (${d.device_hash}, ${d.user_code}, ${d.client_id}, ${d.client_version}, ${d.scopes}::text[], ${d.interval_seconds}, ${d.created_at}, ${d.expires_at})
    on conflict (user_code) do nothing returning user_code`);
  return rows.length > 0;
}

/** Codes that ended long ago, and counts that nobody asks for. */
export async function sweep(tx: Tx, before: Date): Promise<void> {
  await tx.query(sql`delete from device_codes where expires_at < ${before}`);
  await tx.query(sql`delete from login_guesses where since < ${before}`);
}

/** Locked until commit, so that a code is used once. */
export async function lockByDevice(tx: Tx, hash: Buffer): Promise<DeviceRow | undefined> {
  const [row] = await tx.query<DeviceRow>(sql`select * from device_codes where device_hash = ${hash} for update`);
  return row;
}

/** A pending one. Locked until commit. */
export async function lockByUserCode(tx: Tx, code: string, now: Date): Promise<DeviceRow | undefined> {
  const [row] = await tx.query<DeviceRow>(
    sql`select * from device_codes where user_code = ${code} and status = 'pending' and expires_at > ${now} for update`,
  );
  return row;
}

export async function setStatus(
  tx: Tx,
  hash: Buffer,
  status: DeviceRow['status'],
  granted: Granted | null,
): Promise<void> {
  await tx.query(sql`
    update device_codes set status = ${status}, granted = ${granted ? JSON.stringify(granted) : null}::jsonb where device_hash = ${hash}`);
}

export async function notePoll(tx: Tx, hash: Buffer, at: Date, intervalSeconds: number): Promise<void> {
  await tx.query(
    sql`update device_codes set polled_at = ${at}, interval_seconds = ${intervalSeconds} where device_hash = ${hash}`,
  );
}

export async function countWrong(
  tx: Tx,
  guesser: Buffer,
  since: Date,
): Promise<{ wrong: number; since: Date } | undefined> {
  const [row] = await tx.query<{ wrong: number; since: Date }>(
    sql`select wrong, since from login_guesses where guesser = ${guesser} and since > ${since}`,
  );
  return row;
}

/** One more; a count older than `since` begins anew. */
export async function addWrong(tx: Tx, guesser: Buffer, now: Date, since: Date): Promise<void> {
  await tx.query(sql`
    insert into login_guesses as g (guesser, wrong, since) values (${guesser}, 1, ${now})
    on conflict (guesser) do update set
      wrong = case when g.since > ${since} then g.wrong + 1 else 1 end,
      since = case when g.since > ${since} then g.since else excluded.since end`);
}

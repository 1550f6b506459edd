/** The statements of OAuth. They run as the connecting role: a program has no owner, and a grant is found before its owner is known. */
import type { Tx } from '../../db/db.ts';
import { type Sql, sql } from '../../db/sql.ts';
import type { Granted } from '../granting.ts';

export interface ClientRow {
  readonly id: string;
  readonly name: string | null;
  readonly redirect_uris: readonly string[];
}

export interface GrantRow {
  readonly id: string;
  readonly client_id: string;
  readonly client_name: string | null;
  readonly granted: Granted;
  readonly redirect_uri: string;
  readonly challenge: string;
  readonly code_ends_at: Date;
  readonly refresh_hash: Buffer | null;
  readonly token_id: string | null;
  readonly ends_at: Date;
  readonly ended: boolean;
}

export async function insertClient(tx: Tx, client: ClientRow, now: Date): Promise<void> {
  await tx.query(sql`
    insert into oauth_clients (id, name, redirect_uris, used_at)
    values (${client.id}, ${client.name}, ${client.redirect_uris}::text[], ${now})`);
}

export async function findClient(tx: Tx, id: string): Promise<ClientRow | undefined> {
  const [row] = await tx.query<ClientRow>(sql`select id, name, redirect_uris from oauth_clients where id = ${id}`);
  return row;
}

/** Grants that ended by themselves, and programs that nobody used for long. */
export async function sweep(tx: Tx, now: Date, unusedSince: Date): Promise<void> {
  await tx.query(sql`delete from oauth_grants where ends_at < ${now}`);
  await tx.query(sql`delete from oauth_clients where used_at < ${unusedSince}`);
}

export interface NewGrant
  extends Pick<GrantRow, 'id' | 'client_id' | 'granted' | 'redirect_uri' | 'challenge' | 'code_ends_at' | 'ends_at'> {
  readonly code_hash: Buffer;
}

export async function insertGrant(tx: Tx, g: NewGrant, now: Date): Promise<void> {
  await tx.query(sql`
    insert into oauth_grants (id, client_id, granted, redirect_uri, challenge, code_hash, code_ends_at, ends_at)
    values (${g.id}, ${g.client_id}, ${JSON.stringify(g.granted)}::jsonb, ${g.redirect_uri}, ${g.challenge}, ${g.code_hash}, ${g.code_ends_at}, ${g.ends_at})`);
  await noteUse(tx, g.client_id, now);
}

export const byCode = (hash: Buffer): Sql => sql`g.code_hash = ${hash}`;
export const byId = (id: string): Sql => sql`g.id = ${id}`;
export const byToken = (id: string): Sql => sql`g.token_id = ${id}`;

/** Locked until commit, so that a code and a refresh token are used once. */
export async function lockGrant(tx: Tx, by: Sql): Promise<GrantRow | undefined> {
  const [row] = await tx.query<GrantRow>(sql`
    select g.id, g.client_id, c.name as client_name, g.granted, g.redirect_uri, g.challenge, g.code_ends_at, g.refresh_hash, g.token_id, g.ends_at,
      g.ended
    from oauth_grants g join oauth_clients c on c.id = g.client_id where ${by} for update of g`);
  return row;
}

export async function setTokens(
  tx: Tx,
  grant: Pick<GrantRow, 'id' | 'client_id'>,
  made: { readonly refresh_hash: Buffer; readonly token_id: string; readonly ends_at: Date },
  now: Date,
): Promise<void> {
  await tx.query(sql`
    update oauth_grants set refresh_hash = ${made.refresh_hash}, token_id = ${made.token_id}, ends_at = ${made.ends_at} where id = ${grant.id}`);
  await noteUse(tx, grant.client_id, now);
}

export async function setEnded(tx: Tx, id: string): Promise<void> {
  await tx.query(sql`update oauth_grants set ended = true where id = ${id}`);
}

async function noteUse(tx: Tx, client: string, now: Date): Promise<void> {
  await tx.query(sql`update oauth_clients set used_at = ${now} where id = ${client}`);
}

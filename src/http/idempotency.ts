/**
 * A write that is sent twice is done once. The key is claimed and the reply is kept in the very transaction of the write: either both are
 * there or neither, so that a crash between commit and reply replays. The unique key of the claim makes concurrent equal requests wait for
 * the first and take its reply. A request that fails keeps nothing and may be sent again.
 */
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { spaceToWrite } from '../db/boundary.ts';
import type { Db, Tx } from '../db/db.ts';
import { ensureSpace } from '../db/spaces.ts';
import { sql } from '../db/sql.ts';
import type { Deps } from '../deps.ts';
import { ApiError, invalid } from '../errors.ts';
import { canonicalJson } from '../text/json.ts';
import type { Principal } from '../types.ts';
import { principalOf } from './auth.ts';
import { CANONICAL_MOUNT, CLIENT_MOUNTS } from './openapi.ts';
import { withWarnings } from './wire.ts';

const KEPT_MS = 24 * 3_600_000;
const MAX_KEY = 256;

/** A kept body holds ids and outcomes and never memory text: it would outlive the forgetting of that text. */
export interface Sent<Body> {
  readonly status: number;
  readonly body: Body;
}

interface Key {
  readonly space: number;
  readonly owner: string;
  readonly route: string;
  readonly key: string;
  readonly hash: Buffer;
  readonly now: Date;
}

export interface OnceOptions {
  /** How `run` opens its one writing transaction: as the service's role, or as the connecting one (rows of several owners). */
  readonly door?: 'transaction' | 'admin';
  /** Bytes that belong to the request and stand beside its body: a file. */
  readonly file?: Uint8Array | undefined;
  /** Where a page of a long transfer begins: clients send all its pages under one key, and each is done once. */
  readonly page?: number | undefined;
}

/**
 * Runs a write and answers with its reply; without a key it just runs. `run` must use the deps that it is given, write in exactly one
 * transaction, and return what that transaction returned; `toReply` is pure.
 * @throws ApiError idempotency_conflict when the key came with another request before; validation_error for a key that cannot be one
 */
export async function once<T, Body extends object>(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  run: (deps: Deps) => Promise<T>,
  toReply: (result: T) => Sent<Body>,
  { door = 'transaction', ...besides }: OnceOptions = {},
): Promise<Body> {
  const key = await readKey(deps, request, besides);
  const sent = key ? await runOnce(deps, key, door, run, toReply) : { ...toReply(await run(deps)), replayed: false };
  reply.code(sent.status);
  if (sent.replayed) reply.header('idempotent-replayed', 'true');
  return withWarnings(request, sent.body);
}

/**
 * For handlers whose reply is read after the write, or that write more than once: deps under which each write transaction of a repeated
 * request is done once. The repetition gets what that transaction returned, and goes on from there to a reply of the present state. What a
 * write transaction returns must be JSON (fields that end in `_at` may be dates) and hold no memory text.
 */
export async function repeatable(deps: Deps, request: FastifyRequest): Promise<Deps> {
  const first = await readKey(deps, request);
  if (!first) return deps;
  let writes = 0;
  const transaction: Db['transaction'] = async (access, work) => {
    if (access.readOnly) return deps.db.transaction(access, work);
    const key = { ...first, route: `${first.route} ${++writes}` };
    const spaces = [...new Set([...access.spaces, key.space])];
    try {
      return await deps.db.transaction({ ...access, spaces }, async (tx) => {
        await claim(tx, key);
        const result = await work(tx);
        await keep(tx, key, { status: 200, body: { result } });
        return result;
      });
    } catch (error) {
      if (!(error instanceof Replay)) throw error;
      return revive((error.outcome as Outcome<{ result?: unknown }>).body.result) as Awaited<ReturnType<typeof work>>;
    }
  };
  return { ...deps, db: { ...deps.db, transaction } };
}

/** JSON has no dates. */
function revive(result: unknown): unknown {
  if (typeof result !== 'object' || result === null) return result;
  const revived = Object.entries(result).map(([name, value]) => [
    name,
    name.endsWith('_at') && typeof value === 'string' ? new Date(value) : value,
  ]);
  return Object.fromEntries(revived);
}

type Outcome<Body> = Sent<Body> & { readonly replayed: boolean };

async function runOnce<T, Body extends object>(
  deps: Deps,
  key: Key,
  door: 'transaction' | 'admin',
  run: (deps: Deps) => Promise<T>,
  toReply: (result: T) => Sent<Body>,
): Promise<Outcome<Body>> {
  const kept = () => deps.db.transaction({ spaces: [key.space], readOnly: true }, (tx) => findKept<Body>(tx, key));
  // Before anything is embedded; the claim below decides.
  const before = await kept();
  if (before) return before;
  let sent: Sent<Body> | undefined;
  const claimed = <R>(work: (tx: Tx) => Promise<R>) => {
    if (sent) throw new Error('a write under an idempotency key has more than one transaction');
    return async (tx: Tx) => {
      await claim(tx, key);
      const result = await work(tx);
      const made = toReply(result as unknown as T);
      await keep(tx, key, made);
      return { result, made };
    };
  };
  const transaction: Db['transaction'] = async (access, work) => {
    if (access.readOnly) return deps.db.transaction(access, work);
    const spaces = [...new Set([...access.spaces, key.space])];
    const { result, made } = await deps.db.transaction({ ...access, spaces }, claimed(work));
    sent = made;
    return result;
  };
  const admin: Db['admin'] = async (work) => {
    const { result, made } = await deps.db.admin(claimed(work));
    sent = made;
    return result;
  };
  try {
    const result = await run({ ...deps, db: { ...deps.db, ...(door === 'admin' ? { admin } : { transaction }) } });
    return { ...(sent ?? toReply(result)), replayed: false };
  } catch (error) {
    if (error instanceof Replay) return error.outcome as Outcome<Body>;
    // What is to be deleted may be gone because an equal request has just done it.
    const done = error instanceof ApiError ? await kept() : undefined;
    if (done) return done;
    throw error;
  }
}

/** Carries the kept reply out of the transaction that need not run. */
class Replay extends Error {
  readonly outcome: Outcome<object>;
  constructor(outcome: Outcome<object>) {
    super('replayed');
    this.outcome = outcome;
  }
}

/** Waits for whoever holds the key; an expired one is taken over. */
async function claim(tx: Tx, key: Key): Promise<void> {
  const { space, owner, route, hash, now } = key;
  const expires = new Date(now.getTime() + KEPT_MS);
  const claimed = await tx.query(sql`
    insert into idempotency_keys as k (space_id, owner_id, route, key, request_hash, status, reply, expires_at)
    values (${space}, ${owner}, ${route}, ${key.key}, ${hash}, 0, 'null', ${expires})
    on conflict (space_id, owner_id, route, key) do update set request_hash = excluded.request_hash, status = 0, expires_at = excluded.expires_at
      where k.expires_at <= ${now}
    returning 1`);
  if (claimed.length > 0) return;
  const kept = await findKept(tx, key);
  if (!kept) throw new Error('an idempotency key is taken but cannot be read');
  throw new Replay(kept);
}

async function findKept<Body extends object>(tx: Tx, key: Key): Promise<Outcome<Body> | undefined> {
  const [row] = await tx.query<{ request_hash: Buffer; status: number; reply: Body }>(sql`
    select request_hash, status, reply from idempotency_keys
    where space_id = ${key.space} and owner_id = ${key.owner} and route = ${key.route} and key = ${key.key} and expires_at > ${key.now}`);
  if (!row) return undefined;
  if (!key.hash.equals(row.request_hash)) throw new ApiError('idempotency_conflict');
  return { status: row.status, body: row.reply, replayed: true };
}

async function keep<Body>(tx: Tx, key: Key, { status, body }: Sent<Body>): Promise<void> {
  await tx.query(sql`
    update idempotency_keys set status = ${status}, reply = ${JSON.stringify(body)}::json
    where space_id = ${key.space} and owner_id = ${key.owner} and route = ${key.route} and key = ${key.key}`);
}

/** The key of a request: clients send it in two headers and the body at once. */
async function readKey(
  deps: Deps,
  request: FastifyRequest,
  { file, page = 0 }: Pick<OnceOptions, 'file' | 'page'> = {},
): Promise<Key | undefined> {
  const { idempotency_key: inBody, ...body } = (request.body ?? {}) as Record<string, unknown>;
  const copies = [request.headers['idempotency-key'], request.headers['x-idempotency-key'], inBody].flatMap((copy) =>
    copy === undefined || copy === '' ? [] : [copy],
  );
  const [key] = copies;
  if (key === undefined) return undefined;
  if (typeof key !== 'string' || key.length > MAX_KEY || copies.some((copy) => copy !== key)) {
    throw invalid(
      'header',
      'Idempotency-Key',
      `must be one text of at most ${MAX_KEY} characters, the same in every place`,
    );
  }
  const principal = principalOf(request);
  return {
    space: await ensureSpace(deps.db, spaceToWrite(principal, undefined)),
    owner: principal.owner,
    route: page === 0 ? routeOf(request) : `${routeOf(request)} from ${page}`,
    key,
    hash: createHash('sha256')
      .update(canonicalJson([body, request.query, limitsOf(principal)]))
      .update(file ?? '')
      .digest(),
    now: deps.now(),
  };
}

/** A token with other limits has sent another request: what the first one was told may be about what it must not see. */
function limitsOf({ buckets, scopes, teams, allTeams }: Principal): object {
  return { buckets, scopes, ...(!allTeams && { teams }) };
}

const MOUNT = new RegExp(`^(${[CANONICAL_MOUNT, ...CLIENT_MOUNTS].join('|')})(?=/)`);

/** The same route under every mount, ids included. */
function routeOf(request: FastifyRequest): string {
  const path = request.url.split('?')[0]!.replace(/\/+/g, '/').replace(/\/$/, '');
  return `${request.method} ${path.replace(MOUNT, '')}`;
}

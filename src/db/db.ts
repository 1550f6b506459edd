/** One door to the database, the same for a Postgres server and for the embedded database. `pg` is imported in this folder only. */
import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import pg from 'pg';
import { ApiError } from '../errors.ts';
import { compile, type Sql, sql } from './sql.ts';

export interface Tx {
  query<Row>(statement: Sql): Promise<Row[]>;
}

export interface Access {
  /** The spaces that row-level security lets through. */
  readonly spaces: readonly number[];
  /** The owner whose rows of tables without a space row-level security lets through. Absent: nobody's. */
  readonly owner?: string;
  readonly readOnly?: boolean;
}

export interface Db {
  readonly kind: 'postgres' | 'embedded';
  /** One transaction as the service's role: sees `access.spaces`, the rows of `access.owner` and nothing else. A deadlock or a serialisation failure runs `work` again. */
  transaction<T>(access: Access, work: (tx: Tx) => Promise<T>): Promise<T>;
  /** One transaction as the connecting role: for migrations, spaces and health, never for a caller's data. */
  admin<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Of the pool: open connections, those that are free, and transactions that wait for one. */
  connections(): { readonly open: number; readonly idle: number; readonly waiting: number };
  /** Vacuums one table, outside of any transaction; the name is one of ours, never a caller's. */
  vacuum(table: string): Promise<void>;
  close(): Promise<void>;
}

/** The role that requests run as: no superuser, no table owner, no BYPASSRLS. Made by the first migration. */
const SERVICE_ROLE = 'xmemo_service';

const RETRIES = 3;
const RETRYABLE = new Set(['40001', '40P01']); // serialization_failure, deadlock_detected
const OUT_OF_REACH = /^(08|53|57P|ECONN|ENOTFOUND|ETIMEDOUT|EPIPE|EAI_AGAIN|ENOENT)/;
/** What pg says without a code: no connection in time, or one that was lost, at the statement or before it. */
const LOST = /timeout exceeded when trying to connect|Connection terminated|connection error and is not queryable/;
const QUERY_CANCELED = '57014';

/** Work of the embedded database without a turn for others. */
const TURN_MS = 20;

/** Statements with a name are parsed once a connection (1.2 to 3 times faster); past this many texts they go unnamed, to bound the server's memory. */
const MAX_NAMED = 200;

export function makeDb(kind: Db['kind'], pool: pg.Pool, closeServer: () => Promise<void> = async () => {}): Db {
  const nameOf = makeNames();

  async function run<T>(begin: string, work: (tx: Tx) => Promise<T>): Promise<T> {
    const client = await pool.connect();
    let broken: Error | undefined;
    // Told also while nothing is asked of the connection, and an error event that nobody hears ends the process.
    const lose = (error: Error): void => {
      broken = error;
    };
    client.on('error', lose);
    try {
      await client.query(begin);
      const result = await work(kind === 'embedded' ? inTurns(client, nameOf) : txOf(client, nameOf));
      await client.query('commit');
      return result;
    } catch (error) {
      // A connection that cannot roll back is of unknown state: it leaves the pool.
      await client.query('rollback').catch(lose);
      throw error;
    } finally {
      client.off('error', lose); // the pool listens again
      client.release(broken);
    }
  }

  return {
    kind,
    transaction: (access, work) => retrying(() => run(beginAs(access), work)),
    admin: (work) => retrying(() => run('begin', work)),
    connections: () => ({ open: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    async vacuum(table) {
      await pool.query(`vacuum (analyze) ${pg.escapeIdentifier(table)}`);
    },
    async close() {
      await pool.end();
      await closeServer();
    },
  };
}

type NameOf = (text: string) => string | undefined;

/** From its second time on a text has a name: what comes once, a migration or an odd mix of filters, takes none of the few. */
function makeNames(): NameOf {
  const names = new Map<string, string>();
  const once = new LRUCache<string, true>({ max: MAX_NAMED });
  return (text) => {
    const known = names.get(text);
    if (known || names.size >= MAX_NAMED) return known;
    if (!once.delete(text)) {
      once.set(text, true);
      return undefined;
    }
    const name = createHash('sha1').update(text).digest('base64url');
    names.set(text, name);
    return name;
  };
}

function txOf(client: pg.PoolClient, nameOf: NameOf): Tx {
  return {
    async query<Row>(statement: Sql) {
      const { text, values } = compile(statement);
      const name = nameOf(text);
      const { rows } = await client.query({ text, values: [...values], ...(name && { name }) });
      return rows as Row[];
    },
  };
}

/** The embedded database works in this thread and never waits: a long transaction must let others have a turn, or the whole process stands still. */
function inTurns(client: pg.PoolClient, nameOf: NameOf): Tx {
  const tx = txOf(client, nameOf);
  let turned = performance.now();
  return {
    async query<Row>(statement: Sql) {
      const rows = await tx.query<Row>(statement);
      if (performance.now() - turned > TURN_MS) {
        await nextTurn();
        turned = performance.now();
      }
      return rows;
    },
  };
}

async function retrying<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (RETRYABLE.has(codeOf(error)) && tries < RETRIES) continue;
      throw translate(error);
    }
  }
}

/** Begin and identity in one round trip, so they stand in the text: the spaces as whole numbers and nothing else, the owner as hexadecimal digits. */
function beginAs({ spaces, owner, readOnly = false }: Access): string {
  if (!spaces.every(Number.isSafeInteger)) throw new TypeError('a space is not a whole number');
  const begin = readOnly ? 'begin isolation level repeatable read read only' : 'begin';
  const hex = Buffer.from(owner ?? '').toString('hex');
  const asOwner =
    owner === undefined ? '' : `, set_config('app.owner', convert_from(decode('${hex}', 'hex'), 'utf8'), true)`;
  return `${begin}; select set_config('role', '${SERVICE_ROLE}', true), set_config('app.spaces', '{${spaces.join(',')}}', true)${asOwner}`;
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** Two rows would have one key. Callers for whom that is no fault of ours say what it means. */
export const isUniqueViolation = (error: unknown): boolean => codeOf(error) === '23505';

/** Database and socket errors become rows of the table of errors, by code and never by class (the embedded database has its own classes). */
function translate(error: unknown): unknown {
  if (error instanceof ApiError) return error;
  const code = codeOf(error);
  if (code === QUERY_CANCELED) return new ApiError('timeout', undefined, { cause: error, retryAfter: 1 });
  const lost = error instanceof Error && LOST.test(error.message);
  if (OUT_OF_REACH.test(code) || RETRYABLE.has(code) || lost)
    return new ApiError('unavailable', undefined, { cause: error, retryAfter: 1 });
  // it will be logged, and these quote the row: text of a memory, a key
  if (error instanceof Error) for (const field of QUOTING) Reflect.deleteProperty(error, field);
  return error;
}

const QUOTING = ['detail', 'where', 'internalQuery'];

export interface PostgresOptions {
  readonly url: string;
  readonly poolSize: number;
  readonly statementTimeoutMs: number;
  readonly onError: (error: Error) => void;
}

/** A waiting request gives up after this long without a free connection. */
const CONNECT_TIMEOUT_MS = 5_000;

/** A transaction of which the server hears nothing for this long is ended: a process that was cut off from it would hold its locks for hours. */
const ABANDONED_MS = 300_000;

export function connectPostgres({ url, poolSize, statementTimeoutMs, onError }: PostgresOptions): Db {
  const pool = new pg.Pool({
    connectionString: url,
    max: poolSize,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: ABANDONED_MS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true, // else a server that is gone without a word is noticed after a quarter of an hour
    application_name: 'xmemo-api',
    // Short queries: no JIT, and no planning of its own for each of them (a third of a small search). The other two keep the covering index
    // of the vector arm for an owner who holds much of the table.
    options:
      '-c jit=off -c plan_cache_mode=force_generic_plan -c random_page_cost=1.1 -c max_parallel_workers_per_gather=0',
  });
  pool.on('error', onError);
  return makeDb('postgres', pool);
}

/** Cheapest statement that proves the database answers. */
export const ping = (db: Db): Promise<void> => db.admin(async (tx) => void (await tx.query(sql`select 1`)));

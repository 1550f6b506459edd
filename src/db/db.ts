/** One door to the database, the same for a Postgres server and for the embedded database. `pg` is imported in this folder only. */
import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import pg from 'pg';
import { isLost, isRetryable, translate } from './failures.ts';
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
  /** One transaction as the connecting role: for spaces and health, never for a caller's data. */
  admin<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** The same without a limit of time. */
  migration<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Of the pool: open connections, those that are free, and transactions that wait for one. */
  connections(): { readonly open: number; readonly idle: number; readonly waiting: number };
  /** Vacuums one table, or brings the planner's figures up to date, outside of any transaction; its name is one of ours, never a caller's. */
  maintain(how: 'vacuum (analyze)' | 'analyze', table: string): Promise<void>;
  close(): Promise<void>;
}

/** The role that requests run as: no superuser, no table owner, no BYPASSRLS. Made by the first migration. */
const SERVICE_ROLE = 'xmemo_service';

const RETRIES = 3;

/** Work of the embedded database without a turn for others. */
const TURN_MS = 20;

/**
 * A statement that should have been stopped this long ago is given up, and its connection with it: a server that is gone without a word would
 * hold the whole pool for a quarter of an hour.
 */
const SILENCE_MS = 5_000;
/** Who hears of the silence later than this stood still himself, as a machine that slept. */
const LATE_MS = 1_000;

/** Statements with a name are parsed once a connection (1.2 to 3 times faster); past this many texts they go unnamed, to bound the server's memory. */
const MAX_NAMED = 200;

export interface DbOptions {
  /** The server's own limit of a statement; 0: none. */
  readonly statementTimeoutMs?: number;
  readonly closeServer?: () => Promise<void>;
  /** The embedded database has stopped under a statement, as where it can write no log any more: only a new start brings it back. */
  readonly onStop?: (cause: unknown) => void;
}

/** Milliseconds that the client waits for a statement; 0: no limit. */
interface Limit {
  readonly query_timeout: number;
}

/** Undoing waits for nothing. */
const AT_ONCE: Limit = { query_timeout: SILENCE_MS };

export function makeDb(
  kind: Db['kind'],
  pool: pg.Pool,
  { statementTimeoutMs = 0, closeServer = async () => {}, onStop = () => {} }: DbOptions = {},
): Db {
  const limit: Limit = { query_timeout: statementTimeoutMs > 0 ? statementTimeoutMs + SILENCE_MS : 0 };
  // A connection that is lost under a transaction fails its statement; the event besides would end the process if nobody heard it.
  pool.on('connect', (client) => client.on('error', () => {}));
  const nameOf = makeNames();

  async function run<T>(begin: string, work: (tx: Tx) => Promise<T>, within = limit): Promise<T> {
    const client = await pool.connect();
    let broken: Error | undefined;
    try {
      await client.query({ text: begin, ...within });
      const tx = txOf(client, nameOf, within);
      const result = await work(kind === 'embedded' ? inTurns(tx) : tx);
      await client.query({ text: 'commit', ...within });
      return result;
    } catch (error) {
      // A connection that cannot roll back is of unknown state: it leaves the pool.
      if (isLost(error)) broken = error;
      else {
        const asked = performance.now();
        await client.query({ text: 'rollback', ...AT_ONCE }).catch((cause: Error) => {
          broken = cause;
          const inTime = performance.now() - asked < SILENCE_MS + LATE_MS;
          if (kind === 'embedded' && isLost(cause) && inTime) onStop(translate(error));
        });
      }
      throw error;
    } finally {
      client.release(broken);
    }
  }

  return {
    kind,
    transaction: (access, work) => retrying(() => run(beginAs(access), work)),
    admin: (work) => retrying(() => run('begin', work)),
    migration: (work) => retrying(() => run('begin; set local statement_timeout = 0', work, { query_timeout: 0 })),
    connections: () => ({ open: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    async maintain(how, table) {
      await pool.query(`${how} ${pg.escapeIdentifier(table)}`);
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

function txOf(client: pg.PoolClient, nameOf: NameOf, within: Limit): Tx {
  return {
    async query<Row>(statement: Sql) {
      const { text, values } = compile(statement);
      const name = nameOf(text);
      const { rows } = await client.query({ text, values: [...values], ...within, ...(name && { name }) });
      return rows as Row[];
    },
  };
}

/** The embedded database works in this thread and never waits: a long transaction must let others have a turn, or the whole process stands still. */
function inTurns(tx: Tx): Tx {
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
      if (isRetryable(error) && tries < RETRIES) continue;
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
  pool.on('error', (error) => {
    Reflect.deleteProperty(error, 'client'); // it will be logged, and this is the whole connection, the key to cancel on it too
    onError(error);
  });
  return makeDb('postgres', pool, { statementTimeoutMs });
}

/** Cheapest statement that proves the database answers. */
export const ping = (db: Db): Promise<void> => db.admin(async (tx) => void (await tx.query(sql`select 1`)));

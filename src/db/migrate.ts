/** Runs migrations/NNNN_name.sql in order, each in one transaction with the row that records it. Forward only. */
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Db, Tx } from './db.ts';
import { Sql, sql } from './sql.ts';

/** src/db and dist/db are equally deep below the folder that holds migrations/. */
const FOLDER = fileURLToPath(new URL('../../migrations/', import.meta.url));

/** Any number that no other application on the server uses: replicas that start at once migrate one after another. */
const LOCK = 7_265_663_001;

export interface Migration {
  readonly name: string;
  readonly text: string;
}

/** In order. */
export const migrationNames = async (): Promise<string[]> =>
  (await readdir(FOLDER)).filter((name) => /^\d{4}_\w+\.sql$/.test(name)).sort();

async function readMigrations(): Promise<Migration[]> {
  const read = async (name: string) => ({ name, text: await readFile(`${FOLDER}${name}`, 'utf8') });
  return Promise.all((await migrationNames()).map(read));
}

/** Returns the names that were run now. */
export async function migrate(db: Db, migrations?: readonly Migration[]): Promise<string[]> {
  const ran: string[] = [];
  for (const migration of migrations ?? (await readMigrations())) {
    // the limit is that of requests: a migration of a large table, or the wait for another replica's, takes its time
    await db.migration(async (tx) => {
      await tx.query(sql`select pg_advisory_xact_lock(${LOCK}::bigint)`);
      await tx.query(
        sql`create table if not exists schema_migrations (name text primary key, at timestamptz not null default now())`,
      );
      if ((await recorded(tx)).has(migration.name)) return;
      for (const statement of statements(migration.text)) await tx.query(new Sql([statement], []));
      await tx.query(sql`insert into schema_migrations (name) values (${migration.name})`);
      ran.push(migration.name);
    });
  }
  return ran;
}

/** Names that are not yet in the database. Reads only: every probe of readiness asks. */
export async function pendingMigrations(db: Db): Promise<string[]> {
  const all = await migrationNames();
  const done = await db.admin(async (tx) => {
    const [row] = await tx.query<{ there: boolean }>(sql`select to_regclass('schema_migrations') is not null as there`);
    return row?.there ? recorded(tx) : new Set<string>();
  });
  return all.filter((name) => !done.has(name));
}

async function recorded(tx: Tx): Promise<Set<string>> {
  const rows = await tx.query<{ name: string }>(sql`select name from schema_migrations`);
  return new Set(rows.map((row) => row.name));
}

/** A prepared statement takes one statement: cut at `;` line ends outside `$$` bodies. */
function statements(text: string): string[] {
  const out: string[] = [];
  let open = '';
  for (const line of text.split('\n')) {
    open += `${line}\n`;
    const inBody = (open.match(/\$\$/g)?.length ?? 0) % 2 === 1;
    if (!inBody && /;\s*(--.*)?$/.test(line)) {
      out.push(open);
      open = '';
    }
  }
  if (open.replace(/--.*$/gm, '').trim()) out.push(open);
  return out;
}

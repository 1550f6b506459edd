/** The embedded database: Postgres in this process (PGlite), its folder on disk, one connection, one process a folder. */
import path from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { createPgConfig } from '@electric-sql/pglite/node-postgres';
import { vector } from '@electric-sql/pglite-pgvector';
import pg from 'pg';
import { type Db, type DbOptions, makeDb } from './db.ts';
import { lockFolder } from './folder-lock.ts';

/** `folder` undefined: in memory, for tests. `onStop`: see DbOptions. @throws FolderInUse */
export async function openEmbedded(folder?: string, onStop?: DbOptions['onStop']): Promise<Db> {
  const unlock = folder ? await lockFolder(folder) : async () => {};
  try {
    const options = { extensions: { vector } };
    const server = await (folder
      ? PGlite.create(path.join(folder, 'pg'), options).catch(cannotStart(folder))
      : PGlite.create(options));
    await server.exec(
      `set random_page_cost = 1.1; set jit = off; set max_parallel_workers_per_gather = 0; set plan_cache_mode = force_generic_plan`,
    );
    const pool = new pg.Pool({ ...createPgConfig(server), max: 1 } as unknown as pg.PoolConfig);
    const closeServer = async () => {
      await server.close();
      await unlock();
    };
    return makeDb('embedded', pool, { closeServer, ...(onStop && { onStop }) });
  } catch (error) {
    await unlock();
    throw error;
  }
}

/** PGlite says little of it, or nothing. */
const cannotStart = (folder: string) => (cause: { readonly message?: string }) => {
  const where = path.resolve(folder, 'pg');
  const why = cause.message ? ` (${cause.message})` : '';
  throw new Error(`the embedded database in ${where} does not start${why}; is there space on the disk?`, { cause });
};

/** The embedded database: Postgres in this process (PGlite), its folder on disk, one connection, one process a folder. */
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { createPgConfig } from '@electric-sql/pglite/node-postgres';
import { vector } from '@electric-sql/pglite-pgvector';
import pg from 'pg';
import { type Db, makeDb } from './db.ts';

/** `folder` undefined: in memory, for tests. @throws FolderInUse */
export async function openEmbedded(folder?: string): Promise<Db> {
  const unlock = folder ? await lockFolder(folder) : async () => {};
  try {
    const options = { extensions: { vector } };
    const server = await (folder ? PGlite.create(path.join(folder, 'pg'), options) : PGlite.create(options));
    await server.exec(
      `set random_page_cost = 1.1; set jit = off; set max_parallel_workers_per_gather = 0; set plan_cache_mode = force_generic_plan`,
    );
    const pool = new pg.Pool({ ...createPgConfig(server), max: 1 } as unknown as pg.PoolConfig);
    return makeDb('embedded', pool, async () => {
      await server.close();
      await unlock();
    });
  } catch (error) {
    await unlock();
    throw error;
  }
}

class FolderInUse extends Error {
  override readonly name = 'FolderInUse';
}

/**
 * PGlite has no lock of its own: a second process would open the folder without a word and corrupt it.
 * The lock names the process by id and start time, so that a lock left by a killed process, whose id may be in use again, is taken over.
 */
async function lockFolder(folder: string): Promise<() => Promise<void>> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = path.join(folder, 'lock');
  const mine = `${file}.${process.pid}`;
  await writeFile(mine, JSON.stringify({ pid: process.pid, started: await startTime(process.pid) }), { mode: 0o600 });
  for (let tries = 0; tries < 2; tries++) {
    try {
      await link(mine, file); // whole or not at all, and never over a lock that is there
      await rm(mine);
      return () => rm(file, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      const holder = parseLock(await readFile(file, 'utf8').catch(() => ''));
      if (holder && holder.started !== null && (await startTime(holder.pid)) === holder.started) {
        await rm(mine);
        throw new FolderInUse(
          `the data folder ${path.resolve(folder)} is in use by process ${holder.pid}; stop it or set another DATA_DIR`,
        );
      }
      await rm(file, { force: true });
    }
  }
  throw new FolderInUse(`the data folder ${path.resolve(folder)} is being opened by another process`);
}

function parseLock(text: string): { pid: number; started: string | null } | null {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** When a process started, as an opaque text; null when there is no such process. Linux tells it exactly, elsewhere being alive must do. */
async function startTime(pid: number): Promise<string | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  if (stat) return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  try {
    process.kill(pid, 0);
    return 'alive';
  } catch {
    return null;
  }
}

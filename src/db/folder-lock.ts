/** One process a data folder: PGlite has no lock of its own, and a second process would open the folder without a word and corrupt it. */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

class FolderInUse extends Error {
  override readonly name = 'FolderInUse';
}

/** How long a process waits for another one, which found the folder at the same moment, to give it up. */
const PAUSE_MS = 50;
const TRIES = 20;

/**
 * Each process puts down a file of its own and then looks for those of others: of two, the later one sees the earlier one's file, so never do
 * both go on. The file of a killed process can be deleted by anybody at any time, since no other process has its name.
 * @throws FolderInUse
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const mine = `lock.${process.pid}.${await startTime(process.pid)}`;
  const unlock = () => rm(path.join(folder, mine), { force: true });
  try {
    await writeFile(path.join(folder, mine), '', { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw inUse(folder, process.pid);
    throw error;
  }
  for (let tries = 1; ; tries++) {
    const others = await othersIn(folder, mine);
    if (others.length === 0) return unlock;
    // Of those that come at once the lowest id waits: the others give up.
    if (tries === TRIES || others.some((pid) => pid < process.pid)) {
      await unlock();
      throw inUse(folder, others[0]!);
    }
    await sleep(PAUSE_MS);
  }
}

const inUse = (folder: string, pid: number): FolderInUse =>
  new FolderInUse(
    `the data folder ${path.resolve(folder)} is in use by process ${pid}; stop it or set another DATA_DIR`,
  );

/** Processes that hold the folder or are about to; files of those that are no more are deleted. */
async function othersIn(folder: string, mine: string): Promise<number[]> {
  const others: number[] = [];
  for (const file of await readdir(folder)) {
    // The start time, since the id of a killed process may be in use again.
    const [, pid, started] = /^lock\.(\d+)\.(\w+)$/.exec(file) ?? [];
    if (pid === undefined || file === mine) continue;
    if ((await startTime(Number(pid))) === started) others.push(Number(pid));
    else await rm(path.join(folder, file), { force: true });
  }
  return others;
}

/** When a process started, as an opaque word; null when there is no such process. Linux tells it exactly, elsewhere being alive must do. */
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

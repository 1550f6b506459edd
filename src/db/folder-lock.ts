/** One process a data folder: PGlite has no lock of its own, and a second process would open the folder without a word and corrupt it. */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export class FolderInUse extends Error {
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
  const unlock = await putDown(folder, mine);
  for (let tries = 1; ; tries++) {
    const others = await othersIn(folder, mine);
    if (others.length === 0) return unlock;
    // Of those that come at once the first by name waits: the others give up.
    if (tries === TRIES || others.some(({ file }) => file < mine)) {
      await unlock();
      throw inUse(folder, others[0]!.who);
    }
    await sleep(PAUSE_MS);
  }
}

const inUse = (folder: string, who: string): FolderInUse =>
  new FolderInUse(`the data folder ${path.resolve(folder)} is in use by ${who}; stop it or set another DATA_DIR`);

/**
 * A socket, where the file system takes one and its path is short enough: it answers for as long as the process lives, also to a process of
 * another container, which knows nothing of this one's id. Elsewhere an empty file.
 */
async function putDown(folder: string, mine: string): Promise<() => Promise<void>> {
  const file = path.join(folder, mine);
  const address = addressOf(file);
  const server = createServer((socket) => socket.destroy()).unref();
  const listening = await new Promise<boolean>((done) => {
    if (address === undefined) return done(false);
    server.once('error', () => done(false));
    server.listen(address, () => done(true));
  });
  if (!listening) {
    await writeFile(file, '', { mode: 0o600, flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'EEXIST' ? inUse(folder, `process ${process.pid}`) : error;
    });
  }
  return async () => {
    if (listening) await new Promise((done) => server.close(done));
    await rm(file, { force: true });
  };
}

/** What kernels take of an address, and Node cuts off without a word. */
const MAX_ADDRESS = 100;

const addressOf = (file: string): string | undefined =>
  [path.resolve(file), path.relative('.', file)].find((address) => Buffer.byteLength(address) <= MAX_ADDRESS);

/** Processes that hold the folder or are about to; files of those that are no more are deleted. */
async function othersIn(folder: string, mine: string): Promise<{ file: string; who: string }[]> {
  const others: { file: string; who: string }[] = [];
  for (const file of await readdir(folder)) {
    // The start time, since the id of a killed process may be in use again.
    const [, pid, started] = /^lock\.(\d+)\.(\w+)$/.exec(file) ?? [];
    if (pid === undefined || file === mine) continue;
    if ((await startTime(Number(pid))) === started) others.push({ file, who: `process ${pid}` });
    else if (await answers(path.join(folder, file))) others.push({ file, who: 'a process of another container' });
    else await rm(path.join(folder, file), { force: true });
  }
  return others;
}

/** Only the kernel's word that nobody listens, or that it is gone, counts as no. */
function answers(file: string): Promise<boolean> {
  const address = addressOf(file);
  if (address === undefined) return Promise.resolve(false);
  return new Promise((done) => {
    const socket = connect(address, () => done(true));
    socket.on('error', ({ code }: NodeJS.ErrnoException) => done(code !== 'ECONNREFUSED' && code !== 'ENOENT'));
    socket.on('connect', () => socket.destroy());
  });
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

/** Where the sources of a table lie, and how their files are read. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Sources {
  /** /usr of the Debian packages, unpacked. */
  readonly deb: string;
  /** A folder for each npm package, named without its scope. */
  readonly npm: string;
}

/** Of the folder that is the one argument of every builder. Throws where it does not hold deb/ and npm/. */
export function sources(): Sources {
  const folder = process.argv[2] ?? '';
  const found = { deb: join(folder, 'deb/usr'), npm: join(folder, 'npm') };
  if (!existsSync(found.deb) || !existsSync(found.npm))
    throw new Error('usage: npx tsx scripts/wordbooks/LANGUAGE/build.ts SOURCES (see scripts/wordbooks/README.md)');
  return found;
}

/** The lines of a text file. `encoding`: as TextDecoder names it. */
export function linesOf(file: string | URL, encoding = 'utf-8'): string[] {
  return new TextDecoder(encoding).decode(readFileSync(file)).split(/\r?\n/);
}

/** Fields of the lines of a list kept by hand, parted by tabs; "#" begins a comment. */
export function rowsOf(file: URL): string[][] {
  return linesOf(file)
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.normalize('NFC').split('\t'));
}

/** Files of a folder and those in it with this ending, always in the same order. */
export function filesIn(folder: string, ending: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .sort()
    .map((name) => join(folder, name));
}

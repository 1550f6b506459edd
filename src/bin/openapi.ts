/** npm run openapi: writes openapi.yaml. With --check: fails when the file is not what the routes say. */
import { readFile, writeFile } from 'node:fs/promises';
import { pino } from 'pino';
import { buildApp } from '../app.ts';
import { parseConfig } from '../config.ts';
import type { Deps } from '../deps.ts';
import { toYaml } from '../http/openapi.ts';

const FILE = 'openapi.yaml';

// Registering routes touches neither the database nor the model.
const deps = { config: parseConfig({}), log: pino({ level: 'silent' }), now: () => new Date() } as Deps;
const app = await buildApp(deps, 'x'.repeat(32));
await app.ready();
const text = toYaml(app);
await app.close();

if (process.argv.includes('--check')) {
  const current = await readFile(FILE, 'utf8').catch(() => '');
  if (current !== text) {
    console.error(`${FILE} is not what the routes say: run npm run openapi and commit it`);
    process.exit(1);
  }
} else {
  await writeFile(FILE, text);
}

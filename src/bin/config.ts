/** npm run config: writes the table of the configuration into README.md. With --check: fails when it is not what the schema says. */
import { readFile, writeFile } from 'node:fs/promises';
import { configSchema } from '../config.ts';

const FILE = 'README.md';
const [BEGIN, END] = ['<!-- config:begin -->', '<!-- config:end -->'];

const rows = Object.entries(configSchema.shape).map(([name, schema]) => {
  const fallback = schema.safeParse(undefined).data;
  return `| \`${name}\` | ${fallback === undefined ? '' : `\`${String(fallback)}\``} | ${schema.description?.replaceAll('|', '\\|')} |`;
});
const readme = await readFile(FILE, 'utf8');
const [before, rest] = readme.split(`${BEGIN}\n`);
const after = rest?.split(END)[1];
if (before === undefined || after === undefined) throw new Error(`${FILE} has no ${BEGIN} … ${END}`);
const text = `${before}${BEGIN}\n${rows.join('\n')}\n${END}${after}`;

if (!process.argv.includes('--check')) await writeFile(FILE, text);
else if (text !== readme) {
  console.error(`${FILE}: the configuration table is not what src/config.ts says: run npm run config and commit it`);
  process.exit(1);
}

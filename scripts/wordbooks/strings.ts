/** The strings of the surface of VS Code (MIT) in English and in another language, from the npm packages that carry them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Pair } from './aligned.ts';

/** `folder` holds monaco-vscode-api as api/ and a language pack under its code (de/, es/), as `npm pack` and `tar` leave them. */
export function translatedStrings(folder: string, language: string): Pair[] {
  const pack = join(folder, language, 'package/translations');
  return [...ofWorkbench(folder, pack), ...ofExtensions(join(pack, 'extensions'))];
}

/** A call `localize(5, "Error")` names the line of the array that has its translation. */
function ofWorkbench(folder: string, pack: string): Pair[] {
  const lines = readFileSync(join(pack, 'main.i18n.json.js'), 'utf8').split('\n');
  const translations = lines
    .slice(lines.indexOf('var content = [') + 1)
    .map((line) => /^\t("(?:[^"\\\t\n]|\\["\\nrt])*"),?$/.exec(line)?.[1]);
  const source = join(folder, 'api/package/vscode/src');
  return readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.js'))
    .flatMap((name) => [
      ...readFileSync(join(source, name), 'utf8').matchAll(/localize2?\(\s*(\d+),\s*("(?:[^"\\\t\n]|\\["\\nt])*")/g),
    ])
    .flatMap(([, line, english]) => {
      const translation = translations[Number(line)];
      return translation === undefined ? [] : [[JSON.parse(translation), JSON.parse(english!)] as const];
    });
}

/** Here the English string is the key. */
function ofExtensions(folder: string): Pair[] {
  return readdirSync(folder).flatMap((name) => {
    const { contents } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as {
      contents: { bundle?: Record<string, string> };
    };
    return Object.entries(contents.bundle ?? {}).map(([english, translation]) => [translation, english] as const);
  });
}

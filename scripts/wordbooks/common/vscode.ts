/** The strings of the surface of VS Code (MIT) in English and in another language, from the npm packages of @codingame that carry them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Pair } from './align.ts';
import { filesIn } from './sources.ts';

/** `npm`: a folder with monaco-vscode-api and the language's monaco-vscode-language-pack. */
export function translatedStrings(npm: string, language: string): Pair[] {
  const pack = join(npm, `monaco-vscode-language-pack-${language}/translations`);
  return [...ofWorkbench(join(npm, 'monaco-vscode-api/vscode/src'), pack), ...ofExtensions(join(pack, 'extensions'))];
}

/** A call `localize(5, "Error")` names the line of the array that has its translation. */
function ofWorkbench(source: string, pack: string): Pair[] {
  const lines = readFileSync(join(pack, 'main.i18n.json.js'), 'utf8').split('\n');
  const translations = lines
    .slice(lines.indexOf('var content = [') + 1)
    .map((line) => /^\t("(?:[^"\\\t\n]|\\["\\nrt])*"),?$/.exec(line)?.[1]);
  return filesIn(source, '.js')
    .flatMap((file) => [
      ...readFileSync(file, 'utf8').matchAll(/localize2?\(\s*(\d+),\s*("(?:[^"\\\t\n]|\\["\\nt])*")/g),
    ])
    .flatMap(([, line, english]) => {
      const translation = translations[Number(line)];
      return translation === undefined ? [] : [[JSON.parse(translation), JSON.parse(english!)] as const];
    });
}

/** Here the English string is the key, some with a note for translators after it. */
function ofExtensions(folder: string): Pair[] {
  return filesIn(folder, '.json').flatMap((file) => {
    const { contents } = JSON.parse(readFileSync(file, 'utf8')) as { contents: { bundle?: Record<string, string> } };
    return Object.entries(contents.bundle ?? {}).map(
      ([english, translation]) => [translation, english.replace(/\/[^/]*\{Locked.*/, '')] as const,
    );
  });
}

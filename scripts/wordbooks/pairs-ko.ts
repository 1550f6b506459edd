/** The same sentences in English and in Korean, from translated programs: what the words of Korean mean is counted from them. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

export interface Pair {
  readonly korean: string;
  readonly english: string;
}

const HANGUL = /\p{Script=Hangul}/u;

export function pairsOf(directory: string): Pair[] {
  const deb = join(directory, 'deb/usr');
  const npm = join(directory, 'npm');
  return [
    ...ofVsCode(npm),
    ...ofLibreOffice(join(deb, 'lib/libreoffice/program/resource/ko/LC_MESSAGES')),
    ...ofHelp(join(deb, 'share/libreoffice/help')),
    ...ofMozilla(join(deb, 'lib/firefox-esr/browser/extensions'), 'firefox-esr'),
    ...ofMozilla(join(deb, 'lib/thunderbird/extensions'), 'thunderbird'),
    ...ofEmoji(join(npm, 'cldr-annotations-full/annotations')),
  ].filter(({ korean, english }) => HANGUL.test(korean) && /[a-z]/i.test(english));
}

/** Extensions have the English as the key; the editor has a list whose places its source names: localize(939, "No …"). */
function ofVsCode(npm: string): Pair[] {
  const pack = join(npm, 'monaco-vscode-language-pack-ko/translations');
  const pairs: Pair[] = [];
  for (const file of filesIn(join(pack, 'extensions'), '.json')) {
    const bundle = JSON.parse(readFileSync(file, 'utf8')).contents.bundle ?? {};
    for (const [key, korean] of Object.entries<string>(bundle))
      pairs.push({ korean, english: key.replace(/\/[^/]*\{Locked.*/, '') });
  }
  const list = readFileSync(join(pack, 'main.i18n.json.js'), 'utf8');
  const korean: (string | null)[] = JSON.parse(
    list
      .slice(list.indexOf('['), list.lastIndexOf(']') + 1)
      .replace(/^\s*undefined(,?)$/gm, 'null$1')
      .replace(/,\s*\]$/, ']'),
  );
  for (const file of filesIn(join(npm, 'monaco-vscode-api'), '.js')) {
    for (const [, at, text] of readFileSync(file, 'utf8').matchAll(/localize2?\((\d+), *"((?:[^"\\]|\\.)*)"/g)) {
      const translated = korean[Number(at)];
      if (translated) pairs.push({ korean: translated, english: text! });
    }
  }
  return pairs;
}

/** GNU message files: the English with its context before it, "context\u0004English". */
function ofLibreOffice(directory: string): Pair[] {
  return filesIn(directory, '.mo').flatMap((file) => {
    const bytes = readFileSync(file);
    const [count, originals, translations] = [8, 12, 16].map((at) => bytes.readUInt32LE(at)) as [
      number,
      number,
      number,
    ];
    const text = (table: number, index: number) => {
      const [length, offset] = [bytes.readUInt32LE(table + index * 8), bytes.readUInt32LE(table + index * 8 + 4)];
      return bytes.toString('utf8', offset, offset + length);
    };
    return Array.from({ length: count }, (_, index) => ({
      english: text(originals, index)
        .replace(/^[^\u0004]*\u0004/, '')
        .replace(/[~_]/g, ''),
      korean: text(translations, index).replace(/\(~?\w\)|[~_]/g, ''),
    }));
  });
}

/** Pages with the same paragraph marks in both languages. */
function ofHelp(directory: string): Pair[] {
  const paragraphs = (file: string) =>
    new Map(
      [...readFileSync(file, 'utf8').matchAll(/<(p|h\d) id="(\w+)"[^>]*>(.*?)<\/\1>/gs)].map(([, , id, inner]) => [
        id!,
        inner!.replace(/<[^>]+>/g, '').replace(/&\w+;/g, ' '),
      ]),
    );
  const korean = join(directory, 'ko');
  return filesIn(join(korean, 'text'), '.html').flatMap((file) => {
    const twin = join(directory, 'en-US', relative(korean, file));
    return existsSync(twin) ? joined(paragraphs(file), paragraphs(twin)) : [];
  });
}

/** Language packs: archives of "key = text" files. British English stands for English, which has no pack. */
function ofMozilla(directory: string, program: string): Pair[] {
  const messages = (language: string) => {
    const archive = join(directory, `langpack-${language}@${program}.mozilla.org.xpi`);
    const text = execFileSync('unzip', ['-p', archive, '*.ftl', '*.properties'], { maxBuffer: 1 << 28 }).toString();
    const found = new Map<string, string>();
    let key = '';
    for (const line of text.split('\n')) {
      const [, attribute, name, value] = /^(\s*\.)?([\w.-]+) ?= ?(.*)$/.exec(line) ?? [];
      if (name !== undefined && attribute === undefined) key = name;
      const at = attribute === undefined ? key : `${key}.${name}`;
      if (name !== undefined) found.set(at, value!);
      else if (/^\s+\S/.test(line) && key !== '') found.set(key, `${found.get(key) ?? ''} ${line.trim()}`);
    }
    return new Map([...found].map(([at, value]) => [at, value.replace(/\{[^}]*\}|<[^>]*>|%\S+|\*?\[\w+\]/g, ' ')]));
  };
  return joined(messages('ko'), messages('en-GB'));
}

/** CLDR's name of each emoji, and its keywords as one text. */
function ofEmoji(directory: string): Pair[] {
  const read = (language: string): Record<string, { default?: string[]; tts?: string[] }> =>
    JSON.parse(readFileSync(join(directory, language, 'annotations.json'), 'utf8')).annotations.annotations;
  const english = read('en');
  return Object.entries(read('ko')).flatMap(([sign, { default: words, tts }]) => {
    const twin = english[sign];
    if (twin?.tts === undefined || tts === undefined) return [];
    const name = { korean: tts[0]!, english: twin.tts[0]! };
    const all = {
      korean: [...(words ?? []), ...tts].join(' '),
      english: [...(twin.default ?? []), ...twin.tts].join(' '),
    };
    return [name, name, all];
  });
}

function joined(korean: ReadonlyMap<string, string>, english: ReadonlyMap<string, string>): Pair[] {
  return [...korean].flatMap(([key, text]) => {
    const twin = english.get(key);
    return twin === undefined || twin === text ? [] : [{ korean: text, english: twin }];
  });
}

function filesIn(directory: string, ending: string): string[] {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => name.endsWith(ending))
    .sort()
    .map((name) => join(directory, name));
}

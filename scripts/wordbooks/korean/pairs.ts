/** The same sentences in English and in Korean, from translated programs: what the words of Korean mean is counted from them. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Pair } from '../common/align.ts';
import { filesIn, type Sources } from '../common/sources.ts';
import { translatedStrings } from '../common/vscode.ts';

const HANGUL = /\p{Script=Hangul}/u;

export function pairsOf({ deb, npm }: Sources): Pair[] {
  return [
    ...translatedStrings(npm, 'ko'),
    ...ofLibreOffice(join(deb, 'lib/libreoffice/program/resource/ko/LC_MESSAGES')),
    ...ofHelp(join(deb, 'share/libreoffice/help')),
    ...ofMozilla(join(deb, 'lib/firefox-esr/browser/extensions'), 'firefox-esr'),
    ...ofMozilla(join(deb, 'lib/thunderbird/extensions'), 'thunderbird'),
    ...ofEmoji(join(npm, 'cldr-annotations-full/annotations')),
  ].filter(([korean, english]) => HANGUL.test(korean) && /[a-z]/i.test(english));
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
    return Array.from({ length: count }, (_, index) => [
      text(translations, index).replace(/\(~?\w\)|[~_]/g, ''),
      text(originals, index)
        .replace(/^[^\u0004]*\u0004/, '')
        .replace(/[~_]/g, ''),
    ]);
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
  return Object.entries(read('ko')).flatMap(([sign, { default: words, tts }]): Pair[] => {
    const twin = english[sign];
    if (twin?.tts === undefined || tts === undefined) return [];
    const name = [tts[0]!, twin.tts[0]!] as const;
    return [name, name, [[...(words ?? []), ...tts].join(' '), [...(twin.default ?? []), ...twin.tts].join(' ')]];
  });
}

function joined(korean: ReadonlyMap<string, string>, english: ReadonlyMap<string, string>): Pair[] {
  return [...korean].flatMap(([key, text]): Pair[] => {
    const twin = english.get(key);
    return twin === undefined || twin === text ? [] : [[text, twin]];
  });
}

/**
 * A saved run: what the service answered, in FOLDER/SET/*.jsonl, one line a question, so that it can be scored and compared without asking
 * again. Memories are named by their ids in the evaluation set; `id`, `ranked`, `pack` and `tokens` are what the sets' own scorer reads.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { readJsonl } from './data.ts';

export interface Recalled {
  readonly id: string;
  /** Best first. */
  readonly ranked: readonly string[];
  /** One a result. */
  readonly scores: readonly number[];
  readonly answerability: number;
}

export interface Packed {
  readonly id: string;
  readonly ranked: readonly string[];
  readonly pack: readonly string[];
  readonly tokens: number;
}

/** How sure the service is of an answer, and whether strict search gave one. */
export interface Strict {
  readonly id: string;
  readonly answerability: number;
  readonly answered: boolean;
}

/** Places of the evidence in each arm, from 1; null: not found by it. */
export interface Places {
  readonly id: string;
  readonly words: readonly (number | null)[];
  readonly vectors: readonly (number | null)[];
}

export interface Run {
  readonly about: { readonly model: string; readonly strict: number };
  readonly recall: readonly Recalled[];
  /** By budget in tokens. */
  readonly packs: ReadonlyMap<number, readonly Packed[]>;
  readonly arms: readonly Places[];
  /** Strict search: asked of the owner, of another owner, and what nobody can answer. */
  readonly own: readonly Strict[];
  readonly elsewhere: readonly Strict[];
  readonly adversarial: readonly Strict[];
}

const LISTS = ['recall', 'arms', 'own', 'elsewhere', 'adversarial'] as const;
const PACK = /^context-(\d+)\.jsonl$/;

/** Replaces the run that the folder holds. */
export function writeRun(folder: string, run: Run): void {
  mkdirSync(folder, { recursive: true });
  for (const file of packFiles(folder)) rmSync(path.join(folder, file));
  const write = (name: string, rows: readonly unknown[]): void =>
    writeFileSync(path.join(folder, `${name}.jsonl`), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  for (const name of LISTS) write(name, run[name]);
  for (const [budget, rows] of run.packs) write(`context-${budget}`, rows);
  writeFileSync(path.join(folder, 'run.json'), `${JSON.stringify(run.about)}\n`);
}

/** @throws when the folder holds no run */
export function readRun(folder: string): Run {
  const read = <T>(file: string): T[] => readJsonl<T>(path.join(folder, file));
  return {
    about: JSON.parse(readFileSync(path.join(folder, 'run.json'), 'utf8')),
    recall: read('recall.jsonl'),
    packs: new Map(packFiles(folder).map((file) => [Number(PACK.exec(file)![1]), read(file)])),
    arms: read('arms.jsonl'),
    own: read('own.jsonl'),
    elsewhere: read('elsewhere.jsonl'),
    adversarial: read('adversarial.jsonl'),
  };
}

const packFiles = (folder: string): string[] =>
  readdirSync(folder)
    .filter((file) => PACK.test(file))
    .sort((a, b) => Number(PACK.exec(a)![1]) - Number(PACK.exec(b)![1]));

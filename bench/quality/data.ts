/** The evaluation sets as they lie in a folder: SET/memories*.jsonl and SET/queries.jsonl, one JSON object a line. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

export interface Memory {
  readonly id: string;
  readonly owner: string;
  readonly speaker?: string;
  readonly session?: string;
  readonly time?: string;
  readonly text: string;
  readonly caption?: string;
}

export interface Query {
  readonly id: string;
  readonly owner: string;
  readonly question: string;
  readonly category: string;
  readonly time?: string;
  /** Ids of the memories that hold the evidence; never empty. */
  readonly relevant: readonly string[];
  /** Where a fact changed: the evidence that holds now, and what it replaced. */
  readonly newest?: readonly string[];
  readonly stale?: readonly string[];
}

interface Kind {
  /** Budgets matter: whole texts, of which a pack holds some. */
  readonly packs?: true;
  /** Owners know different things, so a question asked of another owner has no answer. */
  readonly strict?: true;
  /** Its categories are different tasks. */
  readonly byCategory?: true;
}

export const SETS: Readonly<Record<string, Kind>> = {
  locomo: { packs: true, strict: true },
  'longmemeval-s': { packs: true, strict: true },
  adr: { packs: true },
  neardup: {},
  multilingual: { byCategory: true },
};

export const readMemories = (folder: string): Memory[] =>
  readdirSync(folder)
    .filter((file) => /^memories(-\d+)?\.jsonl$/.test(file))
    .sort()
    .flatMap((file) => readJsonl<Memory>(path.join(folder, file)));

export const readQueries = (folder: string): Query[] => readJsonl<Query>(path.join(folder, 'queries.jsonl'));

/** Questions that the owner's memories cannot answer although they name what is in them; `[]` where the set has none. */
export const readAdversarial = (folder: string): Query[] => readJsonl<Query>(path.join(folder, 'adversarial.jsonl'));

/** `[]` without the file. */
export function readJsonl<T>(file: string): T[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as T);
}

export function groupBy<T>(items: readonly T[], key: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group) group.push(item);
    else groups.set(key(item), [item]);
  }
  return groups;
}

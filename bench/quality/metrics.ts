/** The measures of one question: recall@k, MRR, evidence in the pack, newest before stale, and recall and MRR of each arm alone. */
import { groupBy, type Query, SETS } from './data.ts';
import type { Run } from './run.ts';

export interface QueryScore {
  readonly query: Query;
  /** By name, 0..1. */
  readonly measures: Readonly<Record<string, number>>;
  /** The same of each arm alone, when the arms were asked for. */
  readonly words: Readonly<Record<string, number>> | undefined;
  readonly vectors: Readonly<Record<string, number>> | undefined;
}

/** 1 when the newest of a changed fact stands above all that it replaced; only of questions about such a fact. */
export const FRESH = 'newest first';

const CUTS = [5, 10, 20];

/** @throws when the run lacks a question */
export function scoreRun(queries: readonly Query[], run: Run): QueryScore[] {
  const recall = new Map(run.recall.map((answer) => [answer.id, answer.ranked]));
  const packs = [...run.packs].map(([budget, rows]) => [budget, new Map(rows.map((r) => [r.id, r.pack]))] as const);
  const arms = new Map(run.arms.map((places) => [places.id, places]));
  return queries.map((query) => {
    const ranked = recall.get(query.id);
    if (!ranked) throw new Error(`the run lacks the question ${query.id}`);
    const places = arms.get(query.id);
    const packed = packs.map(([budget, of]) => [`in ${budget}`, share(query, of.get(query.id) ?? [])]);
    return {
      query,
      measures: {
        ...measuresOf(placesIn(ranked, query.relevant)),
        ...Object.fromEntries(packed),
        ...fresh(query, ranked),
      },
      words: places && measuresOf(places.words),
      vectors: places && measuresOf(places.vectors),
    };
  });
}

/** From the places of all evidence, from 1; null: not found. */
function measuresOf(places: readonly (number | null)[]): Record<string, number> {
  const within = (k: number): number => places.filter((place) => place !== null && place <= k).length / places.length;
  const first = Math.min(...places.map((place) => place ?? Number.POSITIVE_INFINITY));
  return { ...Object.fromEntries(CUTS.map((k) => [`R@${k}`, within(k)])), MRR: 1 / first };
}

const placesIn = (ranked: readonly string[], ids: readonly string[]): (number | null)[] =>
  ids.map((id) => ranked.indexOf(id) + 1 || null);

const share = ({ relevant }: Query, ids: readonly string[]): number =>
  relevant.filter((id) => ids.includes(id)).length / relevant.length;

function fresh({ newest, relevant, stale = [] }: Query, ranked: readonly string[]): Record<string, number> {
  if (stale.length === 0) return {};
  const best = (ids: readonly string[]): number =>
    Math.min(...placesIn(ranked, ids).map((place) => place ?? Number.POSITIVE_INFINITY));
  return { [FRESH]: Number(best(newest ?? relevant) < best(stale)) };
}

/** The rows of a table: the set, or its tasks and categories. */
export function rowsOf(set: string, scores: readonly QueryScore[]): Map<string, readonly QueryScore[]> {
  if (!SETS[set]?.byCategory) return new Map([[set, scores]]);
  const categories = groupBy(scores, ({ query }) => query.category);
  const tasks = groupBy(scores, ({ query }) => query.category.split(' ')[0]!);
  const all = [...tasks, ...categories].map(([name, rows]) => [`${set}, ${name}`, rows] as const);
  return new Map([[set, scores], ...all.sort(([a], [b]) => (a < b ? -1 : 1))]);
}

/** The values of a measure, of the questions that have it. */
export const valuesOf = (scores: readonly QueryScore[], measure: string): number[] =>
  scores.flatMap(({ measures }) => measures[measure] ?? []);

/** Every measure that occurs in some row, in the order of first occurrence; newest first is last. */
export function measuresIn(rows: readonly (readonly QueryScore[])[]): string[] {
  const names = new Set(rows.flatMap((scores) => scores.flatMap(({ measures }) => Object.keys(measures))));
  return [...[...names].filter((name) => name !== FRESH), ...(names.has(FRESH) ? [FRESH] : [])];
}

/** Asks the questions of a set through the API and notes the answers. */
import { type Bench, parallel, progress } from '../client.ts';
import type { Query } from './data.ts';
import type { Packed, Places, Recalled, Run, Strict } from './run.ts';

/** More results than any measure looks at. */
const DEPTH = 50;
const MAX_ITEMS = 50;

export interface Plan {
  readonly set: string;
  readonly queries: readonly Query[];
  readonly budgets: readonly number[];
  /** Ask for the places of the evidence in each arm. */
  readonly arms: boolean;
  /** Ask strict search too, also of another owner. */
  readonly strict: boolean;
  readonly adversarial: readonly Query[];
}

interface Found {
  readonly results: readonly { readonly id: string; readonly score: number }[];
  readonly coverage: { readonly answerability: number };
  readonly retrieval_plan: { readonly model: string; readonly thresholds: { readonly strict: number } };
}

/** `ids`: evaluation id → memory id. Questions go two at a time; the answers stand in the order of the questions. */
export async function ask(bench: Bench, plan: Plan, ids: ReadonlyMap<string, string>): Promise<Run> {
  const { set, queries, budgets } = plan;
  const back = new Map([...ids].map(([evaluation, id]) => [id, evaluation]));
  const known = ({ id }: { readonly id: string }): string => {
    const evaluation = back.get(id);
    if (evaluation === undefined) throw new Error(`${set}: memory ${id} is in an answer and not among those stored`);
    return evaluation;
  };
  const post = async <T>(owner: string, path: string, body: object): Promise<T> =>
    (await bench.call(`${set}:${owner}`, path, body)).body as T;

  async function recall(query: Query): Promise<[Recalled, Run['about']]> {
    const found = await post<Found>(query.owner, '/recall', { ...toRequest(query), limit: DEPTH });
    const { retrieval_plan, coverage, results } = found;
    const scores = results.map(({ score }) => score);
    return [
      { id: query.id, ranked: results.map(known), scores, answerability: coverage.answerability },
      { model: retrieval_plan.model, strict: retrieval_plan.thresholds.strict },
    ];
  }

  async function pack(query: Query, budget: number): Promise<Packed> {
    const request = { ...toRequest(query), max_items: MAX_ITEMS, max_tokens: budget, prefer_working: false };
    const answer = await post<{ items: { id: string }[]; budget: { used_tokens: number } }>(
      query.owner,
      '/recall/context',
      request,
    );
    const tokens = answer.budget.used_tokens;
    if (tokens > budget) throw new Error(`${query.id}: a pack of ${tokens} tokens is above its budget of ${budget}`);
    const items = answer.items.map(known);
    return { id: query.id, ranked: items, pack: items, tokens };
  }

  async function places(query: Query): Promise<Places> {
    const arms = [];
    for (const evidence of query.relevant) {
      const request = { ...toRequest(query), memory_id: ids.get(evidence) };
      const answer = await post<{ arms: { lexical: number | null; vector: number | null } }>(
        query.owner,
        '/recall/explain',
        request,
      );
      arms.push(answer.arms);
    }
    return { id: query.id, words: arms.map((a) => a.lexical), vectors: arms.map((a) => a.vector) };
  }

  async function strict(query: Query, owner: string): Promise<Strict> {
    const found = await post<Found>(owner, '/memories/search', { ...toRequest(query), limit: 1 });
    return { id: query.id, answerability: found.coverage.answerability, answered: found.results.length > 0 };
  }

  const other = nextOwner(queries);
  const recalled = await each(`${set}: recall`, queries, recall);
  const packs = new Map<number, Packed[]>();
  for (const budget of budgets)
    packs.set(budget, await each(`${set}: pack of ${budget}`, queries, (query) => pack(query, budget)));
  const judged = plan.strict ? queries : [];
  return {
    about: recalled[0]![1],
    recall: recalled.map(([answer]) => answer),
    packs,
    arms: await each(`${set}: arms`, plan.arms ? queries : [], places),
    own: await each(`${set}: strict`, judged, (query) => strict(query, query.owner)),
    elsewhere: await each(`${set}: strict, another owner`, judged, (query) => strict(query, other.get(query.owner)!)),
    adversarial: await each(`${set}: strict, unanswerable`, plan.strict ? plan.adversarial : [], (query) =>
      strict(query, query.owner),
    ),
  };
}

const toRequest = ({ question, time }: Query) => ({ query: question, ...(time !== undefined && { asked_at: time }) });

/** Each owner's successor in the order of their names, the last one's is the first. */
function nextOwner(queries: readonly Query[]): Map<string, string> {
  const owners = [...new Set(queries.map(({ owner }) => owner))].sort();
  return new Map(owners.map((owner, i) => [owner, owners[(i + 1) % owners.length]!]));
}

async function each<T>(label: string, queries: readonly Query[], work: (query: Query) => Promise<T>): Promise<T[]> {
  const answers: T[] = [];
  const tick = progress(label, queries.length);
  let done = 0;
  await parallel(queries, 2, async (query, index) => {
    answers[index] = await work(query);
    tick(++done);
  });
  return answers;
}

/**
 * The band in which a model's cosines lie. One model gives unrelated texts 0.0 and matching ones 0.6, another 0.7 and 0.85: weights and
 * thresholds measured on one say nothing about the other until both are on one scale. A few questions with their answers show the two ends.
 */
import type { Band, Embedder } from './embedder.ts';

const PAIRS: readonly (readonly [question: string, answer: string])[] = [
  ['Where does Priya keep the spare keys?', 'Priya keeps the spare keys in the blue tin above the fridge.'],
  ['Which database did we choose for billing?', 'We decided to use Postgres for the billing service.'],
  ['What is the dog allergic to?', 'The vet says that our dog is allergic to chicken.'],
  ['When does the night train to Vienna leave?', 'The night train to Vienna leaves at 21:40 from platform 7.'],
  ['How many rounds do I knit for the sleeve?', 'For the sleeve, knit 64 rounds and then decrease.'],
  ['Who repairs the coffee machine?', 'Mr Okafor from the second floor repairs the coffee machine.'],
  ['What did Tom study in Lisbon?', 'Tom studied marine biology in Lisbon for two years.'],
  ['How are failed deployments rolled back?', 'A failed deployment is rolled back with the release script.'],
];

export async function measureBand(embed: Embedder['embed']): Promise<Band> {
  const [questions, answers] = await Promise.all([
    embed(
      PAIRS.map(([question]) => question),
      'query',
    ),
    embed(
      PAIRS.map(([, answer]) => answer),
      'passage',
    ),
  ]);
  const cosines = questions.map((q) => answers.map((a) => dot(q.vector, a.vector)));
  const matching = cosines.map((row, i) => row[i]!);
  const unrelated = cosines.flatMap((row, i) => row.filter((_, j) => j !== i));
  return { unrelated: mean(unrelated), matching: mean(matching) };
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}

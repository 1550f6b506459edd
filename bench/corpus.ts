/** Made-up memories with a vocabulary like that of real notes: a few common words, many rare ones, the same for the same number. */

const SUBJECTS = [
  'deploy',
  'invoice',
  'garden',
  'database',
  'holiday',
  'customer',
  'recipe',
  'meeting',
  'contract',
  'server',
  'budget',
  'school',
];
const VERBS = [
  'moved',
  'changed',
  'failed',
  'improved',
  'agreed',
  'cancelled',
  'planned',
  'reviewed',
  'shipped',
  'repaired',
];
const PEOPLE = ['Ann', 'Ben', 'Chloe', 'Dmitri', 'Elif', 'Farid', 'Greta', 'Hiro'];
const PLACES = ['Lisbon', 'Oslo', 'the attic', 'Berlin', 'the second floor', 'Nairobi', 'the warehouse', 'Kyoto'];

const pick = <T>(list: readonly T[], n: number): T => list[Math.abs(n) % list.length]!;
const rare = (n: number): string => `topic${(n * 7_919) % 5_003}`;

export function aMemory(i: number): Record<string, unknown> {
  const who = pick(PEOPLE, i * 3);
  return {
    content:
      `${who} said that the ${pick(SUBJECTS, i)} was ${pick(VERBS, i * 5)} in ${pick(PLACES, i * 11)} because of ${rare(i)} and ${rare(i + 1)}. ` +
      `We should look at the ${pick(SUBJECTS, i * 13)} again before the end of the month, and tell ${pick(PEOPLE, i * 17)} about ${rare(i * 31)}.`,
    author: who,
    path: `projects/${pick(SUBJECTS, i)}`,
    occurred_at: new Date(Date.UTC(2024, 0, 1) + i * 3_600_000).toISOString(),
    session_id: `session-${Math.floor(i / 12)}`,
  };
}

export function aQuestion(i: number): string {
  return `Why was the ${pick(SUBJECTS, i * 7)} ${pick(VERBS, i * 3)} in ${pick(PLACES, i)}, and what about ${rare(i * 13)}?`;
}

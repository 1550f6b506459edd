/** Keeps the first of each group of memories that say the same again. */
import { type Profile, sameProfile, toProfile } from '../text/near-duplicate.ts';

export interface Ranked {
  readonly id: string;
  readonly content: string;
}

export interface Duplicate {
  readonly id: string;
  /** The one before it in rank order that it repeats, and that is kept. */
  readonly of: string;
}

/** Both lists are in rank order. */
export function withoutNearDuplicates<T extends Ranked>(ranked: readonly T[]): { kept: T[]; duplicates: Duplicate[] } {
  const kept: { item: T; profile: Profile }[] = [];
  const duplicates: Duplicate[] = [];
  for (const item of ranked) {
    const profile = toProfile(item.content);
    const twin = kept.find((earlier) => sameProfile(earlier.profile, profile));
    if (twin === undefined) kept.push({ item, profile });
    else duplicates.push({ id: item.id, of: twin.item.id });
  }
  return { kept: kept.map(({ item }) => item), duplicates };
}

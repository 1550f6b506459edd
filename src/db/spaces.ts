/** Maps the owner, team or agent of a space to its short key. Keys never change, so they are remembered for good; absence is not. */
import type { Db } from './db.ts';
import { sql } from './sql.ts';

export type SpaceKind = 'owner' | 'team' | 'agent' | 'knowledge';

export interface SpaceName {
  readonly kind: SpaceKind;
  readonly name: string;
}

/** A hash map of keys needs a bound against a flood of owner names; the oldest go first. */
const REMEMBERED = 100_000;
/** By the database's own function: a Db that wraps another shares what is known. */
const remembered = new WeakMap<Db['close'], Map<string, number>>();

const keyOf = ({ kind, name }: SpaceName): string => `${kind}\u0000${name}`;

function remember(db: Db, space: SpaceName, id: number): void {
  const known = remembered.get(db.close) ?? new Map<string, number>();
  remembered.set(db.close, known);
  known.set(keyOf(space), id);
  if (known.size > REMEMBERED) known.delete(known.keys().next().value!);
}

/** The keys of those spaces that exist: a space begins with its first write. */
export async function findSpaces(db: Db, names: readonly SpaceName[]): Promise<number[]> {
  const known = remembered.get(db.close);
  const missing = names.filter((space) => !known?.has(keyOf(space)));
  if (missing.length > 0) {
    const rows = await db.admin((tx) =>
      tx.query<SpaceName & { id: number }>(
        sql`select s.id, s.kind, s.name from unnest(${missing.map((m) => m.kind)}::text[], ${missing.map((m) => m.name)}::text[]) as w(kind, name)
            join spaces s on s.kind = w.kind and s.name = w.name`,
      ),
    );
    for (const row of rows) remember(db, row, row.id);
  }
  const now = remembered.get(db.close);
  return names.map((space) => now?.get(keyOf(space))).filter((id) => id !== undefined);
}

/** The key of a space, made if it is not there. */
export async function ensureSpace(db: Db, space: SpaceName): Promise<number> {
  const [found] = await findSpaces(db, [space]);
  if (found !== undefined) return found;
  await db.admin((tx) =>
    tx.query(
      sql`insert into spaces (kind, name) values (${space.kind}, ${space.name}) on conflict (kind, name) do nothing`,
    ),
  );
  const [made] = await findSpaces(db, [space]);
  if (made === undefined) throw new Error('a space that was just made cannot be found');
  return made;
}

const models = new WeakMap<Db['close'], Map<string, number>>();

/** The short key of an embedding model, made if it is not there. */
export async function ensureModel(
  db: Db,
  model: { readonly id: string; readonly dimensions: number },
): Promise<number> {
  const known = models.get(db.close) ?? new Map<string, number>();
  models.set(db.close, known);
  const found = known.get(model.id);
  if (found !== undefined) return found;
  const id = await db.admin(async (tx) => {
    await tx.query(
      sql`insert into embedding_models (name, dimensions) values (${model.id}, ${model.dimensions}) on conflict (name) do nothing`,
    );
    const [row] = await tx.query<{ id: number }>(sql`select id from embedding_models where name = ${model.id}`);
    return row!.id;
  });
  known.set(model.id, id);
  return id;
}

/**
 * Teams: owners that share what is written with a team's id. A team reaches an owner only when an admin of the team invited it and it
 * joined: nobody can put memories before somebody who did not agree. Rows here belong to several owners, so these verbs run as the
 * connecting role and name the owner in every statement.
 */
import { audit } from '../db/audit.ts';
import type { Tx } from '../db/db.ts';
import { sql } from '../db/sql.ts';
import type { Deps } from '../deps.ts';
import { ApiError } from '../errors.ts';
import type { Principal } from '../types.ts';
import { clearCache } from './cache.ts';
import { makeId } from './secrets.ts';

/** Teams that an owner may be in: each is a space that every read of it goes through. Invitations do not count: others send them. */
const MAX_TEAMS = 50;
const MAX_MEMBERS = 1_000;
const MAX_LISTED = 200;

export type Role = 'admin' | 'member';

export interface Member {
  readonly team_id: string;
  readonly owner: string;
  readonly role: Role;
  readonly joined_at: Date | null;
}

export interface Team extends Member {
  readonly name: string;
  readonly created_at: Date;
}

const NOT_FOUND = 'no such team is visible to this token';

/** The caller is its first admin. @throws ApiError conflict when it is in too many */
export async function createTeam(deps: Deps, principal: Principal, name: string): Promise<Team> {
  const { owner } = principal;
  const at = deps.now();
  const id = makeId('team');
  const team = await deps.db.admin(async (tx) => {
    await tx.query(sql`insert into teams (id, owner, name, created_at) values (${id}, ${owner}, ${name}, ${at})`);
    await tx.query(sql`
      insert into team_members (team_id, owner, role, invited_by, created_at, joined_at) values (${id}, ${owner}, 'admin', ${owner}, ${at}, ${at})`);
    await assertFewTeams(tx, owner);
    await audit(tx, principal, { action: 'team.create', target: id, at });
    return { team_id: id, name, owner, role: 'admin' as const, created_at: at, joined_at: at };
  });
  clearCache(deps.db);
  return team;
}

/** Those that the owner is in, then those that it is invited to. A token that is narrowed to other teams sees none. */
export async function listTeams(deps: Deps, { owner, allTeams, teams }: Principal): Promise<Team[]> {
  return deps.db.admin((tx) =>
    tx.query<Team>(sql`
      select t.id as team_id, t.name, t.created_at, m.owner, m.role, m.joined_at from team_members m join teams t on t.id = m.team_id
      where m.owner = ${owner} and (${allTeams} or t.id = any (${teams}::text[])) order by m.joined_at nulls last, t.created_at, t.id limit ${MAX_LISTED}`),
  );
}

/** For members. @throws ApiError not_found, also for a team of others and one that the token does not reach */
export async function listMembers(deps: Deps, principal: Principal, team: string): Promise<Member[]> {
  return deps.db.admin(async (tx) => {
    await roleOf(tx, principal, team);
    return tx.query<Member>(sql`
      select team_id, owner, role, joined_at from team_members where team_id = ${team} order by created_at, owner limit ${MAX_MEMBERS}`);
  });
}

/**
 * An admin names somebody: invites, or changes the role. Somebody who is invited names itself: joins.
 * @throws ApiError not_found, conflict, or boundary_denied for a member who is no admin
 */
export async function addMember(
  deps: Deps,
  principal: Principal,
  team: string,
  owner: string,
  role: Role,
): Promise<Member> {
  const at = deps.now();
  const member = await deps.db.admin(async (tx) => {
    await lockTeam(tx, team);
    const [joined] = principal.allTeams && owner === principal.owner ? await join(tx, team, owner, at) : [];
    if (joined) await assertFewTeams(tx, owner);
    else {
      if ((await roleOf(tx, principal, team)) !== 'admin')
        throw new ApiError('boundary_denied', 'only an admin of the team may do this');
      if (owner === principal.owner) throw new ApiError('conflict', 'you are a member already');
    }
    const done = joined ?? (await invite(tx, { team, owner, role, by: principal.owner, at }));
    await audit(tx, principal, { action: joined ? 'team.join' : 'team.invite', target: `${team} ${owner}`, at });
    return done;
  });
  clearCache(deps.db);
  return member;
}

function join(tx: Tx, team: string, owner: string, at: Date): Promise<Member[]> {
  return tx.query<Member>(sql`
    update team_members set joined_at = ${at} where team_id = ${team} and owner = ${owner} and joined_at is null
    returning team_id, owner, role, joined_at`);
}

async function invite(tx: Tx, i: { team: string; owner: string; role: Role; by: string; at: Date }): Promise<Member> {
  const [others] = await tx.query<{ n: number }>(
    sql`select count(*)::int as n from team_members where team_id = ${i.team} and owner <> ${i.owner}`,
  );
  if (others!.n >= MAX_MEMBERS) throw new ApiError('conflict', `a team has at most ${MAX_MEMBERS} members`);
  const [member] = await tx.query<Member>(sql`
    insert into team_members (team_id, owner, role, invited_by, created_at) values (${i.team}, ${i.owner}, ${i.role}, ${i.by}, ${i.at})
    on conflict (team_id, owner) do update set role = excluded.role returning team_id, owner, role, joined_at`);
  return member!;
}

/** An admin takes somebody out; anybody leaves, or declines. What was shared stays with the team. @throws ApiError not_found, boundary_denied or conflict */
export async function removeMember(deps: Deps, principal: Principal, team: string, owner: string): Promise<void> {
  const at = deps.now();
  await deps.db.admin(async (tx) => {
    await lockTeam(tx, team);
    const leaving = owner === principal.owner && principal.allTeams;
    if (!leaving && (await roleOf(tx, principal, team)) !== 'admin') {
      throw new ApiError('boundary_denied', 'only an admin of the team may do this');
    }
    const gone = await tx.query(
      sql`delete from team_members where team_id = ${team} and owner = ${owner} returning owner`,
    );
    if (gone.length === 0) throw new ApiError('not_found', leaving ? NOT_FOUND : 'no such member');
    await assertAnAdmin(tx, team);
    await audit(tx, principal, { action: 'team.remove', target: `${team} ${owner}`, at });
  });
  clearCache(deps.db);
}

/** Two admins who leave, or demote each other, at once must not leave none. */
async function lockTeam(tx: Tx, team: string): Promise<void> {
  await tx.query(sql`select from teams where id = ${team} for update`);
}

/** The role of a member. A token that is narrowed to other teams sees none. @throws ApiError not_found */
async function roleOf(tx: Tx, principal: Principal, team: string): Promise<Role> {
  const [row] = await tx.query<{ role: Role }>(
    sql`select role from team_members where team_id = ${team} and owner = ${principal.owner} and joined_at is not null`,
  );
  if (!row || !(principal.allTeams || principal.teams.includes(team))) throw new ApiError('not_found', NOT_FOUND);
  return row.role;
}

/** Members without an admin could never change anything again. */
async function assertAnAdmin(tx: Tx, team: string): Promise<void> {
  const [row] = await tx.query<{ orphaned: boolean }>(sql`
    select count(*) filter (where joined_at is not null) > 0 and count(*) filter (where role = 'admin' and joined_at is not null) = 0 as orphaned
    from team_members where team_id = ${team}`);
  if (row!.orphaned)
    throw new ApiError(
      'conflict',
      'the last admin cannot leave a team that has members; make somebody else admin first',
    );
}

async function assertFewTeams(tx: Tx, owner: string): Promise<void> {
  const [row] = await tx.query<{ n: number }>(
    sql`select count(*)::int as n from team_members where owner = ${owner} and joined_at is not null`,
  );
  if (row!.n > MAX_TEAMS) throw new ApiError('conflict', `an owner is in at most ${MAX_TEAMS} teams`);
}

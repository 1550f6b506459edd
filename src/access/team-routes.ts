/** HTTP of teams and their members. */
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { Deps } from '../deps.ts';
import { principalOf } from '../http/auth.ts';
import { idParams } from '../http/fields.ts';
import { once } from '../http/idempotency.ts';
import {
  createTeamBody,
  memberBody,
  memberQuery,
  memberReply,
  membersReply,
  removedReply,
  teamReply,
  teamsReply,
} from './schema.ts';
import { addMember, createTeam, listMembers, listTeams, type Member, removeMember, type Team } from './teams.ts';

export const teamRoutes =
  (deps: Deps): FastifyPluginAsyncZod =>
  async (app) => {
    const config = { scopes: ['tokens:manage' as const, 'memory:admin' as const] };
    const tags = ['access'];

    app.post('/teams', {
      config,
      schema: {
        operationId: 'createTeam',
        tags,
        summary: 'Make a team',
        description: 'The owner of the token is its first admin. Memories are shared with it by its id, as team_id.',
        body: createTeamBody,
        response: { 201: teamReply },
      },
      handler: (request, reply) =>
        once(
          deps,
          request,
          reply,
          (deps) => createTeam(deps, principalOf(request), request.body.name),
          (team) => ({ status: 201, body: toTeam(team) }),
          BY_ADMIN,
        ),
    });

    app.get('/teams', {
      config,
      schema: {
        operationId: 'listTeams',
        tags,
        summary: 'List the teams of the owner',
        description:
          'Memberships and invitations, of the teams that the token reaches. Teams that a signed token names by itself are not known here.',
        response: { 200: teamsReply },
      },
      handler: async (request) => ({ teams: (await listTeams(deps, principalOf(request))).map(toTeam) }),
    });

    app.get('/teams/:id/members', {
      config,
      schema: {
        operationId: 'listMembers',
        tags,
        summary: 'List the members of a team',
        params: idParams,
        response: { 200: membersReply },
      },
      handler: async (request) => ({
        members: (await listMembers(deps, principalOf(request), request.params.id)).map(toMember),
      }),
    });

    app.post('/teams/:id/members', {
      config,
      schema: {
        operationId: 'addMember',
        tags,
        summary: 'Invite somebody, or join',
        description:
          'An admin names an owner: it is invited, or its role changes. An owner who is invited names itself or nobody: it joins. Until then the team reaches none of its reads.',
        params: idParams,
        body: memberBody,
        response: { 200: memberReply },
      },
      handler: (request, reply) => {
        const principal = principalOf(request);
        const { owner = principal.owner, role } = request.body;
        return once(
          deps,
          request,
          reply,
          (deps) => addMember(deps, principal, request.params.id, owner, role),
          (member) => ({ status: 200, body: { id: member.team_id, ...toMember(member) } }),
          BY_ADMIN,
        );
      },
    });

    app.delete('/teams/:id/members', {
      config,
      schema: {
        operationId: 'removeMember',
        tags,
        summary: 'Take somebody out, or leave',
        description:
          'From the reply on nothing of the team is in any read of that owner; on other replicas of the service within two seconds.',
        params: idParams,
        querystring: memberQuery,
        response: { 200: removedReply },
      },
      handler: (request, reply) => {
        const principal = principalOf(request);
        const { id } = request.params;
        const { owner = principal.owner } = request.query;
        return once(
          deps,
          request,
          reply,
          (deps) => removeMember(deps, principal, id, owner),
          () => ({ status: 200, body: { id, owner, status: 'removed' as const } }),
          BY_ADMIN,
        );
      },
    });
  };

/** Rows of several owners are written as the connecting role. */
const BY_ADMIN = { door: 'admin' } as const;

const standingOf = (member: Member) => (member.joined_at ? ('member' as const) : ('invited' as const));

const toMember = (member: Member) => ({
  owner: member.owner,
  role: member.role,
  status: standingOf(member),
  joined_at: member.joined_at?.toISOString() ?? null,
});

const toTeam = (team: Team) => ({
  id: team.team_id,
  name: team.name,
  role: team.role,
  status: standingOf(team),
  created_at: team.created_at.toISOString(),
});

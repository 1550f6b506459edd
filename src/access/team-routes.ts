/** HTTP of teams and their members. */
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { Deps } from '../deps.ts';
import { principalOf } from '../http/auth.ts';
import {
  createTeamBody,
  idParams,
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
      handler: async (request, reply) => {
        const team = await createTeam(deps, principalOf(request), request.body.name);
        return reply
          .code(201)
          .send({ ...toTeam(team), ...(request.warnings.length > 0 && { warnings: request.warnings }) });
      },
    });

    app.get('/teams', {
      config,
      schema: {
        operationId: 'listTeams',
        tags,
        summary: 'List the teams of the owner',
        description: 'Memberships and invitations. Teams that a signed token names by itself are not known here.',
        response: { 200: teamsReply },
      },
      handler: async (request) => ({ teams: (await listTeams(deps, principalOf(request).owner)).map(toTeam) }),
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
      handler: async (request) => {
        const principal = principalOf(request);
        const { owner = principal.owner, role } = request.body;
        const member = await addMember(deps, principal, request.params.id, owner, role);
        return {
          id: member.team_id,
          ...toMember(member),
          ...(request.warnings.length > 0 && { warnings: request.warnings }),
        };
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
      handler: async (request) => {
        const principal = principalOf(request);
        const { owner = principal.owner } = request.query;
        await removeMember(deps, principal, request.params.id, owner);
        return {
          id: request.params.id,
          owner,
          status: 'removed' as const,
          ...(request.warnings.length > 0 && { warnings: request.warnings }),
        };
      },
    });
  };

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

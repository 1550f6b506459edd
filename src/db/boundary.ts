/** What a principal may read and write, as spaces and boundaries. */
import { ApiError } from '../errors.ts';
import type { Principal } from '../types.ts';
import type { SpaceName } from './spaces.ts';

/**
 * The spaces that a principal reads: its own, its teams' and those of the agents it claimed, or one team's when the request names it.
 * @throws ApiError boundary_denied
 */
export function spacesOf(principal: Principal, team?: string): SpaceName[] {
  if (team !== undefined || principal.agentSpace !== undefined) return [spaceToWrite(principal, team)];
  return [
    { kind: 'owner', name: principal.owner },
    ...principal.teams.map((name): SpaceName => ({ kind: 'team', name })),
    ...principal.claimedAgents.map((name): SpaceName => ({ kind: 'agent', name })),
  ];
}

/** The one space that a write goes to. @throws ApiError boundary_denied */
export function spaceToWrite(principal: Principal, team: string | undefined): SpaceName {
  if (team !== undefined) {
    assertTeam(principal, team);
    return { kind: 'team', name: team };
  }
  if (principal.agentSpace !== undefined) return { kind: 'agent', name: principal.agentSpace };
  return { kind: 'owner', name: principal.owner };
}

/** @throws ApiError boundary_denied */
export function assertTeam(principal: Principal, team: string): void {
  if (!principal.teams.includes(team)) throw new ApiError('boundary_denied', 'the token does not belong to this team');
}

/** A bucket or scope that is named must be one of the token's, for reads as for writes. @throws ApiError boundary_denied */
export function assertInside(
  principal: Principal,
  named: { readonly bucket?: string | undefined; readonly scope?: string | null | undefined },
): void {
  const { buckets, scopes } = principal;
  if (named.bucket !== undefined && buckets && !buckets.includes(named.bucket)) {
    throw new ApiError('boundary_denied', 'the token may not use this bucket');
  }
  if (named.scope != null && scopes && !scopes.includes(named.scope)) {
    throw new ApiError('boundary_denied', 'the token may not use this scope');
  }
}

/** The same of what is written, where no scope at all is outside of the token's. @throws ApiError boundary_denied */
export function assertWritable(
  principal: Principal,
  named: { readonly bucket: string; readonly scope?: string | null | undefined },
): void {
  assertInside(principal, named);
  if (principal.scopes && named.scope == null) {
    throw new ApiError('boundary_denied', 'the token may only write with one of its scopes: name it in scope');
  }
}

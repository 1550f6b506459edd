/** What a principal may read and write, as spaces and boundaries. */
import { ApiError } from '../errors.ts';
import type { Principal } from '../types.ts';
import type { SpaceName } from './spaces.ts';

/** The spaces that a principal reads: its own and its teams', or one team's when the request names it. @throws ApiError boundary_denied */
export function spacesOf(principal: Principal, team?: string): SpaceName[] {
  if (team !== undefined) {
    assertTeam(principal, team);
    return [{ kind: 'team', name: team }];
  }
  return [
    { kind: 'owner', name: principal.owner },
    ...principal.teams.map((name): SpaceName => ({ kind: 'team', name })),
  ];
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

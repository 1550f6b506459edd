/** What a token may do, and that none is made with more than the one that asks for it. */
import { ApiError } from '../errors.ts';
import type { Principal, TokenScope } from '../types.ts';

export interface Rights {
  readonly scopes: readonly TokenScope[];
  /** null, here and below: not narrowed. */
  readonly teams: readonly string[] | null;
  readonly buckets: readonly string[] | null;
  readonly memoryScopes: readonly string[] | null;
  readonly agentId: string | null;
  readonly profile: 'public' | null;
}

/** What is left out of a request: the rights of the principal itself. */
export type Asked = Pick<Rights, 'scopes'> & {
  readonly [K in Exclude<keyof Rights, 'scopes'>]?: Rights[K] | undefined;
};

/** @throws ApiError insufficient_scope or boundary_denied when more is asked than the principal has */
export function within(principal: Principal, asked: Asked): Rights {
  const beyond = asked.scopes.filter((scope) => !principal.tokenScopes.has(scope));
  if (beyond.length > 0) {
    throw new ApiError('insufficient_scope', `the token itself lacks the scope ${beyond.join(', ')}`);
  }
  return {
    scopes: asked.scopes,
    teams: teamsWithin(principal, asked.teams),
    buckets: narrowed('bucket', principal.buckets, asked.buckets),
    memoryScopes: narrowed('scope', principal.scopes, asked.memoryScopes),
    agentId: fixed('agent', principal.boundAgent, asked.agentId),
    profile: fixed('profile', principal.profile, asked.profile),
  };
}

function teamsWithin(principal: Principal, asked: Rights['teams'] | undefined): Rights['teams'] {
  const strange = asked?.find((team) => !principal.teams.includes(team));
  if (strange !== undefined) throw new ApiError('boundary_denied', 'the token does not belong to this team');
  return principal.allTeams ? (asked ?? null) : narrowed('team', principal.teams, asked);
}

/** A list inside the principal's own; its own when none is asked for. */
function narrowed(
  what: string,
  own: readonly string[] | undefined,
  asked: readonly string[] | null | undefined,
): readonly string[] | null {
  if (own === undefined) return asked ?? null;
  if (asked === undefined) return own;
  if (asked === null || asked.some((name) => !own.includes(name))) {
    throw new ApiError('boundary_denied', `the token itself may not use every such ${what}`);
  }
  return asked;
}

function fixed<T extends string>(what: string, own: T | undefined, asked: T | null | undefined): T | null {
  if (own === undefined) return asked ?? null;
  if (asked === undefined || asked === own) return own;
  throw new ApiError('boundary_denied', `the token itself is bound to another ${what}`);
}

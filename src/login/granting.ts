/** What an owner may give to a program, whichever way the program asks. */
import { ApiError } from '../errors.ts';
import { type Principal, TOKEN_SCOPES, type TokenScope } from '../types.ts';

/** What an approved request becomes. Lists that are absent do not narrow. */
export interface Granted {
  readonly owner: string;
  readonly scopes: readonly TokenScope[];
  readonly teams: readonly string[];
  readonly buckets?: readonly string[];
  readonly memoryScopes?: readonly string[];
  readonly agent?: string;
  readonly profile?: 'public';
}

/** A token that a program asked for approves no others. */
const NEVER: ReadonlySet<TokenScope> = new Set(['tokens:manage', 'temporary:read', 'temporary:write']);

/** What a program can be given. */
export const GIVEN_SCOPES = TOKEN_SCOPES.filter((scope) => !NEVER.has(scope));
const GIVEN: ReadonlySet<string> = new Set(GIVEN_SCOPES);

/** Of a memory client. */
export const DEFAULT_SCOPES: readonly TokenScope[] = ['memory:read', 'memory:write'];

/** Names that are not known are left out, as OAuth has it. */
export function readScopes(names: readonly string[]): TokenScope[] {
  return [...new Set(names.filter((name): name is TokenScope => GIVEN.has(name)))];
}

/** @throws ApiError insufficient_scope */
export function assertMayGrant(principal: Principal): void {
  if (principal.tokenScopes.has('tokens:manage')) return;
  throw new ApiError(
    'insufficient_scope',
    'the token lacks the scope tokens:manage, which approving another token takes',
  );
}

/** Of what is asked for, what the principal has itself. @throws ApiError insufficient_scope when that is nothing */
export function heldOf(principal: Principal, asked: readonly TokenScope[]): TokenScope[] {
  const held = asked.filter((scope) => principal.tokenScopes.has(scope));
  if (held.length === 0)
    throw new ApiError('insufficient_scope', 'the token has none of the scopes that are asked for');
  return held;
}

/** The new token is bounded as the one that approves it. */
export function toGranted(
  { owner, teams, buckets, scopes, boundAgent, profile }: Principal,
  granted: readonly TokenScope[],
): Granted {
  return {
    owner,
    scopes: granted,
    teams,
    ...(buckets && { buckets }),
    ...(scopes && { memoryScopes: scopes }),
    ...(boundAgent !== undefined && { agent: boundAgent }),
    ...(profile && { profile }),
  };
}

/** A transaction whose id came to the route that forgets memories: clients know one way to forget. */
import type { Deps } from '../deps.ts';
import { ApiError, invalid } from '../errors.ts';
import type { Principal } from '../types.ts';
import { find, remove } from './transactions.ts';

export interface ForgetRequest {
  readonly id: string;
  readonly mode: 'soft_delete' | 'hard_delete' | 'redact';
  readonly bucket: string | undefined;
  readonly scope: string | undefined;
}

/** For good, whatever the mode says: the ledger keeps nothing back. @throws ApiError not_found, insufficient_scope, validation_error */
export async function forgetTransaction(
  deps: Deps,
  principal: Principal,
  { id, mode, ...named }: ForgetRequest,
): Promise<{ id: string; at: Date }> {
  if (!principal.tokenScopes.has('ledger:read')) throw new ApiError('not_found');
  if (!principal.tokenScopes.has('memory:delete')) {
    await find(deps, principal, id);
    throw new ApiError(
      'insufficient_scope',
      'delete scope required: a transaction takes memory:delete and ledger:read',
    );
  }
  if (mode === 'redact') {
    await find(deps, principal, id);
    throw invalid('body', 'mode', 'a transaction of the ledger can be deleted, not redacted');
  }
  return remove(deps, principal, id, named);
}

/** What login asks of access. Capabilities do not import each other: app.ts hands these functions over. */
import type { Actor } from '../db/audit.ts';
import type { Tx } from '../db/db.ts';
import type { Principal, TokenScope } from '../types.ts';
import type { Granted } from './granting.ts';

/** @throws ApiError of status 401 */
export type Authenticate = (token: string) => Promise<Principal>;

/** All of them work in the caller's transaction, which is one of the connecting role. */
export interface TokenLinks {
  /** @throws ApiError conflict when the owner has too many */
  insert(
    tx: Tx,
    actor: Actor,
    granted: Granted,
    made: { readonly name: string; readonly expiresAt: Date },
  ): Promise<{ readonly id: string; readonly token: string }>;
  /** A new secret under the same id; undefined when it was revoked. */
  renew(
    tx: Tx,
    actor: Actor,
    id: string,
    renewed: { readonly scopes: readonly TokenScope[]; readonly expiresAt: Date },
  ): Promise<string | undefined>;
  revoke(tx: Tx, actor: Actor, id: string): Promise<void>;
  /** To be called after the commit: what is known of tokens is asked for anew. */
  changed(): void;
}

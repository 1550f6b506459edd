/** The audit trail: who did what, when, with which token; never content. Written in the transaction of the deed, so that neither is without the other. */
import { v7 as uuidv7 } from 'uuid';
import type { ErrorCode } from '../errors.ts';
import type { Principal } from '../types.ts';
import type { Tx } from './db.ts';
import { sql } from './sql.ts';

export interface AuditEvent {
  /** `thing.verb`: memory.remember, token.revoke. */
  readonly action: string;
  readonly target?: string | undefined;
  /** Where the memory stood, of what the service did of its own accord. */
  readonly place?: { readonly bucket: string; readonly scope: string | null } | undefined;
  readonly at: Date;
  /** The error of a request that was denied; absent: the deed was done. */
  readonly denied?: ErrorCode | undefined;
}

/** Who an event is laid to. The operator has no token and no request. */
export type Actor = Pick<Principal, 'owner'> & Partial<Pick<Principal, 'tokenId' | 'boundAgent' | 'requestId'>>;

/** The transaction must have been opened for this owner (Access.owner), or be one of the connecting role. */
export async function audit(tx: Tx, actor: Actor, event: AuditEvent): Promise<void> {
  await tx.query(sql`
    insert into audit_events (owner, id, action, target_id, outcome, code, token_id, agent_id, request_id, bucket, scope, created_at)
    values (${actor.owner}, ${uuidv7({ msecs: event.at.getTime() })}, ${event.action}, ${event.target ?? null},
      ${event.denied ? 'denied' : 'done'}, ${event.denied ?? null}, ${actor.tokenId ?? null}, ${actor.boundAgent ?? null},
      ${actor.requestId ?? null}, ${event.place?.bucket ?? null}, ${event.place?.scope ?? null}, ${event.at})`);
}

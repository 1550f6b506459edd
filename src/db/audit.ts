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
export const audit = (tx: Tx, actor: Actor, event: AuditEvent): Promise<void> => auditAll(tx, actor, [event]);

export async function auditAll(tx: Tx, actor: Actor, events: readonly AuditEvent[]): Promise<void> {
  const each = <T>(value: (event: AuditEvent) => T): T[] => events.map(value);
  await tx.query(sql`
    insert into audit_events (owner, id, action, target_id, outcome, code, token_id, agent_id, request_id, bucket, scope, created_at)
    select ${actor.owner}, e.id, e.action, e.target, case when e.code is null then 'done' else 'denied' end, e.code,
      ${actor.tokenId ?? null}, ${actor.boundAgent ?? null}, ${actor.requestId ?? null}, e.bucket, e.scope, e.at
    from unnest(${each(({ at }) => uuidv7({ msecs: at.getTime() }))}::uuid[], ${each(({ action }) => action)}::text[],
      ${each(({ target }) => target ?? null)}::text[], ${each(({ denied }) => denied ?? null)}::text[],
      ${each(({ place }) => place?.bucket ?? null)}::text[], ${each(({ place }) => place?.scope ?? null)}::text[],
      ${each(({ at }) => at)}::timestamptz[]) as e(id, action, target, code, bucket, scope, at)`);
}

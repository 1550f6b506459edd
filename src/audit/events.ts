/** Reads the audit trail of one owner, newest first. */
import { type Sql, sql } from '../db/sql.ts';
import type { Deps } from '../deps.ts';
import type { Principal } from '../types.ts';

type Reader = Pick<Principal, 'owner' | 'tokenId' | 'buckets' | 'scopes'>;

export interface EventsRequest {
  /** One of these. */
  readonly actions: readonly string[] | undefined;
  readonly target: string | undefined;
  readonly outcome: 'done' | 'denied' | undefined;
  readonly bucket?: string | undefined;
  readonly scope?: string | undefined;
  readonly since: Date | undefined;
  readonly until: Date | undefined;
  readonly limit: number;
  /** Id of the last event of the page before. */
  readonly cursor: string | undefined;
  /** Events to skip. */
  readonly offset: number;
}

/** Of a token that is narrowed to buckets or scopes: what happened in those, and what it did itself; where all else happened is not known. */
function inside({ buckets, scopes, tokenId }: Reader): Sql {
  if (!buckets && !scopes) return sql`true`;
  return sql`((bucket is not null and (${buckets ?? null}::text[] is null or bucket = any (${buckets ?? null}::text[]))
    and (${scopes ?? null}::text[] is null or scope = any (${scopes ?? null}::text[]))) or token_id = ${tokenId ?? null})`;
}

export interface EventRow {
  readonly id: string;
  readonly action: string;
  readonly target_id: string | null;
  readonly outcome: 'done' | 'denied';
  readonly code: string | null;
  readonly token_id: string | null;
  readonly agent_id: string | null;
  readonly request_id: string | null;
  /** Of what the service did of its own accord. */
  readonly bucket: string | null;
  readonly scope: string | null;
  readonly created_at: Date;
}

export async function readEvents(
  deps: Deps,
  reader: Reader,
  r: EventsRequest,
): Promise<{ events: EventRow[]; next: string | null }> {
  const { owner } = reader;
  const rows = await deps.db.transaction({ spaces: [], owner, readOnly: true }, (tx) =>
    tx.query<EventRow>(sql`
      select id, action, target_id, outcome, code, token_id, agent_id, request_id, bucket, scope, created_at from audit_events
      where owner = ${owner} and ${inside(reader)}
        and (${r.actions ?? null}::text[] is null or action = any (${r.actions ?? null}::text[]))
        and (${r.bucket ?? null}::text is null or bucket = ${r.bucket ?? null})
        and (${r.scope ?? null}::text is null or scope = ${r.scope ?? null})
        and (${r.target ?? null}::text is null or target_id = ${r.target ?? null})
        and (${r.outcome ?? null}::text is null or outcome = ${r.outcome ?? null})
        and (${r.since ?? null}::timestamptz is null or created_at >= ${r.since ?? null})
        and (${r.until ?? null}::timestamptz is null or created_at < ${r.until ?? null})
        and (${r.cursor ?? null}::uuid is null or id < ${r.cursor ?? null})
      order by id desc limit ${r.limit + 1} offset ${r.offset}`),
  );
  const events = rows.slice(0, r.limit);
  return { events, next: rows.length > r.limit ? events.at(-1)!.id : null };
}

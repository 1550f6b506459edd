/** Reads the audit trail of one owner, newest first. */
import { sql } from '../db/sql.ts';
import type { Deps } from '../deps.ts';

export interface EventsRequest {
  readonly action: string | undefined;
  readonly target: string | undefined;
  readonly outcome: 'done' | 'denied' | undefined;
  readonly since: Date | undefined;
  readonly until: Date | undefined;
  readonly limit: number;
  /** Id of the last event of the page before. */
  readonly cursor: string | undefined;
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
  readonly created_at: Date;
}

export async function readEvents(
  deps: Deps,
  owner: string,
  r: EventsRequest,
): Promise<{ events: EventRow[]; next: string | null }> {
  const rows = await deps.db.transaction({ spaces: [], owner, readOnly: true }, (tx) =>
    tx.query<EventRow>(sql`
      select id, action, target_id, outcome, code, token_id, agent_id, request_id, created_at from audit_events
      where owner = ${owner}
        and (${r.action ?? null}::text is null or action = ${r.action ?? null})
        and (${r.target ?? null}::text is null or target_id = ${r.target ?? null})
        and (${r.outcome ?? null}::text is null or outcome = ${r.outcome ?? null})
        and (${r.since ?? null}::timestamptz is null or created_at >= ${r.since ?? null})
        and (${r.until ?? null}::timestamptz is null or created_at < ${r.until ?? null})
        and (${r.cursor ?? null}::uuid is null or id < ${r.cursor ?? null})
      order by id desc limit ${r.limit + 1}`),
  );
  const events = rows.slice(0, r.limit);
  return { events, next: rows.length > r.limit ? events.at(-1)!.id : null };
}

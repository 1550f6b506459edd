/** HTTP of state and restart. */
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { assertInside } from '../db/boundary.ts';
import type { Deps } from '../deps.ts';
import { principalOf, requireScope } from '../http/auth.ts';
import { filterOf, isUuid, toFilters } from '../http/fields.ts';
import { withWarnings } from '../http/wire.ts';
import type { Agent } from '../types.ts';
import { endOf, toPlace, writingOf } from './input.ts';
import type { Memories } from './items.ts';
import * as replies from './replies.ts';
import { type Restored, restore } from './restore.ts';
import * as schema from './schema.ts';
import { takeSnapshot } from './snapshot.ts';
import { updateState } from './state.ts';
import type { ItemRow } from './store.ts';
import { toActiveState, toDecision, toEvent, toReminder } from './wire.ts';

const TAGS = ['work'];

export const stateRoutes =
  (deps: Deps, memories: Memories): FastifyPluginAsyncZod =>
  async (app) => {
    app.post('/update_state', {
      config: { scopes: ['memory:write'] },
      schema: {
        operationId: 'updateState',
        tags: TAGS,
        summary: 'Set the state of a task',
        description:
          'One working memory a key (inside owner, bucket and scope): the same id, a new version. It leads the packs with prefer_working.',
        body: schema.stateBody,
        response: { 200: replies.stateReply },
      },
      handler: async (request) => {
        const { body } = request;
        const input = toPlace(request, body);
        const writing = await writingOf(deps, memories, request, body);
        const row = await updateState(writing, {
          ...input,
          stateKey: body.state_key,
          content: body.content,
          currentTask: body.current_task,
          nextAction: body.next_action,
          blockedReason: body.blocked_reason,
          expiresAt: endOf(body.ttl_seconds, deps.now()) ?? null,
        });
        const times = { created_at: row.created_at.toISOString(), updated_at: row.updated_at.toISOString() };
        return withWarnings(request, { ...receipt(row), state_id: row.id, ...times });
      },
    });

    app.post('/restart/snapshot', {
      config: { scopes: ['memory:write'] },
      schema: {
        operationId: 'takeSnapshot',
        tags: TAGS,
        summary: 'Take a restart snapshot',
        description:
          'Keeps the state as it is and which events, open reminders and open decisions stood beside it. What is forgotten later is gone from it too.',
        body: schema.snapshotBody,
        response: { 201: replies.snapshotReply },
      },
      handler: async (request, reply) => {
        const { label, state_key, ...body } = request.body;
        const bucket = body.bucket === undefined || body.bucket === '%' ? 'work' : body.bucket;
        const from = toFilters({ bucket: body.bucket, scope: body.scope });
        assertInside(principalOf(request), from);
        const target = { ...body, bucket, scope: filterOf(body.scope) };
        const input = toPlace(request, target);
        const writing = await writingOf(deps, memories, request, target);
        const { row, counts } = await takeSnapshot(writing, {
          ...input,
          label,
          stateKey: state_key,
          from,
          limits: { events: body.timeline_limit, reminders: body.reminder_limit, decisions: body.decision_limit },
          expiresAt: endOf(body.ttl_seconds, deps.now()) ?? null,
        });
        return reply.code(201).send(
          withWarnings(request, {
            id: row.id,
            memory_id: row.id,
            snapshot_id: row.id,
            label: label ?? null,
            state_key,
            status: 'active' as const,
            created_at: row.created_at.toISOString(),
            expires_at: row.expires_at?.toISOString() ?? null,
            counts,
          }),
        );
      },
    });

    app.post('/restart/restore', {
      config: { scopes: ['memory:read'] },
      schema: {
        operationId: 'restoreSnapshot',
        tags: TAGS,
        summary: 'Take up the work again',
        description:
          'From the named snapshot; else from the latest that fits, or the present state when that is newer. Nothing there is no error: restored is false. Needs `memory:restore` or `memory:write` as well, unless neither a state nor an event is to be written.',
        body: schema.restoreBody,
        response: { 200: replies.restoreReply },
      },
      handler: async (request) => {
        const { body } = request;
        const principal = principalOf(request);
        if (body.restore_state || body.record_restore_event) requireScope(request, 'memory:restore', 'memory:write');
        if (body.snapshot_id !== undefined && !isUuid(body.snapshot_id)) return withWarnings(request, NOTHING);
        const from = toFilters({
          bucket: body.bucket,
          scope: body.scope,
          session_id: body.source_session_id,
          status: '%',
        });
        assertInside(principal, from);
        const writing = await writingOf(deps, memories, request, body);
        const restored = await restore(writing, {
          snapshotId: body.snapshot_id,
          stateKey: body.state_key,
          from,
          team: filterOf(body.team_id),
          targetSession: body.target_session_id ?? body.session_id,
          restoreState: body.restore_state,
          recordEvent: body.record_restore_event,
          expiresAt: endOf(body.ttl_seconds, deps.now()),
          source: body.source ?? null,
        });
        return withWarnings(request, restored ? toReply(restored, body.state_key, writing.agent) : NOTHING);
      },
    });
  };

const NOTHING = {
  restored: false,
  status: 'not_found' as const,
  id: null,
  memory_id: null,
  snapshot_id: null,
  restored_at: null,
  snapshot: null,
  state_update: null,
  event_id: null,
};

function receipt(row: ItemRow) {
  return {
    id: row.id,
    memory_id: row.id,
    state_key: row.state_key ?? '',
    version: row.version,
    status: 'active' as const,
    expires_at: row.expires_at?.toISOString() ?? null,
  };
}

function toReply({ snapshot, state, frozen, items, present, event, at }: Restored, stateKey: string, agent: Agent) {
  const id = snapshot?.id ?? state?.id ?? null;
  const of = <T>(kind: ItemRow['kind'], wire: (row: ItemRow, asking: Agent) => T) =>
    items.filter((item) => item.kind === kind).map((item) => wire(item, agent));
  return {
    restored: true,
    status: 'restored' as const,
    id,
    memory_id: id,
    snapshot_id: snapshot?.id ?? null,
    restored_at: at.toISOString(),
    snapshot: {
      id: snapshot?.id ?? null,
      label: typeof snapshot?.metadata.label === 'string' ? snapshot.metadata.label : null,
      created_at: snapshot?.created_at.toISOString() ?? null,
      expires_at: snapshot?.expires_at?.toISOString() ?? null,
      state_key: snapshot?.state_key ?? stateKey,
      active_state: state ? toActiveState(state, frozen) : null,
      events: of('event', toEvent),
      reminders: of('reminder', toReminder),
      decisions: of('decision', toDecision),
    },
    state_update: present ? receipt(present) : null,
    event_id: event?.id ?? null,
  };
}

/** HTTP of work: timeline, reminders and decisions. State and restart are in state-routes.ts. */
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { Deps } from '../deps.ts';
import { ApiError } from '../errors.ts';
import { agentOf, principalOf } from '../http/auth.ts';
import { filterOf, idParams, toDate } from '../http/fields.ts';
import { repeatable } from '../http/idempotency.ts';
import { ignoreEmpty } from '../http/input.ts';
import { withWarnings } from '../http/wire.ts';
import { closeRequest, listRequest, toWork, writingOf } from './input.ts';
import { close, list, type Memories, store } from './items.ts';
import * as replies from './replies.ts';
import * as schema from './schema.ts';
import { stateRoutes } from './state-routes.ts';
import { decisionText, toDecision, toEvent, toReminder } from './wire.ts';

const READ = { scopes: ['memory:read' as const] };
const WRITE = { scopes: ['memory:write' as const] };
const TAGS = ['work'];

/** None of them chooses what is read or closed. */
const MAY_BE_EMPTY = ['due_at', 'occurred_at', 'session_id', 'note', 'current_task', 'next_action', 'blocked_reason'];

export const workRoutes =
  (deps: Deps, memories: Memories): FastifyPluginAsyncZod =>
  async (app) => {
    ignoreEmpty(app, MAY_BE_EMPTY);
    await app.register(stateRoutes(deps, memories));

    app.post('/timeline/events', {
      config: WRITE,
      schema: {
        operationId: 'recordEvent',
        tags: TAGS,
        summary: 'Record an event',
        description: 'An episodic memory, found by every read from the moment of the reply.',
        body: schema.eventBody,
        response: { 201: replies.eventReply },
      },
      handler: async (request, reply) => {
        const { body } = request;
        const input = toWork(request, body, { content: body.content, path: 'work/timeline', memoryType: 'episodic' });
        const occurredAt = toDate(body.occurred_at) ?? deps.now();
        const writing = await writingOf(deps, memories, request, body);
        const row = await store(writing, { ...input, occurredAt }, { kind: 'event', eventType: body.event_type });
        return reply.code(201).send(withWarnings(request, toEvent(row, agentOf(request, body))));
      },
    });

    app.get('/timeline', {
      config: READ,
      schema: {
        operationId: 'timeline',
        tags: TAGS,
        summary: 'List events',
        description: 'Newest first.',
        querystring: schema.timelineQuery,
        response: { 200: replies.timelineReply },
      },
      handler: async (request) => {
        const { query } = request;
        const eventType = filterOf(query.event_type);
        const { rows, total } = await list(
          deps,
          principalOf(request),
          listRequest(request, query, { kind: 'event', eventType }),
        );
        const events = rows.map((row) => toEvent(row, agentOf(request)));
        return withWarnings(request, { events, items: events, total });
      },
    });

    app.post('/reminders', {
      config: WRITE,
      schema: {
        operationId: 'createReminder',
        tags: TAGS,
        summary: 'Add a reminder',
        description:
          'A todo, with or without a time. While it is open it is a working memory; completed, it leaves the packs and stays in its list.',
        body: schema.reminderBody,
        response: { 201: replies.reminderReply },
      },
      handler: async (request, reply) => {
        const { body } = request;
        const input = toWork(request, body, { content: body.content, path: 'work/todos', memoryType: 'working' });
        const writing = await writingOf(deps, memories, request, body);
        const item = { kind: 'reminder' as const, itemStatus: 'open' as const, dueAt: toDate(body.due_at) };
        const row = await store(writing, input, item);
        return reply.code(201).send(withWarnings(request, toReminder(row, agentOf(request, body))));
      },
    });

    app.get('/reminders', {
      config: READ,
      schema: {
        operationId: 'listReminders',
        tags: TAGS,
        summary: 'List reminders',
        description: 'The next due first, then those without a time, newest first.',
        querystring: schema.reminderQuery,
        response: { 200: replies.reminderList },
      },
      handler: async (request) => {
        const { item_status, due_before } = request.query;
        const itemStatus =
          item_status === '%' || item_status === 'all' ? undefined : item_status === 'done' ? 'completed' : item_status;
        const wanted = { kind: 'reminder' as const, itemStatus, dueBefore: toDate(due_before) };
        const { rows, total } = await list(
          deps,
          principalOf(request),
          listRequest(request, { ...request.query, status: '%' }, wanted),
        );
        const reminders = rows.map((row) => toReminder(row, agentOf(request)));
        return withWarnings(request, { reminders, items: reminders, total });
      },
    });

    app.post('/reminders/:id/complete', {
      config: WRITE,
      schema: {
        operationId: 'completeReminder',
        tags: TAGS,
        summary: 'Complete a reminder',
        description: 'Completing it again changes nothing and answers the same.',
        params: idParams,
        body: schema.completeBody,
        response: { 200: replies.reminderReply },
      },
      handler: async (request) => {
        const { note, ...which } = request.body;
        const metadata = note === undefined ? {} : { note };
        const row = await close(await repeatable(deps, request), memories, principalOf(request), {
          ...closeRequest(request.params.id, which),
          kind: 'reminder',
          status: 'completed',
          metadata,
        });
        return withWarnings(request, toReminder(row, agentOf(request)));
      },
    });

    app.post('/decisions', {
      config: WRITE,
      schema: {
        operationId: 'createDecision',
        tags: TAGS,
        summary: 'Note a pending decision',
        description: 'A working memory of the question and its options until it is resolved.',
        body: schema.decisionBody,
        response: { 201: replies.decisionReply },
      },
      handler: async (request, reply) => {
        const { body } = request;
        const input = toWork(request, body, {
          content: decisionText(body.context, body.options),
          path: 'work/decisions',
          memoryType: 'working',
        });
        const metadata = { ...input.metadata, options: body.options };
        const item = { kind: 'decision' as const, itemStatus: 'open' as const, dueAt: toDate(body.due_at) };
        const writing = await writingOf(deps, memories, request, body);
        const row = await store(writing, { ...input, metadata }, item);
        return reply.code(201).send(withWarnings(request, toDecision(row, agentOf(request, body))));
      },
    });

    app.get('/decisions', {
      config: READ,
      schema: {
        operationId: 'listDecisions',
        tags: TAGS,
        summary: 'List decisions',
        description: 'The next due first, then those without a time, newest first.',
        querystring: schema.decisionQuery,
        response: { 200: replies.decisionList },
      },
      handler: async (request) => {
        const { item_status, due_before } = request.query;
        const itemStatus = item_status === '%' || item_status === 'all' ? undefined : item_status;
        const wanted = { kind: 'decision' as const, itemStatus, dueBefore: toDate(due_before) };
        const { rows, total } = await list(
          deps,
          principalOf(request),
          listRequest(request, { ...request.query, status: '%' }, wanted),
        );
        return withWarnings(request, { decisions: rows.map((row) => toDecision(row, agentOf(request))), total });
      },
    });

    app.post('/decisions/:id/resolve', {
      config: WRITE,
      schema: {
        operationId: 'resolveDecision',
        tags: TAGS,
        summary: 'Resolve a decision',
        description: 'The same resolution again changes nothing; another one is a 409.',
        params: idParams,
        body: schema.resolveBody,
        response: { 200: replies.decisionReply },
      },
      handler: async (request) => {
        const { resolution, ...which } = request.body;
        const closing = {
          ...closeRequest(request.params.id, which),
          kind: 'decision' as const,
          status: 'resolved' as const,
          metadata: { resolution },
        };
        const row = await close(await repeatable(deps, request), memories, principalOf(request), closing);
        if (row.metadata.resolution !== resolution)
          throw new ApiError('conflict', 'the decision was resolved otherwise before');
        return withWarnings(request, toDecision(row, agentOf(request)));
      },
    });
  };

/**
 * What each operation asks of our own routes, and the narrow result that its clients print: an id as a bare string, a list as a bare array.
 * Nothing is decided here: token, scopes, boundaries and limits are those of the route behind.
 */
import { invalid } from '../errors.ts';
import { uuidOf } from '../http/fields.ts';
import type { OperationName } from './schema.ts';

export type Arguments = Readonly<Record<string, unknown>>;

// biome-ignore lint/suspicious/noExplicitAny: the reply of a route, which its own schema has checked
export type RouteReply = any;

export interface RouteRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** Query of a GET, body of the others. */
  readonly input: Arguments;
}

interface Operation {
  readonly request: (args: Arguments) => RouteRequest;
  readonly result: (reply: RouteReply) => unknown;
}

const get = (path: string, input: Arguments): RouteRequest => ({ method: 'GET', path, input });
const post = (path: string, input: Arguments): RouteRequest => ({ method: 'POST', path, input });

/** The id, for a path in which nothing but an id may stand, and the rest. @throws ApiError validation_error, not_found */
function withId({ id, todo_id, memory_id, ...rest }: Arguments): { id: string; rest: Arguments } {
  const given = id ?? todo_id ?? memory_id;
  if (typeof given !== 'string' || given === '') throw invalid('body', 'arguments', 'id is missing', 'missing');
  return { id: uuidOf(given), rest };
}

const idOf = (reply: RouteReply): unknown => reply.id;

/** The skill says done where the routes say completed. */
const TODO_STATUS: Readonly<Record<string, string>> = { done: 'completed', pending: 'open' };

const removal: Operation = {
  request: ({ idempotency_key, ...args }) => ({
    method: 'DELETE',
    path: `/ledger/transactions/${withId(args).id}`,
    input: idempotency_key === undefined ? {} : { idempotency_key },
  }),
  result: ({ id, status }) => ({ id, status }),
};

export const OPERATIONS: Readonly<Record<Exclude<OperationName, 'doctor'>, Operation>> = {
  remember: { request: (args) => post('/remember', args), result: idOf },
  recall: { request: (args) => get('/recall', args), result: (reply) => reply.results },
  search: { request: (args) => get('/memories/search', args), result: (reply) => reply.results },
  update: {
    request: (args) => {
      const { id, rest } = withId(args);
      return { method: 'PATCH', path: `/memories/${id}`, input: rest };
    },
    result: (reply) => reply,
  },
  forget: {
    request: (args) => {
      const { id, rest } = withId(args);
      return post(`/memories/${id}/forget`, rest);
    },
    result: ({ id, status, mode }) => ({ id, status, mode }),
  },
  'state-save': {
    request: ({ key, ...args }) => post('/update_state', { ...args, state_key: args.state_key ?? key }),
    result: ({ id, state_key, version, expires_at }) => ({ id, state_key, version, expires_at }),
  },
  'state-restore': {
    request: ({ key, ...args }) =>
      post('/restart/restore', {
        ...args,
        state_key: args.state_key ?? key,
        restore_state: false,
        record_restore_event: false,
      }),
    result: (reply) => {
      const state = reply.snapshot?.active_state;
      return state
        ? {
            id: state.id,
            state_key: state.state_key,
            content: state.content,
            metadata: state.metadata,
            version: state.version,
            expires_at: state.expires_at,
          }
        : null;
    },
  },
  'todo-add': {
    request: ({ due, ...args }) => post('/reminders', { ...args, due_at: args.due_at ?? due }),
    result: idOf,
  },
  'todo-list': {
    request: ({ status, ...args }) =>
      get('/reminders', { ...args, item_status: TODO_STATUS[String(status)] ?? status ?? args.item_status }),
    result: (reply) =>
      reply.reminders.map((todo: RouteReply) => ({
        id: todo.id,
        content: todo.content,
        status: todo.status === 'completed' ? 'done' : todo.status,
        due_at: todo.due_at,
        path: todo.path,
      })),
  },
  'todo-done': {
    request: (args) => {
      const { id, rest } = withId(args);
      return post(`/reminders/${id}/complete`, rest);
    },
    result: ({ id }) => ({ id, status: 'done' }),
  },
  'expense-add': { request: (args) => post('/ledger/expenses', args), result: idOf },
  'ledger-list': {
    request: (args) => get('/me/ledger/transactions', args),
    result: ({ transactions, total }) => ({ transactions, total }),
  },
  'ledger-summary': {
    request: (args) => get('/me/ledger/monthly-summary', { ...args, months: args.months ?? 6 }),
    result: ({ summary }) => ({ summary }),
  },
  'ledger-delete': removal,
  'expense-delete': removal,
  overview: { request: (args) => get('/me/overview', args), result: (reply) => reply },
  activity: { request: (args) => get('/me/activity', args), result: (reply) => reply },
};

/** Flag names as they were typed become field names; what was not given is left out. */
export function toArguments(given: Arguments): Arguments {
  const named = Object.entries(given).map(([name, value]) => [name.replaceAll('-', '_'), value] as const);
  return Object.fromEntries(named.filter(([, value]) => value !== undefined && value !== null));
}

/** Query text: objects as JSON, everything else as it reads. */
export function toQuery(input: Arguments): Record<string, string> {
  const given = Object.entries(input).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    given.map(([name, value]) => [name, typeof value === 'object' ? JSON.stringify(value) : String(value)]),
  );
}

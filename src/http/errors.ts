/** The one renderer of errors. Nothing of the database, of a memory or of a token leaves through it. */
import { closest, distance } from 'fastest-levenshtein';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { FastifySchemaValidationError } from 'fastify/types/schema.js';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import '../faults.ts';
import { ApiError, type ErrorCode, type Fault } from '../errors.ts';
import { CANONICAL_MOUNT } from './openapi.ts';

/** Fastify's own errors that a caller causes, by code. Every other error is ours: a 500. */
const FASTIFY_CODES: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_INVALID_JSON_BODY: 'bad_json',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'bad_json',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'bad_json',
  FST_ERR_CTP_BODY_TOO_LARGE: 'payload_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_BAD_URL: 'route_not_found',
  FST_ERR_MAX_PARAM_LENGTH: 'not_found',
};

export function registerErrors(app: FastifyInstance): void {
  /** Methods by path. */
  const routes = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    if (!url.includes('*')) routes.set(url, new Set([...(routes.get(url) ?? []), ...[method].flat()]));
  });
  app.setErrorHandler<FastifyError>(renderError);
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?')[0]!.slice(0, 200);
    const methods = new Set([...routes].flatMap(([url, methods]) => (isAt(url, path) ? [...methods] : [])));
    if (methods.size === 0) return send(request, reply, noRoute(request.method, path, [...routes.keys()]));
    const allowed = [...methods].join(', ');
    reply.header('allow', allowed);
    return send(
      request,
      reply,
      new ApiError('method_not_allowed', `${path} does not take ${request.method}: ${allowed}`),
    );
  });
}

/** As the router reads it: a parameter takes any segment, slashes too many do not count. */
function isAt(url: string, path: string): boolean {
  const segments = path.split('/').filter(Boolean);
  const own = url.split('/').filter(Boolean);
  return own.length === segments.length && own.every((name, i) => name.startsWith(':') || name === segments[i]);
}

function noRoute(method: string, path: string, known: readonly string[]): ApiError {
  const nearest = closest(path, known);
  const hint =
    distance(path, nearest) <= path.length / 2
      ? `did you mean ${nearest}?`
      : `GET ${CANONICAL_MOUNT} lists what there is`;
  return new ApiError('route_not_found', `there is no route ${method} ${path}; ${hint}`);
}

/** Also for what fails before a route is found. */
export function renderError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const known = toApiError(error);
  if (known.status >= 500)
    request.log.error({ err: known.cause ?? error, event: 'request_failed', code: known.code }, 'request failed');
  else request.log.debug({ event: 'request_refused', code: known.code }, 'request refused');
  return send(request, reply, known);
}

/** Of a list that is wrong throughout the first few say enough. */
const MAX_FAULTS = 50;

/** A whole number has the bounds of whole numbers before its own: of two limits of one field the second is the one that counts. */
function narrowest(faults: readonly FastifySchemaValidationError[]): FastifySchemaValidationError[] {
  return faults
    .slice(0, MAX_FAULTS)
    .filter((fault, i, all) => !/^too_/.test(fault.keyword) || !isSame(fault, all[i + 1]));
}

const isSame = (a: FastifySchemaValidationError, b: FastifySchemaValidationError | undefined): boolean =>
  a.instancePath === b?.instancePath && a.keyword === b.keyword;

function toApiError(error: FastifyError): ApiError {
  if (error instanceof ApiError) return error;
  if (hasZodFastifySchemaValidationErrors(error)) {
    const place =
      error.validationContext === 'querystring'
        ? 'query'
        : error.validationContext === 'params'
          ? 'path'
          : (error.validationContext ?? 'body');
    const faults = narrowest(error.validation).map((v): Fault => {
      const field = v.instancePath.split('/').filter(Boolean);
      const where = field.join('.') || 'body';
      return {
        loc: [place, ...field],
        msg: `${where}: ${v.message ?? 'is not valid'}`,
        type: v.keyword ?? 'value_error',
      };
    });
    return new ApiError('validation_error', faults[0]?.msg, { faults });
  }
  // the caller went away, or was cut off, while its body was read
  if (error.code === 'ECONNRESET' && error.message === 'aborted') return new ApiError('request_timeout');
  const code = FASTIFY_CODES[error.code];
  if (code) return new ApiError(code, undefined, { cause: error });
  if (error instanceof SyntaxError && error.statusCode === 400)
    return new ApiError('bad_json', undefined, { cause: error });
  // what a plugin refuses: a path of the reference page that cannot be one
  if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500)
    return new ApiError(error.statusCode === 404 ? 'route_not_found' : 'bad_request', undefined, { cause: error });
  return new ApiError('internal_error', undefined, { cause: error });
}

function send(request: FastifyRequest, reply: FastifyReply, error: ApiError): FastifyReply {
  if (error.status === 401 || error.status === 403) reply.header('www-authenticate', `Bearer error="${error.code}"`);
  if (error.retryAfter !== undefined) reply.header('retry-after', error.retryAfter);
  return reply
    .code(error.status)
    .header('x-request-id', request.id)
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send({
      detail: error.faults?.map((fault) => placed(request, fault)) ?? error.detail ?? error.message,
      error: { code: error.code, message: error.message, request_id: request.id },
      request_id: request.id,
    });
}

/** A GET has no body: what is checked for both methods stands in its query. */
function placed({ method }: FastifyRequest, { loc: [place, ...field], ...fault }: Fault): Fault {
  return { loc: [place === 'body' && /^(GET|HEAD)$/.test(method) ? 'query' : place!, ...field], ...fault };
}

/** The address that clients reach the service under, for whatever names it. */
import type { FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';

const HOST = /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/** PUBLIC_URL; else what the request says of its host, when that is one; else where we listen. Without a slash at the end. */
export function baseUrlOf(config: Config, request: FastifyRequest): string {
  if (config.PUBLIC_URL !== undefined) return config.PUBLIC_URL.replace(/\/+$/, '');
  const { host, protocol } = request;
  return HOST.test(host) ? `${protocol}://${host}` : `http://${config.HOST}:${config.PORT}`;
}

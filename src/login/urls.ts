/** The addresses that the documents name. */
import type { FastifyRequest } from 'fastify';
import type { Deps } from '../deps.ts';
import { baseUrlOf } from '../http/base-url.ts';
import type { Urls } from './documents.ts';

export function urlsOf(deps: Deps, request: FastifyRequest): Urls {
  const base = baseUrlOf(deps.config, request);
  return { base, mcp: deps.config.MCP_URL ?? `${base}/mcp` };
}

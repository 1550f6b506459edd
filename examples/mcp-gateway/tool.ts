/** What a tool is: its description for the model, and one call of the service. */
import type { ToolAnnotations } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import type { Service } from './service.ts';

export interface Tool<Shape extends z.ZodRawShape = z.ZodRawShape> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly annotations: ToolAnnotations;
  /** Unknown arguments are refused: a mistyped filter must not widen a search. */
  readonly input: z.ZodObject<Shape, z.core.$strict>;
  /** The text of the result. @throws ServiceError */
  run(service: Service, input: z.output<z.ZodObject<Shape, z.core.$strict>>): Promise<string>;
}

/** Ties the arguments of `run` to the schema; afterwards tools of different arguments stand in one list. */
export const tool = <Shape extends z.ZodRawShape>(made: Tool<Shape>): Tool => made as unknown as Tool;

export const READS: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};
export const WRITES: ToolAnnotations = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: false,
};
export const DESTROYS: ToolAnnotations = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: false,
};

export const text = z.string().min(1);
export const name = z.string().min(1).max(256);
/** Stands in a path: no separator and no dot segment may lead to another route. */
export const id = z.string().regex(/^(?!\.{1,2}$)[^\s/\\?#%]{1,256}$/, 'is not an id');

export const agentShape = {
  agent_id: name.optional().describe('Who asks or writes, for attribution. Never narrows a search.'),
  agent_instance_id: name.optional().describe('The installation of that agent; only a hash is kept.'),
};
type Agent = { agent_id?: string | undefined; agent_instance_id?: string | undefined };

/** Splits off who asks: it travels in headers. */
export function withoutAgent<T extends Agent>({ agent_id, agent_instance_id, ...rest }: T) {
  return {
    rest,
    agent: {
      ...(agent_id !== undefined && { agentId: agent_id }),
      ...(agent_instance_id !== undefined && { agentInstanceId: agent_instance_id }),
    },
  };
}

/** `Reference: … | Type: … | …`: one line, whatever the values hold. */
export function line(fields: Readonly<Record<string, unknown>>): string {
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined && value !== null && value !== '')
    .map(([label, value]) => `${label}: ${String(value).replace(/\s+/g, ' ').replaceAll('|', '¦')}`)
    .join(' | ');
}

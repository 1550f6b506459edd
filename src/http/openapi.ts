/** The OpenAPI document, made from the schemas that validate, and the reference page that shows it. */
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { jsonSchemaTransform } from 'fastify-type-provider-zod';
import type { OpenAPIV3_1 } from 'openapi-types';
import { stringify } from 'yaml';
import { z } from 'zod';
import { errorSchema } from './wire.ts';

/** Documented here; the mounts of existing clients serve the same routes and stay out of the document. */
export const CANONICAL_MOUNT = '/docs/api/memory';
export const CLIENT_MOUNTS = ['/v1', '/api/v1'];

const DESCRIPTION = `A durable memory for AI agents: store memories with \`remember\`, and ask \`recall/context\` at the start of a task for a
context pack, the few memories that matter for a query inside a hard budget of items and tokens.

The same routes answer under /v1 and /api/v1 for existing clients; there unknown fields are tolerated and named in \`warnings\`.`;

const STATUSES: Readonly<Record<string, string>> = {
  '4XX': 'The request is at fault: error.code says how, detail says what (on 422 a list, one entry a field).',
  '5XX': 'The service is at fault; quote request_id. 503 carries Retry-After.',
};

export async function registerOpenapi(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'xmemo-api',
        version: '1',
        description: DESCRIPTION,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/', description: 'This service' }],
      tags: [
        { name: 'recall', description: 'Finding memories.' },
        { name: 'memory', description: 'The life of a memory.' },
        { name: 'work', description: 'Events, reminders, decisions, the state of a task and its restart.' },
        { name: 'ledger', description: 'Expenses, income, refunds and transfers, in exact decimals.' },
        { name: 'login', description: 'Discovery, and a token for a device that an owner approves.' },
        { name: 'knowledge', description: 'Documents, and the search in them.' },
        { name: 'access', description: 'Tokens, teams and the audit trail.' },
        { name: 'agents', description: 'Temporary agents: without an owner, until somebody claims them.' },
        { name: 'operation', description: 'For the operator.' },
      ],
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
          apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        },
      },
      security: [{ bearer: [] }, { apiKey: [] }],
    },
    transform: (input) => {
      const transformed = jsonSchemaTransform(input as Parameters<typeof jsonSchemaTransform>[0]);
      const { scopes } = input.route.config ?? {};
      const schema = transformed.schema as Record<string, unknown>;
      if (!input.url.startsWith(`${CANONICAL_MOUNT}/`)) return { schema: { ...schema, hide: true }, url: input.url };
      const description = [schema.description, scopes && `Scope: ${scopes.map((s) => `\`${s}\``).join(' or ')}.`]
        .filter(Boolean)
        .join('\n\n');
      return { schema: { ...schema, ...(description && { description }) }, url: input.url };
    },
    transformObject: (document) =>
      withErrors(
        'openapiObject' in document ? (document.openapiObject as OpenAPIV3_1.Document) : ({} as never),
      ) as never,
  });
  await app.register(swaggerUi, {
    routePrefix: CANONICAL_MOUNT,
    staticCSP: true,
    uiConfig: { docExpansion: 'list', persistAuthorization: true, tryItOutEnabled: true },
  });
}

/** Written once: no route comes later, and whoever asks needs no token, while the YAML holds everybody up for 0.1 s. */
export function openapiRoutes(app: FastifyInstance): void {
  for (const [file, type, render] of [
    ['openapi.json', 'application/json; charset=utf-8', () => JSON.stringify(app.swagger())],
    ['openapi.yaml', 'application/yaml; charset=utf-8', () => toYaml(app)],
  ] as const) {
    let text: string | undefined;
    app.get(
      `${CANONICAL_MOUNT}/${file}`,
      { config: { open: true }, schema: { hide: true } as never },
      (_request, reply) => {
        text ??= render();
        return reply.type(type).send(text);
      },
    );
  }
}

export const toYaml = (app: FastifyInstance): string =>
  stringify(app.swagger(), { lineWidth: 120, aliasDuplicateObjects: false });

/** Every operation answers errors in one shape. */
function withErrors(document: OpenAPIV3_1.Document): OpenAPIV3_1.Document {
  const error = z.toJSONSchema(errorSchema, { target: 'draft-2020-12' }) as OpenAPIV3_1.SchemaObject & {
    $schema?: string;
  };
  delete error.$schema;
  document.components = { ...document.components, schemas: { ...document.components?.schemas, Error: error } };
  for (const item of Object.values(document.paths ?? {})) {
    for (const operation of Object.values(item ?? {}) as OpenAPIV3_1.OperationObject[]) {
      if (typeof operation !== 'object' || !operation.responses) continue;
      for (const [status, description] of Object.entries(STATUSES)) {
        operation.responses[status] ??= {
          description,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
        };
      }
    }
  }
  return document;
}

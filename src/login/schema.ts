/** The wire of discovery and of the device flow. */
import { z } from 'zod';
import { name } from '../http/fields.ts';
import { TOKEN_SCOPES } from '../types.ts';

export const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:device_code';

const text = z.string().max(512).optional();

export const startBody = z.object({
  client_id: name.describe('Shown to the owner who approves.'),
  client_name: text,
  client_version: text,
  cli_version: text.describe('Alias of client_version.'),
  surface: text,
  token_type: text.describe('Ignored: there is one kind of token.'),
  scopes: z
    .union([z.array(name).max(50), z.string().max(2_000)])
    .optional()
    .describe('A list, or blank-separated. Default: read and write memory.'),
  scope: z.string().max(2_000).optional().describe('Alias of scopes.'),
  agent_id: name.optional(),
  agent_instance_id: name.optional(),
});

export const startReply = z.object({
  device_code: z.string(),
  user_code: z.string(),
  verification_uri: z.string(),
  verification_uri_complete: z.string(),
  interval: z.number().int(),
  expires_in: z.number().int(),
});

export const tokenBody = z.object({
  device_code: z.string().min(1).max(512),
  grant_type: z.string().max(256).default(GRANT_TYPE),
  client_id: text,
});

const account = z.object({ id: z.string(), user_id: z.string(), display_name: z.string(), name: z.string() });

export const tokenReply = z.object({
  access_token: z.string(),
  token: z.string().describe('The same.'),
  token_type: z.literal('Bearer'),
  expires_in: z.number().int(),
  scope: z.string(),
  scopes: z.array(z.string()),
  user: account,
  account: account.describe('The same as user.'),
});

export const approveBody = z.object({
  user_code: z.string().min(1).max(64),
  decision: z.enum(['approve', 'deny']).default('approve'),
});

export const approveReply = z.object({
  status: z.enum(['approved', 'denied']),
  client_id: z.string(),
  scopes: z.array(z.enum(TOKEN_SCOPES)),
});

export const pageQuery = z.object({ user_code: z.string().max(64).optional() });

export const pageBody = z.object({
  user_code: z.string().max(64).default(''),
  token: z.string().max(8_192).default(''),
  decision: z.enum(['review', 'approve', 'deny']).default('review'),
});

export const clientParams = z.object({ client: z.string().min(1).max(64) });

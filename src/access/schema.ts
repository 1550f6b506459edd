/** The wire of tokens, teams and temporary agents. */
import { z } from 'zod';
import { idempotencyKey as idempotency_key, instant, name } from '../http/fields.ts';
import { warningsSchema } from '../http/wire.ts';
import { TOKEN_SCOPES } from '../types.ts';

const scope = z.enum(TOKEN_SCOPES);
const names = z.array(name).max(1_000);
const time = z.string().describe('RFC 3339, UTC');

/** Headers carry agent names, so they hold nothing that a header cannot. */
const label = name.regex(/^[^\p{Cc}]*$/u, 'must hold no control characters');

export const createTokenBody = z.object({
  name: label.describe('What it is for, to know it again in a list.'),
  scopes: z
    .array(scope.exclude(['temporary:read', 'temporary:write']))
    .min(1)
    .describe('Never more than the token that asks has.'),
  teams: names.optional().describe('Only these teams. Default: those of the token that asks.'),
  buckets: names
    .optional()
    .describe('Only these buckets, in every read and write. Default: those of the token that asks.'),
  memory_scopes: names.optional().describe('Only memories with one of these scopes, likewise.'),
  agent_id: label.optional().describe('Writes as this agent, whatever a header says.'),
  profile: z.literal('public').optional().describe('Recall always answers in the text profile.'),
  expires_at: instant.optional().describe('At most 366 days ahead. Default: 90 days.'),
  idempotency_key,
});

const tokenShape = {
  id: z.string(),
  name: z.string(),
  scopes: z.array(scope),
  teams: z.array(z.string()).nullable().describe('null: the teams of the owner, whatever they are.'),
  buckets: z.array(z.string()).nullable().describe('null: all.'),
  memory_scopes: z.array(z.string()).nullable().describe('null: all.'),
  agent_id: z.string().nullable(),
  profile: z.literal('public').nullable(),
  status: z.enum(['active', 'expired']),
  created_at: time,
  expires_at: time.nullable(),
  last_used_at: time.nullable().describe('To the minute.'),
};

export const tokenReply = z.object({
  ...tokenShape,
  token: z.string().describe('The secret, shown here and never again.'),
  warnings: warningsSchema,
});
export const tokensReply = z.object({ tokens: z.array(z.object(tokenShape)) });

export const emptyBody = z.object({ idempotency_key });

export const revokedReply = z.object({
  id: z.string(),
  status: z.literal('revoked'),
  revoked_at: time,
  warnings: warningsSchema,
});

export const validateReply = z.object({
  status: z.literal('valid'),
  scopes: z.array(scope),
  setup_state: z.literal('setup_completed'),
  owner: z.string(),
  token_id: z.string().nullable(),
  teams: z.array(z.string()),
  buckets: z.array(z.string()).nullable(),
  memory_scopes: z.array(z.string()).nullable(),
  agent_id: z.string().nullable(),
  profile: z.literal('public').nullable(),
  expires_at: time.nullable(),
});

export const createTeamBody = z.object({
  name: label.describe('For people; the id is what memories are shared with.'),
  idempotency_key,
});

const role = z.enum(['admin', 'member']);
const standing = z.enum(['member', 'invited']).describe('invited: the team reaches the owner only after it joined.');

export const teamReply = z.object({
  id: z.string(),
  name: z.string(),
  role,
  status: standing,
  created_at: time,
  warnings: warningsSchema,
});
export const teamsReply = z.object({ teams: z.array(teamReply.omit({ warnings: true })) });

export const memberBody = z.object({
  owner: name.optional().describe('Whom to invite, or whose role to change. Absent: yourself, to join.'),
  role: role.default('member'),
  idempotency_key,
});
export const memberQuery = z.object({
  owner: name.optional().describe('Whom to take out. Absent: yourself, to leave or decline.'),
});

const member = z.object({ owner: z.string(), role, status: standing, joined_at: time.nullable() });
export const memberReply = z.object({ id: z.string(), ...member.shape, warnings: warningsSchema });
export const membersReply = z.object({ members: z.array(member) });
export const removedReply = z.object({
  id: z.string(),
  owner: z.string(),
  status: z.literal('removed'),
  warnings: warningsSchema,
});

export const registerBody = z.object({
  entry_type: name.optional(),
  client_name: label.optional().describe('Becomes the name of the token that the agent gets when it is claimed.'),
  client_version: name.optional(),
  installation_fingerprint: z.unknown().optional().describe('Not stored.'),
  runtime: z.unknown().optional().describe('Not stored.'),
  skill_package_id: z.unknown().optional().describe('Not stored.'),
  metadata: z.unknown().optional().describe('Not stored.'),
  idempotency_key,
});

export const registerReply = z.object({
  id: z.string(),
  agent_id: z.string(),
  temporary_token: z.string().describe('Can remember, recall, recall context and search in a store of its own.'),
  claim_code: z
    .string()
    .describe(
      'Who has it may claim the agent and its memories: show it to the person whom you work for, and nobody else.',
    ),
  bind_url: z.string(),
  status: z.literal('unclaimed'),
  expires_at: time,
  warnings: warningsSchema,
});

export const agentStatusReply = z.object({
  id: z.string(),
  agent_id: z.string(),
  status: z
    .enum(['unclaimed', 'pending_bind_confirmation', 'claimed'])
    .describe('pending_bind_confirmation: an owner asked for the agent; it confirms or denies.'),
  memories: z.number().int(),
  max_items: z.number().int(),
  expires_at: time,
  formal_token: z.string().optional().describe('Once, in the first answer after the claim.'),
  confirmation_token: z.string().optional().describe('What a claim that waits is confirmed with.'),
});

export const confirmBody = z.object({
  confirmation_token: name.optional().describe('From agents/status or a 428; of an owner, the claim code.'),
  claim_code: name.optional().describe('Of an owner.'),
  idempotency_key,
});
export const bindBody = z.object({ claim_code: name, idempotency_key });
export const bindPageQuery = z.object({ code: name.optional() });
export const bindPageBody = z.object({
  code: z.string().max(256).default(''),
  token: z.string().max(8_192).default(''),
});

export const pendingReply = z.object({
  id: z.string(),
  agent_id: z.string(),
  status: z.literal('pending_bind_confirmation'),
  warnings: warningsSchema,
});

export const denyBody = z.object({ claim_code: name.optional(), idempotency_key });

export const claimedReply = z.object({
  id: z.string(),
  agent_id: z.string(),
  status: z.literal('claimed'),
  claimed_at: time,
  warnings: warningsSchema,
});
export const deniedReply = z.object({
  id: z.string(),
  agent_id: z.string(),
  status: z.literal('denied'),
  warnings: warningsSchema,
});

export const wellKnownReply = z.object({
  temporary_token: z.object({
    limits: z.object({
      max_items: z.number().int(),
      ttl_seconds: z.number().int(),
      max_lifetime_seconds: z.number().int(),
    }),
    scopes: z.array(scope),
  }),
  urls: z.object({ register: z.string(), status: z.string(), docs: z.string() }),
});

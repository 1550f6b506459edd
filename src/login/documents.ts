/** The documents by which clients find their way. None holds a token. */
import { CANONICAL_MOUNT } from '../http/openapi.ts';
import { DEFAULT_SCOPES, GIVEN_SCOPES } from './granting.ts';
import { GRANT_TYPE } from './schema.ts';

export interface Urls {
  readonly base: string;
  readonly mcp: string;
}

/** Clients compare major.minor with their own. */
const CONTRACT_VERSION = '0.4.0';

const TOKEN_ENV_VAR = 'XMEMO_KEY';

/** Those that `mcpConfig` knows; `generic` stands for every other one. */
export const MCP_CLIENTS = [
  'claude-code',
  'claude-desktop',
  'codex',
  'cursor',
  'gemini-cli',
  'hermes',
  'kiro',
  'openclaw',
  'vscode',
  'windsurf',
  'generic',
] as const;
export type McpClient = (typeof MCP_CLIENTS)[number];

const agentBoundary = {
  client_allowed: [
    'remember',
    'recall',
    'search',
    'recall_context',
    'forget',
    'timeline',
    'reminders',
    'decisions',
    'state',
    'ledger',
  ],
  admin_required: ['tokens', 'teams', 'audit'],
};

export function memoryOs({ base, mcp }: Urls) {
  return {
    service: 'memory-os',
    version: CONTRACT_VERSION,
    urls: {
      api_base: base,
      mcp,
      guide: `${base}${CANONICAL_MOUNT}`,
      docs: `${base}${CANONICAL_MOUNT}`,
      token_portal: `${base}/device`,
      onboarding_status: `${base}/v1/onboarding/status`,
      root_discovery: `${base}/.well-known/memory-os.json`,
      openapi: `${base}${CANONICAL_MOUNT}/openapi.json`,
    },
    auth: { token_env_var: TOKEN_ENV_VAR, token_in_discovery: false, schemes: ['bearer', 'x-api-key'] },
    clients: { mcp: MCP_CLIENTS.map((id) => ({ id, config_endpoint: `${base}/v1/mcp/config/${id}` })) },
    agent_boundary: agentBoundary,
  };
}

export function agentDiscovery({ base, mcp }: Urls, operations: readonly string[]) {
  return {
    service: 'memory-os',
    name: 'xmemo-api',
    schema_version: '1.0',
    service_version: CONTRACT_VERSION,
    protocol: 'memory-os-agent-discovery-v1',
    urls: { docs: `${base}${CANONICAL_MOUNT}`, root_discovery: `${base}/.well-known/memory-os.json` },
    api: { base_url: base, mcp: { url: mcp } },
    mcp_url: mcp,
    clients: MCP_CLIENTS.map((id) => ({ id })),
    supported_clients: [...MCP_CLIENTS],
    security: { no_remote_code_execution: true, token_in_discovery: false },
    auth: { token_in_discovery: false, token_env_var: TOKEN_ENV_VAR },
    standalone_skill: {
      status: 'available',
      runtime_model: 'standalone_skill',
      package: { version: CONTRACT_VERSION },
      operations: [...operations],
      auth: { default_scopes: DEFAULT_SCOPES },
    },
  };
}

export function authorizationServer({ base, mcp }: Urls) {
  return {
    issuer: base,
    authorization_endpoint: `${base}/oauth/authorize`,
    token_endpoint: `${base}/oauth/token`,
    registration_endpoint: `${base}/oauth/register`,
    revocation_endpoint: `${base}/oauth/revoke`,
    device_authorization_endpoint: `${base}/v1/auth/device/start`,
    grant_types_supported: ['authorization_code', 'refresh_token', GRANT_TYPE],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    authorization_response_iss_parameter_supported: true,
    scopes_supported: GIVEN_SCOPES,
    resource: mcp,
    mcp_endpoint: mcp,
    service_documentation: `${base}${CANONICAL_MOUNT}`,
  };
}

/** What the tools of the MCP gateway take: clients ask for all of it. */
const MCP_SCOPES = [...DEFAULT_SCOPES, 'knowledge:read', 'ledger:read', 'ledger:write'];

export function protectedResource({ base, mcp }: Urls) {
  return {
    resource: mcp,
    resource_name: 'xmemo-api',
    authorization_servers: [base],
    scopes_supported: MCP_SCOPES,
    bearer_methods_supported: ['header'],
    resource_documentation: `${base}${CANONICAL_MOUNT}`,
  };
}

export function onboarding({ base }: Urls) {
  return {
    ready: true,
    setup_state: 'setup_completed',
    requirements: { token_portal_url: `${base}/device`, token_env_var: TOKEN_ENV_VAR },
    agent_boundary: agentBoundary,
  };
}

/** The server entry of a client's config; the token stays in the environment. */
export function mcpConfig({ mcp }: Urls, client: McpClient) {
  const authorization = `Bearer \${${client === 'vscode' ? 'env:' : ''}${TOKEN_ENV_VAR}}`;
  const server = { type: 'http', url: mcp, headers: { Authorization: authorization } };
  const common = {
    client,
    transport: 'streamable-http',
    url: mcp,
    token_env_var: TOKEN_ENV_VAR,
    token_in_config: false,
  };
  if (client === 'codex') {
    const toml = `[mcp_servers.xmemo]\nurl = "${mcp}"\nbearer_token_env_var = "${TOKEN_ENV_VAR}"\n`;
    return { ...common, format: 'toml', config: toml };
  }
  if (client === 'vscode') return { ...common, format: 'json', config: { servers: { xmemo: server } } };
  if (client === 'gemini-cli')
    return { ...common, format: 'json', config: { mcpServers: { xmemo: { httpUrl: mcp, headers: server.headers } } } };
  return { ...common, format: 'json', config: { mcpServers: { xmemo: server } } };
}

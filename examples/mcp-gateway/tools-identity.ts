/** Who the token belongs to: clients ask it once after signing in, and show the first line. */
import { z } from 'zod';
import { line, READS, tool } from './tool.ts';

interface Identity {
  readonly owner: string;
  readonly agent_id: string | null;
  readonly scopes: readonly string[];
  readonly expires_at: string | null;
}

export const getMcpIdentity = tool({
  name: 'get_mcp_identity',
  title: 'Who am I',
  description:
    'The account that the token belongs to, the agent that it is bound to, and what it may do. Call it to check the connection.',
  annotations: READS,
  input: z.strictObject({}),
  async run(service) {
    const reply = await service({ method: 'GET', path: '/auth/token/validate', accept: 'application/json' });
    const { owner, agent_id, scopes, expires_at } = JSON.parse(reply) as Identity;
    return [line({ Account: owner, Agent: agent_id }), line({ Scopes: scopes.join(', '), Expires: expires_at })].join(
      '\n',
    );
  },
});

/** The tools that store and forget. */
import { z } from 'zod';
import { agentShape, DESTROYS, id, line, name, text, tool, WRITES, withoutAgent } from './tool.ts';

const json = z.string().default('{}');
const unit = z.number().min(0).max(1).optional();

export const remember = tool({
  name: 'remember',
  title: 'Remember',
  description:
    'Store one fact, preference, decision, event or rule that will matter later, in a sentence that stands alone. Never secrets, never small talk. Found by every recall from now on.',
  annotations: WRITES,
  input: z.strictObject({
    content: text.describe('The text, at most 524,288 bytes.'),
    path: z.string().min(1).max(1_024).describe('A category like projects/xmemo or preferences.'),
    bucket: name.default('public').describe('Namespace; made by its first use.'),
    scope: name.optional().describe('Narrowing tag.'),
    team_id: name.optional().describe('Share with this team.'),
    memory_type: z
      .enum(['semantic', 'episodic', 'procedural', 'working', 'identity', 'auto'])
      .default('auto')
      .describe('auto: the service decides.'),
    semantic_key: name
      .optional()
      .describe('Stable name of one evolving fact: writing it again makes a new version of the same memory.'),
    dedupe: z.boolean().default(false).describe('Do not store the very same text twice.'),
    importance: unit,
    confidence: unit,
    expires_at: z.string().optional().describe('RFC 3339; from then on it is in no read.'),
    metadata_json: json.describe('A JSON object.'),
    provenance_json: json.describe('A JSON object.'),
    device_id: name.optional(),
    device_label: name.optional(),
    ...agentShape,
  }),
  async run(service, input) {
    const { rest, agent } = withoutAgent(input);
    const { metadata_json: metadata, provenance_json: provenance, ...body } = rest;
    const reply = await service(
      { method: 'POST', path: '/remember', body: { ...body, metadata, provenance }, accept: 'application/json' },
      agent,
    );
    const stored = JSON.parse(reply) as { id: string; memory_type: string; outcome: string; version: number };
    return line({
      Reference: stored.id,
      Type: stored.memory_type,
      Location: input.path,
      Outcome: stored.outcome,
      Version: stored.version,
    });
  },
});

/** Names that other servers of this tool resolve from a session. There is none here, and a guess could forget a stranger's memory. */
const UNRESOLVED = ['current', 'latest'];

export const forget = tool({
  name: 'forget',
  title: 'Forget a memory',
  description: 'Take one memory out of every read from now on. Only what the user asked to forget.',
  annotations: DESTROYS,
  input: z.strictObject({
    target: id
      .refine((target) => !UNRESOLVED.includes(target), 'there is no current memory here: give the exact id')
      .describe('The exact id: the Reference of a recall or of remember.'),
    reason: z.string().max(1_000).optional(),
    mode: z
      .enum(['soft_delete', 'hard_delete'])
      .default('soft_delete')
      .describe('soft_delete can be restored, hard_delete is final.'),
  }),
  async run(service, { target, ...body }) {
    const reply = await service({
      method: 'POST',
      path: `/memories/${encodeURIComponent(target)}/forget`,
      body,
      accept: 'application/json',
    });
    const forgotten = JSON.parse(reply) as { id: string; status: string; mode: string };
    return line({ Reference: forgotten.id, Status: forgotten.status, Mode: forgotten.mode });
  },
});

/** The wire of the three recall routes. */
import { z } from 'zod';
import { asOf, filterShape, instant, name, queryText } from '../http/fields.ts';
import { agentBoundary, memoryShape, warningsSchema } from '../http/wire.ts';
import { CONTRADICTIONS } from '../text/contradiction.ts';
import { TOKENIZERS } from '../types.ts';

const common = {
  query: queryText,
  ...filterShape,
  threshold: z.number().min(0).max(1).optional().describe('Least score of a result, 0 to 1.'),
  asked_at: instant
    .optional()
    .describe('What "last week" in the query counts from; default: the newest memory found, never the clock.'),
  as_of: asOf,
  explain: z.boolean().optional().describe('Say for each result how its score came about.'),
  profile: z
    .enum(['public', 'structured'])
    .optional()
    .describe('`public`: the text profile, as with Accept: text/plain.'),
  idempotency_key: name.optional().describe('Ignored: reads change nothing.'),
};

export const MAX_RESULTS = 50;
const limit = z.number().int().min(1).max(MAX_RESULTS).default(5).describe('Results, 1 to 50.');

export const recallInput = z.object({
  ...common,
  limit,
  prefer_working: z.boolean().default(false).describe('Lift active working state.'),
});

export const contextInput = z.object({
  ...common,
  max_items: z.number().int().min(1).max(50).default(8).describe('Items of the pack, 1 to 50.'),
  max_tokens: z
    .number()
    .int()
    .min(1)
    .max(12_000)
    .default(1_500)
    .describe('Hard bound on the tokens of context_text, 1 to 12,000.'),
  max_item_tokens: z
    .number()
    .int()
    .min(16)
    .max(12_000)
    .optional()
    .describe('What each item may take before every item has its share; default 100.'),
  budget_scope: z
    .enum(['context', 'answer'])
    .default('context')
    .describe('`answer`: max_tokens bounds the whole text answer, heading and reference lines included.'),
  tokenizer: z.enum(TOKENIZERS).default('o200k_base'),
  limit: z
    .number()
    .int()
    .min(1)
    .max(100)
    .optional()
    .describe('Ranked candidates that are considered, 1 to 100; default 60.'),
  include_knowledge: z
    .boolean()
    .default(false)
    .describe(
      'Mix in sections of the documents in the knowledge bases, with type `knowledge`. Needs the scope `knowledge:read` as well.',
    ),
  prefer_working: z.boolean().default(true).describe('Lift active working state.'),
  since_pack: z
    .string()
    .max(8_192)
    .optional()
    .describe(
      'pack_id of an earlier pack: only what is new or changed since is sent, and what no longer holds is named in `delta`. Not beside `as_of`.',
    ),
  exclude_seen: z
    .boolean()
    .default(false)
    .describe(
      'Never send a version of a memory twice in the session that session_id names (it is then no filter). By POST only, since it writes that down. Not beside `as_of`.',
    ),
});

export type RecallInput = z.infer<typeof recallInput>;
export type ContextInput = z.infer<typeof contextInput>;

const score = z
  .number()
  .min(0)
  .max(1)
  .describe('How likely it is what was asked for, 0 to 1: of many results at 0.8 about 80 % are.');
const similarity = z.number().min(0).max(1).describe('Cosine of its best passage.');

const explanation = z
  .object({
    fused: z.number(),
    parts: z.record(z.string(), z.number()),
    bm25: z.number(),
    cosine: z.number().nullable(),
  })
  .optional()
  .describe('With explain=true.');

const result = z.object({ ...memoryShape, score, similarity, snippet: z.string(), explanation });

const status = z
  .enum(['ok', 'empty', 'below_threshold', 'degraded'])
  .describe(
    'empty: nothing visible matched. below_threshold: what was found is too weak to be an answer. degraded: a part of the search is out of order, see retrieval_plan.',
  );

const plan = z.object({
  arms: z.array(z.string()),
  model: z.string(),
  terms: z.array(z.string()),
  limits: z.record(z.string(), z.number()),
  filters: z.record(z.string(), z.unknown()),
  thresholds: z.record(z.string(), z.number()),
  answerability: z.number(),
  degraded: z.array(z.string()),
});

const coverage = z.object({ candidates: z.number().int(), returned: z.number().int(), answerability: z.number() });

export const recallReply = z.object({
  status,
  results: z.array(result),
  coverage,
  agent_boundary: agentBoundary,
  retrieval_plan: plan,
  usage_tracking_id: z.string(),
  warnings: warningsSchema,
});

const dropped = z.object({
  id: z.uuid(),
  reason: z.enum(['max_items', 'max_tokens', 'near_duplicate', 'seen']),
  of: z.uuid().optional(),
});

export const contextReply = z.object({
  version: z.literal('1'),
  status,
  retrieval_plan: plan,
  budget: z.object({
    max_items: z.number().int(),
    max_tokens: z.number().int(),
    used_items: z.number().int(),
    used_tokens: z.number().int().describe('Tokens of context_text.'),
    rendered_tokens: z.number().int().describe('Tokens of the whole text answer.'),
    tokenizer: z.enum(TOKENIZERS),
    dropped: z.array(dropped),
    shortened: z.array(z.object({ id: z.uuid(), tokens: z.number().int(), full_tokens: z.number().int() })),
    dropped_items: z.number().int(),
    truncated: z.boolean(),
    items: z.number().int().describe('Alias of used_items.'),
    tokens: z.number().int().describe('Alias of used_tokens.'),
  }),
  items: z.array(
    z.object({
      ...result.shape,
      content: z.string().describe('As in the pack: shortened when truncated is true.'),
      tokens: z.number().int(),
      truncated: z.boolean(),
      full_tokens: z.number().int(),
    }),
  ),
  conflicts: z
    .array(z.object({ newer: z.uuid(), older: z.uuid(), reason: z.enum([...CONTRADICTIONS, 'semantic_key']) }))
    .describe('Items that cannot both hold. They stand side by side, the newer first; the text marks the older.'),
  delta: z
    .object({
      since_pack: z.string(),
      new: z.array(z.uuid()),
      changed: z.array(z.uuid()).describe('Sent in another version than before.'),
      unchanged: z.array(z.uuid()).describe('Held by the reader, still true, and not sent again.'),
      withdrawn: z
        .array(z.object({ id: z.uuid(), reason: z.enum(['gone', 'changed']) }))
        .describe(
          'No longer to be believed. gone: forgotten, expired or out of reach. changed: it says something else now, which did not fit here.',
        ),
    })
    .optional()
    .describe('With since_pack.'),
  coverage,
  agent_boundary: agentBoundary,
  context_text: z.string(),
  pack_id: z
    .string()
    .describe(
      'Names what its reader holds, up to 100 memories, the latest; for since_pack. A text answer has it in the header x-xmemo-pack-id.',
    ),
  usage_tracking_id: z.string(),
  warnings: warningsSchema,
});

export const explainInput = contextInput.extend({ memory_id: z.uuid().describe('The memory that is asked about.') });

export const explainReply = z.object({
  memory_id: z.uuid(),
  found: z.boolean().describe('Among the ranked candidates.'),
  rank: z.number().int().nullable(),
  arms: z
    .object({ lexical: z.number().int().nullable(), vector: z.number().int().nullable() })
    .describe('Its place in each arm; null: the arm has no score for it.'),
  score: score.optional(),
  explanation,
  kept_out_by: z.array(z.string()).describe('`expired`, `status`, or the filters that exclude it.'),
  pack: z.string().nullable().describe('What became of it in the context pack of this request.'),
  answerability: z.number(),
  verdict: z.string(),
  warnings: warningsSchema,
});

export type ExplainReply = z.infer<typeof explainReply>;
export type Result = z.infer<typeof result>;
export type ContextReply = z.infer<typeof contextReply>;
export type RecallReply = z.infer<typeof recallReply>;

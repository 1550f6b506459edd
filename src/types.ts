/**
 * The glossary and the types that more than one folder speaks of.
 *
 * memory      one stored text with its columns (bucket, scope, path, type …); the unit that is recalled, changed and forgotten
 * space       the unit of isolation and of every index: an owner's own space, a team's, a temporary agent's
 * owner       the account behind a token
 * agent       a program that writes or asks, for attribution; a temporary agent registered itself and has a space until an owner claims it
 * principal   who asks: owner, teams, token scopes and boundaries, all from the token
 * token scope a right of a token (`memory:read`); not to be confused with
 * scope       a narrowing tag of a memory, as bucket and path are
 * passage     a part of a memory that fits the model's window; has a vector
 * term        a word after analysis; terms belong to the whole memory
 * arm         one way to find candidates: vector, lexical, exact id
 * candidate   a memory found by an arm, before and after ranking
 * item        a memory in an answer
 * pack        the answer of recall context: items inside a budget, as text and as JSON
 * block       an item as it stands in the pack's context_text
 * excerpt     the part of a long memory that is shown
 */

export const MEMORY_TYPES = ['semantic', 'episodic', 'procedural', 'working', 'identity'] as const;
export type MemoryType = (typeof MEMORY_TYPES)[number];

export const MEMORY_STATUSES = ['active', 'archived', 'deleted'] as const;
export type MemoryStatus = (typeof MEMORY_STATUSES)[number];

export const TOKENIZERS = ['o200k_base', 'cl100k_base'] as const;
export type TokenizerName = (typeof TOKENIZERS)[number];

/** Number of tokens of a text, special tokens counted as ordinary text. */
export type CountTokens = (text: string, tokenizer: TokenizerName) => number;

export const TOKEN_SCOPES = [
  'memory:read',
  'memory:write',
  'memory:delete',
  'memory:restore',
  'memory:admin',
  'temporary:read',
  'temporary:write',
  'knowledge:read',
  'knowledge:write',
  'ledger:read',
  'ledger:write',
  'audit:read',
  'tokens:manage',
] as const;
export type TokenScope = (typeof TOKEN_SCOPES)[number];

/** Memories that a temporary agent may hold. */
export const TEMPORARY_MEMORIES = 100;

/** What a token narrows: absent means everything of its spaces. */
export interface Boundary {
  readonly buckets?: readonly string[] | undefined;
  readonly scopes?: readonly string[] | undefined;
}

/** Who asks, computed once from the token. A request can only narrow it. */
export interface Principal extends Boundary {
  readonly owner: string;
  readonly tokenId: string | undefined;
  readonly tokenScopes: ReadonlySet<TokenScope>;
  readonly teams: readonly string[];
  /** The token names no teams of its own: `teams` are the owner's memberships, whatever they are now. */
  readonly allTeams: boolean;
  /** Temporary agents that the owner claimed: their spaces are read beside the owner's own. */
  readonly claimedAgents: readonly string[];
  /** Set for a temporary agent: its own space is the only one that it reads and writes. */
  readonly agentSpace: string | undefined;
  /** Set while an owner waits for this agent to confirm that it is claimed: what the agent confirms with. */
  readonly pendingBinding?: string | undefined;
  /** The agent that the token is bound to; wins over any header. */
  readonly boundAgent: string | undefined;
  readonly profile: 'public' | undefined;
  readonly expiresAt: Date | undefined;
  /** The request that this principal makes, for the audit trail. */
  readonly requestId: string | undefined;
}

/** Who writes or asks, for attribution; never for access. */
export interface Agent {
  readonly id: string | undefined;
  /** Hash of the instance id. */
  readonly instance: string | undefined;
}

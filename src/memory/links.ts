/** What memory asks of recall and of the ledger. Capabilities do not import each other: app.ts hands these functions over. */
import type { Tx } from '../db/db.ts';
import type { Sql } from '../db/sql.ts';
import type { Deps } from '../deps.ts';
import type { Principal } from '../types.ts';
import type { ForgetInput } from './forget.ts';

/** How a query finds one memory. */
export interface Match {
  /** 1 is the best; null: not among the ranked candidates. */
  readonly rank: number | null;
  readonly candidates: number;
  /** 0..1, as in results; null when it is not ranked. */
  readonly score: number | null;
  readonly snippet: string | null;
  readonly explanation: {
    readonly fused: number;
    readonly parts: Record<string, number>;
    readonly bm25: number;
    readonly cosine: number | null;
  } | null;
  /** Whether strict search would return anything for this query. */
  readonly answerability: number;
}

/** What a memory said, to look for it once more. */
export interface Probe {
  readonly spaces: readonly number[];
  readonly content: string;
  /** Key of the model that made the vector. */
  readonly model: number;
  readonly vector: Float32Array | undefined;
  /** On the alias m. */
  readonly predicate: Sql;
}

export interface RecallLinks {
  readonly explainMatch: (
    deps: Deps,
    principal: Principal,
    query: string,
    row: { readonly id: string; readonly content: string },
  ) => Promise<Match>;
  /** Ids that both arms find, in the caller's transaction. */
  readonly findByText: (tx: Tx, probe: Probe) => Promise<string[]>;
}

export interface MemoryLinks extends RecallLinks {
  /** For an id that is no memory's: the transaction of the ledger that it names is deleted for good. @throws ApiError not_found, insufficient_scope */
  readonly forgetTransaction: (
    deps: Deps,
    principal: Principal,
    input: Pick<ForgetInput, 'id' | 'mode' | 'bucket' | 'scope'>,
  ) => Promise<ForgottenTransaction>;
}

export interface ForgottenTransaction {
  readonly id: string;
  readonly at: Date;
}

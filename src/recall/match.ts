/** For those who ask why, or whether at all: how a query finds one memory, and whether the arms find a text. */
import type { Tx } from '../db/db.ts';
import type { Sql } from '../db/sql.ts';
import { ACTIVE } from '../db/visible.ts';
import type { Deps } from '../deps.ts';
import { analyse } from '../text/analyse.ts';
import type { Principal } from '../types.ts';
import { findCandidates } from './candidates.ts';
import { explanationOf, round } from './results.ts';
import { search } from './search.ts';
import { snippetOf } from './snippet.ts';

/** The ranking of recall for this query, told about one memory. */
export async function explainMatch(
  deps: Deps,
  principal: Principal,
  query: string,
  row: { readonly id: string; readonly content: string },
) {
  const request = { query, filters: ACTIVE, team: undefined, preferWorking: false, askedAt: undefined };
  return search(deps, principal, request, new Map(), async (_tx, ranking) => {
    const at = ranking.ranked.findIndex(({ candidate }) => candidate.id === row.id);
    const entry = ranking.ranked[at];
    return {
      rank: entry ? at + 1 : null,
      candidates: ranking.ranked.length,
      score: entry ? round(entry.relevance) : null,
      snippet: entry ? snippetOf(row.content, ranking.weights) : null,
      explanation: entry ? explanationOf(entry) : null,
      answerability: round(ranking.answerability),
    };
  });
}

/** Terms of a text that are looked for; a whole book would be a query of a hundred thousand words. */
const PROBED_TERMS = 64;

/** Ids that both arms find by a text and its vector, in the caller's transaction and state. */
export async function findByText(
  tx: Tx,
  probe: {
    readonly spaces: readonly number[];
    readonly content: string;
    readonly model: number;
    readonly vector: Float32Array | undefined;
    readonly predicate: Sql;
  },
): Promise<string[]> {
  const { content, ...rest } = probe;
  const terms = [...new Set(analyse(content))].slice(0, PROBED_TERMS);
  const { candidates } = await findCandidates(tx, { ...rest, terms, scale: { factor: 1, offset: 0 } });
  return candidates.map(({ id }) => id);
}

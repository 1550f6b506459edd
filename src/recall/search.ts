/**
 * The one search behind recall, strict search and recall context: request → question and its vector → both arms in one statement → ranking.
 * The query is embedded before a connection is taken.
 */
import { spacesOf } from '../db/boundary.ts';
import type { Tx } from '../db/db.ts';
import { ensureModel, findSpaces } from '../db/spaces.ts';
import { sql } from '../db/sql.ts';
import { type Filters, inside, matches, visible } from '../db/visible.ts';
import type { Deps } from '../deps.ts';
import { isUuid } from '../http/fields.ts';
import type { Principal } from '../types.ts';
import { findCandidates, NOTHING } from './candidates.ts';
import { constantsOf } from './constants.ts';
import { embedQuery } from './embed-query.ts';
import { readPast } from './past.ts';
import { readQuestion } from './question.ts';
import { type Asked, exact, type Ranking, rankFound } from './ranking.ts';
import { lockSent } from './sent.ts';

export interface SearchRequest {
  readonly query: string;
  readonly filters: Filters;
  readonly team: string | undefined;
  readonly preferWorking: boolean;
  /** Spaces of knowledge bases that are searched as well, or alone. Whoever names them has checked that the principal may see them. */
  readonly knowledge?: { readonly spaces: readonly number[]; readonly alone: boolean } | undefined;
  /** What relative times in the query are counted from; default: the newest candidate's time, never the clock. */
  readonly askedAt: Date | undefined;
  /** What was known at this instant; default: what is known now. */
  readonly asOf?: Date | undefined;
  /** The caller's session, whose sent memories are looked up and written down; it is locked until the answer is made. */
  readonly session?: string | undefined;
  /** Nothing is sent, so nothing is written down. */
  readonly unsent?: boolean | undefined;
  /** What must have been read before the state is looked at; runs beside the embedding of the query. */
  readonly after?: Promise<unknown> | undefined;
}

/** Milliseconds of each stage, for Server-Timing. */
export type Stages = Map<string, number>;

/** Runs `use` in the transaction of the search: what it loads is of the same state. */
export async function search<T>(
  deps: Deps,
  principal: Principal,
  request: SearchRequest,
  stages: Stages,
  use: (tx: Tx, ranking: Ranking) => Promise<T>,
): Promise<T> {
  const asked = await prepare(deps, principal, request, stages);
  const clock = stopwatch(stages);
  const { spaces, model, constants, embedded } = asked;
  const terms = [...asked.question.terms, ...asked.question.glossTerms];
  const now = deps.now();
  const at = request.asOf && request.asOf < now ? request.asOf : undefined;
  const predicate = sql`${visible(principal, at ?? now)} and ${matches(request.filters)}`;
  const { session } = request;
  const access = session === undefined ? { spaces, readOnly: true } : { spaces, owner: principal.owner };
  return deps.db.transaction(access, async (tx) => {
    if (session !== undefined) await lockSent(tx, principal.owner, session);
    const past = at && (await readPast(tx, { spaces, at, boundary: principal, now, terms }));
    const id = request.query.trim();
    if (isUuid(id)) {
      const ranking = await exact(tx, asked, id.toLowerCase(), predicate, past);
      clock('db');
      return use(tx, ranking);
    }
    const arms = {
      spaces,
      terms,
      model,
      vector: embedded?.vector,
      scale: constants.scale,
      predicate,
      reach: principal.buckets || principal.scopes ? inside(principal) : undefined,
      past: past?.index,
    };
    const found = spaces.length === 0 ? NOTHING : await findCandidates(tx, arms);
    clock('db');
    const ranking = await rankFound(tx, asked, found, request, past);
    clock('rank');
    return use(tx, ranking);
  });
}

/** All that needs no transaction of the search, side by side. */
async function prepare(deps: Deps, principal: Principal, request: SearchRequest, stages: Stages): Promise<Asked> {
  const degraded: string[] = deps.embedder.degraded ? [deps.embedder.degraded] : [];
  const { knowledge, query } = request;
  const state = Promise.all([
    knowledge?.alone ? [] : findSpaces(deps.db, spacesOf(principal, request.team)),
    ensureModel(deps.db, deps.embedder),
    request.after,
  ]);
  const [[own, model], embedded] = await Promise.all([
    timed(stages, 'state', state),
    timed(stages, 'embed', embedQuery(deps, principal.owner, query, degraded)),
  ]);
  return {
    spaces: [...own, ...(knowledge?.spaces ?? [])],
    model,
    constants: constantsOf(deps.embedder),
    question: readQuestion(query, embedded?.gloss),
    embedded,
    degraded,
  };
}

async function timed<T>(stages: Stages, stage: string, work: Promise<T>): Promise<T> {
  const clock = stopwatch(stages);
  try {
    return await work;
  } finally {
    clock(stage);
  }
}

function stopwatch(stages: Stages): (stage: string) => void {
  let last = performance.now();
  return (stage) => {
    const now = performance.now();
    stages.set(stage, (stages.get(stage) ?? 0) + now - last);
    last = now;
  };
}

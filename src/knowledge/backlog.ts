/**
 * Makes the vectors that a document was stored without: its sender does not wait for those of a long one, and an embedder may fail.
 * Until then it is found by its words. Each document is claimed, so that replicas do not do the same work; a claim that is not renewed ends.
 */
import { ensureModel } from '../db/spaces.ts';
import type { Deps } from '../deps.ts';
import { ownTerms } from '../text/indexed.ts';
import type { Engine } from './engine.ts';
import * as stored from './store-sections.ts';

export interface Backlog {
  /** Looks for work now, and again as often as claims end: a replica may have died over its own. */
  start(): void;
  /** Begins to work, unless it does already. Never throws. */
  wake(): void;
  /** Resolves when nothing is being done any more. */
  stop(): Promise<void>;
}

const AT_ONCE = 16;
const CLAIM_MS = 5 * 60_000;

export function makeBacklog(deps: Deps, engine: Engine): Backlog {
  let running: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  async function work(): Promise<void> {
    for (;;) {
      const claimed = await claim();
      if (!claimed || stopped) return;
      while (!stopped && (await embedSome(deps, engine, claimed)));
    }
  }

  function claim() {
    const now = deps.now();
    return deps.db.admin((tx) => stored.claimUnembedded(tx, now, new Date(now.getTime() + CLAIM_MS)));
  }

  function wake(): void {
    if (stopped || running) return;
    running = work()
      .catch((err: unknown) => deps.log.warn({ err, event: 'embedding_failed' }, 'a document waits for its vectors'))
      .finally(() => {
        running = undefined;
      });
  }

  return {
    wake,
    start() {
      wake();
      timer = setInterval(wake, CLAIM_MS).unref();
    },
    async stop() {
      stopped = true;
      clearInterval(timer);
      await running;
    },
  };
}

/** The vectors are made without a connection. False when the document is done, or gone. */
async function embedSome(deps: Deps, engine: Engine, document: { space_id: number; id: string }): Promise<boolean> {
  const { space_id: space, id } = document;
  const model = await ensureModel(deps.db, deps.embedder);
  const sections = await deps.db.transaction({ spaces: [space], readOnly: true }, (tx) =>
    stored.findUnembedded(tx, space, id, model, AT_ONCE),
  );
  const made: { section: stored.Unembedded; passages: Awaited<ReturnType<Engine['passagesOf']>> }[] = [];
  for (const section of sections) made.push({ section, passages: await engine.passagesOf(deps.embedder, section) });
  const done = made.every(({ passages }) => passages.length === 0);
  await deps.db.transaction({ spaces: [space] }, async (tx) => {
    if (done) return stored.markEmbedded(tx, space, id);
    const there = await stored.holdSections(
      tx,
      space,
      sections.map(({ seq }) => seq),
    );
    for (const { section, passages } of made) {
      if (!there.has(section.seq)) continue;
      await engine.writePassages(tx, space, section.seq, model, passages, ownTerms(section).length);
    }
    await engine.touchSpace(tx, space, { memories: 0, terms: 0 });
  });
  return !done;
}

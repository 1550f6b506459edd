/** npm start: opens what the configuration names, migrates, listens, and prints what a newcomer needs. */
import closeWithGrace from 'close-with-grace';
import { buildApp, ENGINE, SWEEPS } from '../app.ts';
import { migrate, pendingMigrations } from '../db/migrate.ts';
import { keepAnalyzed } from '../db/tidy.ts';
import type { Deps } from '../deps.ts';
import { keepIndexed } from '../knowledge/parts.ts';
import { keepPurged } from '../memory/purge.ts';
import { keepEmbedded } from '../memory/reembed.ts';
import { makeCountTokens } from '../recall/tokens.ts';
import { timeRanges } from '../text/dates.ts';
import { TOKEN_SCOPES } from '../types.ts';
import { configOrExit, fail, jwtSecret, makeLog, openDb, openEmbedder, signsTokens } from './start.ts';
import { signToken } from './tokens.ts';
import { welcome } from './welcome.ts';

const SHUTDOWN_MS = 10_000;
const DEMO_TTL_SECONDS = 30 * 86_400;
const NOT_MIGRATED = 'the database is not migrated: run npm run migrate, or set MIGRATE_ON_START=true';

const config = configOrExit();
const log = makeLog(config);

try {
  const secret = await jwtSecret(config);
  log.info({ event: 'starting' }, 'opening the database and the model; the first start takes longest');
  const [db, embedder] = await Promise.all([openDb(config, log), openEmbedder(config, log)]);
  if (config.MIGRATE_ON_START ?? db.kind === 'embedded') {
    const ran = await migrate(db);
    if (ran.length > 0) log.info({ event: 'migrated', migrations: ran }, 'migrated');
  } else {
    const pending = await pendingMigrations(db);
    if (pending.length > 0) log.error({ event: 'not_migrated', pending }, NOT_MIGRATED);
  }
  const deps: Deps = { config, db, embedder, countTokens: makeCountTokens(), now: () => new Date(), log };
  await warm(deps);
  const app = await buildApp(deps, secret);
  const embedding = keepEmbedded(deps);
  const indexing = keepIndexed(deps, ENGINE);
  const purging = keepPurged(deps, SWEEPS);
  const analyzing = keepAnalyzed(db, log);
  app.addHook('onClose', async () => {
    await Promise.allSettled([indexing.stop(), embedding.stop(), purging.stop(), analyzing.stop(), embedder.close()]);
    await db.close();
  });
  closeWithGrace({ delay: SHUTDOWN_MS, logger: log }, async ({ err }) => {
    if (err) log.fatal({ err, event: 'crash' }, 'unexpected error, shutting down');
    await app.close();
  });
  const address = await app.listen({ host: config.HOST, port: config.PORT }).catch(async (error: unknown) => {
    await app.close(); // the embedded database is put down in order
    throw error;
  });
  // The demo owner is for trying the embedded database; on Postgres the operator hands out tokens.
  if (db.kind === 'embedded' && signsTokens(config)) {
    const token = signToken(secret, {
      owner: 'demo',
      scopes: TOKEN_SCOPES.filter((scope) => !scope.startsWith('temporary:')),
      ttlSeconds: DEMO_TTL_SECONDS,
    });
    console.log(welcome(address, token));
  }
} catch (error) {
  fail(error);
}

/** The first request must not pay for what loads on first use: the tokenizer, the date parser, the model's first run. */
async function warm({ countTokens, embedder: model, log }: Deps): Promise<void> {
  countTokens('warm', 'o200k_base');
  timeRanges('what happened last week', Date.now());
  await model.embed(['warm'], 'query').catch((err: unknown) => {
    log.warn({ err, event: 'embedding_failed' }, 'the embedder does not answer yet: memories are found by words alone');
  });
}

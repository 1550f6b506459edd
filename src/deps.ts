/** What every verb needs, as one plain object: the first argument everywhere. */
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import type { Db } from './db/db.ts';
import type { Embedder } from './embed/embedder.ts';
import type { CountTokens } from './types.ts';

export interface Deps {
  readonly config: Config;
  readonly db: Db;
  readonly embedder: Embedder;
  readonly countTokens: CountTokens;
  readonly now: () => Date;
  readonly log: Logger;
}

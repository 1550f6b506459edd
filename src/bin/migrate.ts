/** npm run migrate: runs the migrations that the database has not seen. Safe beside a running service and beside itself. */
import { migrate } from '../db/migrate.ts';
import { configOrExit, fail, makeLog, openDb } from './start.ts';

const config = configOrExit();
try {
  const db = await openDb(config, makeLog(config));
  const ran = await migrate(db);
  await db.close();
  console.log(ran.length === 0 ? 'nothing to migrate' : `migrated: ${ran.join(', ')}`);
} catch (error) {
  fail(error);
}

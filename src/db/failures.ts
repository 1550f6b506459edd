/** What the database's errors mean: by code and never by class, since the embedded database has classes of its own. */
import { ApiError } from '../errors.ts';

const RETRYABLE = new Set(['40001', '40P01']); // serialization_failure, deadlock_detected
/** Sockets and connections, a password that was changed, a database that is gone or a standby now, a full disk. */
const OUT_OF_REACH =
  /^(08|25006|28|3D|53|57P|58|ECONN|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|ETIMEDOUT|EPIPE|EAI_AGAIN|ENOENT)/;
const QUERY_CANCELED = '57014';
/** What pg itself says, which gives it no code. */
const LOST =
  /^(timeout exceeded when trying to connect|Connection terminated|Query read timeout|Client .*is not queryable)/;

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** The same transaction may succeed at once. */
export const isRetryable = (error: unknown): boolean => RETRYABLE.has(codeOf(error));

/** The connection is of no use any more. */
export const isLost = (error: unknown): error is Error => error instanceof Error && LOST.test(error.message);

/** Two rows would have one key. Callers for whom that is no fault of ours say what it means. */
export const isUniqueViolation = (error: unknown): boolean => codeOf(error) === '23505';

/** Database and socket errors become rows of the table of errors; any other is given back without what it quotes. */
export function translate(error: unknown): unknown {
  if (error instanceof ApiError) return error;
  const code = codeOf(error);
  if (code === QUERY_CANCELED) return new ApiError('timeout', undefined, { cause: error, retryAfter: 1 });
  if (OUT_OF_REACH.test(code) || RETRYABLE.has(code) || isLost(error))
    return new ApiError('unavailable', undefined, { cause: error, retryAfter: 1 });
  // it will be logged, and these quote the row: text of a memory, a key
  if (error instanceof Error) for (const field of QUOTING) Reflect.deleteProperty(error, field);
  return error;
}

const QUOTING = ['detail', 'where', 'internalQuery'];

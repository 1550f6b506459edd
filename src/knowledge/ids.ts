/** Ids and cursors as callers send them. */
import { ApiError, invalid } from '../errors.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Ids are opaque to callers: one that cannot be ours names nothing. @throws ApiError not_found */
export function uuidOf(id: string): string {
  if (!UUID.test(id)) throw new ApiError('not_found', 'nothing with this id is visible to this token');
  return id.toLowerCase();
}

/** @throws ApiError validation_error */
export function uuidCursor(cursor: string | undefined): string | undefined {
  if (cursor !== undefined && !UUID.test(cursor)) throw invalid('query', 'cursor', 'is not a cursor of this list');
  return cursor?.toLowerCase();
}

/** Ids and cursors as callers send them. */
import { ApiError, invalid } from '../errors.ts';
import { isUuid } from '../http/fields.ts';

/** Ids are opaque to callers: one that cannot be ours names nothing. @throws ApiError not_found */
export function uuidOf(id: string): string {
  if (!isUuid(id)) throw new ApiError('not_found', 'nothing with this id is visible to this token');
  return id.toLowerCase();
}

/** @throws ApiError validation_error */
export function uuidCursor(cursor: string | undefined): string | undefined {
  if (cursor !== undefined && !isUuid(cursor)) throw invalid('query', 'cursor', 'is not a cursor of this list');
  return cursor?.toLowerCase();
}

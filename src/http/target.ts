/** Where a write goes, checked against the boundaries of the token. */
import { assertTeam, assertWritable } from '../db/boundary.ts';
import { invalid } from '../errors.ts';
import type { Principal } from '../types.ts';
import { normalisePath } from './fields.ts';

export interface Target {
  readonly team: string | undefined;
  readonly bucket: string;
  readonly scope: string | null;
  readonly path: string | null;
}

interface Named {
  readonly bucket: string;
  readonly scope?: string | undefined;
  readonly team_id?: string | undefined;
  readonly path?: string | undefined;
}

/** @throws ApiError boundary_denied, or validation_error for `%`, which only reads may name */
export function targetOf(principal: Principal, named: Named): Target {
  if (named.bucket === '%' || named.scope === '%')
    throw invalid('body', named.bucket === '%' ? 'bucket' : 'scope', '% stands for all and cannot be written to');
  if (named.team_id !== undefined) assertTeam(principal, named.team_id);
  assertWritable(principal, named);
  const path = normalisePath(named.path ?? '');
  return { team: named.team_id, bucket: named.bucket, scope: named.scope ?? null, path: path === '' ? null : path };
}

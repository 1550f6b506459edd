/** Files that were sent before their base was named. They are read, so that a broken one is refused at once, and kept for a week; nobody searches them. */
import { v7 as uuidv7 } from 'uuid';
import { audit } from '../db/audit.ts';
import { spacesOf, spaceToWrite } from '../db/boundary.ts';
import { ensureSpace, findSpaces } from '../db/spaces.ts';
import { sql } from '../db/sql.ts';
import { inside } from '../db/visible.ts';
import type { Deps } from '../deps.ts';
import { ApiError } from '../errors.ts';
import type { Agent, Principal } from '../types.ts';
import type { Upload } from './ingest.ts';
import { titleOf } from './prepare.ts';
import { type DocumentType, readDocument } from './read/index.ts';

const KEPT_MS = 7 * 86_400_000;
/** Of one space at a time. */
const MAX_KEPT = 100;

export interface Target {
  readonly team: string | undefined;
  readonly bucket: string;
  readonly scope: string | null;
}

export interface UploadRow {
  readonly id: string;
  readonly agent_id: string | null;
  readonly title: string;
  readonly content_type: DocumentType;
  readonly charset: string | null;
  readonly size: number;
  readonly characters: number;
  readonly pages: number | null;
  readonly occurred_at: Date;
  readonly created_at: Date;
}

const COLUMNS = sql`m.id, m.agent_id, m.title, m.content_type, m.charset, length(m.bytes) as size, m.characters, m.pages, m.occurred_at, m.created_at`;

/** @throws ApiError payload_too_large, unreadable_document, boundary_denied, conflict when too many wait */
export async function keepUpload(
  deps: Deps,
  principal: Principal,
  agent: Agent,
  { team, bucket, scope }: Target,
  { file, title, source, occurredAt }: Upload,
): Promise<UploadRow> {
  const extracted = await readDocument(file);
  const now = deps.now();
  const space = await ensureSpace(deps.db, spaceToWrite(principal, team));
  return deps.db.transaction({ spaces: [space], owner: principal.owner }, async (tx) => {
    await tx.query(sql`delete from uploads where space_id = ${space} and created_at < ${weekBefore(now)}`);
    const [held] = await tx.query<{ n: number }>(sql`select count(*)::int as n from uploads where space_id = ${space}`);
    if (held!.n >= MAX_KEPT)
      throw new ApiError('conflict', `${MAX_KEPT} documents wait for a base: add them to one, or delete some`);
    const id = uuidv7();
    const [row] = await tx.query<UploadRow>(sql`
      insert into uploads as m (space_id, id, owner_id, agent_id, bucket, scope, title, content_type, charset, bytes, characters, pages, occurred_at, created_at)
      values (${space}, ${id}, ${principal.owner}, ${principal.boundAgent ?? agent.id ?? null}, ${bucket}, ${scope},
        ${titleOf(title ?? extracted.title ?? source)}, ${file.type}, ${file.charset ?? null}, ${file.bytes}, ${extracted.text.length},
        ${extracted.pages?.length ?? null}, ${occurredAt ?? now}, ${now})
      returning ${COLUMNS}`);
    await audit(tx, principal, { action: 'document.upload', target: id, at: now });
    return row!;
  });
}

/** Also where nobody uploads again. */
export async function sweepUploads({ db, now }: Deps): Promise<void> {
  await db.admin((tx) => tx.query(sql`delete from uploads where created_at < ${weekBefore(now())}`));
}

const weekBefore = (now: Date): Date => new Date(now.getTime() - KEPT_MS);

/** Undefined when there is none that the principal may see. */
export async function findUpload(deps: Deps, principal: Principal, id: string): Promise<UploadRow | undefined> {
  const spaces = await findSpaces(deps.db, spacesOf(principal));
  const [row] = await deps.db.transaction({ spaces, readOnly: true }, (tx) =>
    tx.query<UploadRow>(
      sql`select ${COLUMNS} from uploads m where m.space_id = any (${spaces}::int[]) and m.id = ${id} and ${inside(principal)}`,
    ),
  );
  return row;
}

/** As if it were sent now, to the base that is named by now: sent there again, it is the same document. */
export async function uploadAgain(
  deps: Deps,
  principal: Principal,
  { id, title, charset, content_type, occurred_at }: UploadRow,
): Promise<Upload> {
  const spaces = await findSpaces(deps.db, spacesOf(principal));
  const [row] = await deps.db.transaction({ spaces, readOnly: true }, (tx) =>
    tx.query<{ bytes: Buffer }>(sql`select bytes from uploads where space_id = any (${spaces}::int[]) and id = ${id}`),
  );
  if (!row) throw new ApiError('not_found', 'no such document is visible to this token');
  const file = { type: content_type, bytes: Buffer.from(row.bytes), ...(charset !== null && { charset }) };
  return { file, title, source: `document:${id}`, id: undefined, occurredAt: occurred_at };
}

/** False when there is none that the principal may see. */
export async function deleteUpload(deps: Deps, principal: Principal, id: string): Promise<boolean> {
  const spaces = await findSpaces(deps.db, spacesOf(principal));
  return deps.db.transaction({ spaces, owner: principal.owner }, async (tx) => {
    const gone = await tx.query(
      sql`delete from uploads m where m.space_id = any (${spaces}::int[]) and m.id = ${id} and ${inside(principal)} returning m.id`,
    );
    if (gone.length > 0) await audit(tx, principal, { action: 'document.delete', target: id, at: deps.now() });
    return gone.length > 0;
  });
}

-- Why a version was made and what a memory was used for; large documents, whose words are made in the background.

-- Free text of a caller, so it goes where the text of the version goes: redaction empties it, a hard deletion ends it with its row.
alter table memories add column reason text;
alter table memory_versions add column reason text;

-- The latest uses that said what for, newest first: [{owner, at, context}]. Shown to the owner who wrote it, and to nobody else.
alter table memory_usage add column contexts jsonb not null default '[]';

-- Sections of a large document that have no words yet, in order and some at a time. Each part is deleted in the transaction that writes its
-- sections, so what is here is what is left to do.
create table document_parts (
  space_id integer not null,
  upload uuid not null,                                       -- what was sent at once
  part integer not null,
  document_id uuid,                                           -- null: still being stored, and nothing to be written yet
  amount integer not null,                                    -- of sections
  sections text not null,                                     -- JSON: the sections, their first place, and the sections beside them
  stored_at timestamptz not null,
  taken_until timestamptz,                                    -- by a process that is at it
  primary key (space_id, upload, part),
  foreign key (space_id, document_id) references documents (space_id, id) on delete cascade
);
create index document_parts_document on document_parts (space_id, document_id);
alter table document_parts alter column sections set storage external; -- it is read once: to compress it would cost more
alter table document_parts enable row level security;
create policy own_spaces on document_parts to xmemo_service using (space_id = any ((select visible_spaces())::integer[]));
grant select, insert, update, delete on document_parts to xmemo_service;

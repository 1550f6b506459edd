-- What has been sent in a session of a caller, so that the same version of a memory is not sent twice. By owner: a session is no space.
create table sent_memories (
  owner text not null,
  session_hash bytea not null,                        -- sha256 of the caller's session id
  memory_id uuid not null,
  version integer not null,                           -- the latest that was sent; 0: a section of a document, which never changes
  sent_at timestamptz not null,
  primary key (owner, session_hash, memory_id)
);
create index sent_memories_age on sent_memories (sent_at);
alter table sent_memories enable row level security;
create policy own_rows on sent_memories to xmemo_service using (owner = (select visible_owner()));
grant select, insert, update, delete on sent_memories to xmemo_service;

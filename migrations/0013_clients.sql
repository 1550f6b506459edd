-- What clients do in two steps: a claim that the agent confirms, a document that is sent before its base is named.

alter table agents
  add column pending_owner text,
  add column pending_rights jsonb,
  add column pending_confirmation text;               -- no secret: it counts beside the agent's own token alone, and says which claim is meant

-- What the service did to memories of its own accord is asked for by where they stood.
alter table audit_events add column bucket text, add column scope text;

-- A file that is in no base yet: nobody searches it.
create table uploads (
  space_id integer not null references spaces (id),   -- whose it is: the space of an owner or a team
  id uuid not null,
  owner_id text not null,                             -- who sent it
  agent_id text,
  bucket text not null,
  scope text,
  title text not null,
  content_type text not null,
  charset text,
  bytes bytea not null,
  characters integer not null,
  pages integer,
  occurred_at timestamptz not null,
  created_at timestamptz not null,
  primary key (space_id, id)
);
alter table uploads enable row level security;
create policy own_spaces on uploads to xmemo_service using (space_id = any ((select visible_spaces())::integer[]));
grant select, insert, delete on uploads to xmemo_service;

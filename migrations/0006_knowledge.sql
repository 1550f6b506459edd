-- Knowledge bases and their documents. A base is a space of its own, and the sections of its documents are rows of memories there:
-- both arms, their statistics and row-level security are those of memories, and no recall reads such a space unless it is asked to.

alter table spaces drop constraint spaces_kind_check;
alter table spaces add constraint spaces_kind_check check (kind in ('owner', 'team', 'agent', 'knowledge'));

create table knowledge_bases (
  space_id integer not null references spaces (id),           -- whose it is: the space of an owner or a team
  id uuid not null,
  content_space integer not null unique references spaces (id),
  owner_id text not null,                                     -- who made it
  name text not null,
  description text,
  bucket text not null,                                       -- of the base and of every section in it
  scope text,
  created_at timestamptz not null,
  primary key (space_id, id)
);

create table documents (
  space_id integer not null references spaces (id),           -- the content space of its base
  id uuid not null,                                           -- session_id of its sections
  source text,                                                -- stable name: sending it again replaces the document
  title text not null,
  content_type text not null,
  hash bytea not null,                                        -- sha256 of the file and of what else decides the sections
  bytes integer not null,
  characters integer not null,
  pages integer,
  sections integer not null,
  owner_id text not null,                                     -- who sent it
  agent_id text,
  occurred_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null,
  primary key (space_id, id)
);
create unique index documents_source on documents (space_id, source) where source is not null;

do $$
declare t text;
begin
  foreach t in array array['knowledge_bases', 'documents'] loop
    execute format('alter table %I enable row level security', t);
    execute format('create policy own_spaces on %I to xmemo_service using (space_id = any ((select visible_spaces())::integer[]))', t);
    execute format('grant select, insert, update, delete on %I to xmemo_service', t);
  end loop;
end $$;

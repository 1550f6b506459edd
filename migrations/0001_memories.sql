-- Spaces, memories, their passages (vectors) and postings (words), and the role that requests run as.

do $$
begin
  if current_setting('server_version_num')::int < 150000 then
    raise exception 'Postgres % is too old: version 15 or newer is needed', current_setting('server_version');
  end if;
  if not exists (select from pg_available_extensions where name = 'vector') then
    raise exception 'pgvector is not installed on this server: install the package postgresql-NN-pgvector, or use the image pgvector/pgvector:pg17';
  end if;
end $$;

create extension if not exists vector;

do $$
begin
  if (select string_to_array(extversion, '.')::int[] < '{0,7}' from pg_extension where extname = 'vector') then
    raise exception 'pgvector % is too old: 0.7 or newer is needed (halfvec); update it, then run: alter extension vector update',
      (select extversion from pg_extension where extname = 'vector');
  end if;
end $$;

-- Roles belong to the whole server: another database of it may have made this one already, or be making it now.
-- Whoever may make no roles must not be refused for one that is there.
do $$
begin
  if not exists (select from pg_roles where rolname = 'xmemo_service') then
    create role xmemo_service nologin nosuperuser nobypassrls;
  end if;
exception when duplicate_object or unique_violation then null;
end $$;
do $$
begin
  execute format('grant xmemo_service to %I', current_user);
exception when others then
  if not pg_has_role(current_user, 'xmemo_service', 'member') then raise; end if;
end $$;

-- The unit of isolation. A short key, since it leads every key below; the totals are those of BM25; version counts writing transactions.
create table spaces (
  id integer generated always as identity primary key,
  kind text not null check (kind in ('owner', 'team', 'agent')),
  name text not null,
  memories bigint not null default 0,
  terms double precision not null default 0,
  version bigint not null default 0,
  created_at timestamptz not null default now(),
  unique (kind, name)
) with (fillfactor = 50);

create table embedding_models (
  id smallint generated always as identity primary key,
  name text not null unique,
  dimensions smallint not null
);

create table memories (
  space_id integer not null references spaces (id),
  seq bigint generated always as identity,           -- short key for postings and passages, and the order of arrival
  id uuid not null,                                   -- the key that callers see
  owner_id text not null,                             -- who wrote it; in a team's space several owners write
  bucket text not null,
  scope text,
  path text,
  memory_type text not null,
  status text not null default 'active' check (status in ('active', 'archived', 'deleted')),
  content text not null,
  content_hash bytea not null,                        -- sha256, to find the same text again
  semantic_key text,
  importance real,
  confidence real,
  source text,
  author text,
  agent_id text,
  agent_instance text,                                -- a hash, never the id itself
  session_id text,
  position integer,
  place text collate "C" not null,                    -- order inside the session in one column: position, time, arrival
  metadata jsonb not null default '{}',
  provenance jsonb not null default '{}',
  occurred_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  expires_at timestamptz,
  deleted_at timestamptz,
  version integer not null default 1,
  analyser text not null,                             -- version of the word analysis behind terms
  terms text[] not null default '{}',                 -- the postings of this memory, so that they can be taken back without analysing again
  length real not null default 0,                     -- weighted number of terms, as in the postings
  primary key (space_id, seq)
);
create unique index memories_id on memories (space_id, id);
create unique index memories_semantic_key on memories (space_id, bucket, scope, semantic_key) nulls not distinct
  where semantic_key is not null and status <> 'deleted';
create index memories_session on memories (space_id, session_id, place)
  where session_id is not null and status <> 'deleted';
create index memories_content on memories (space_id, content_hash) where status <> 'deleted';
create index memories_expiry on memories (expires_at) where expires_at is not null;

-- One row a (term, memory): exact BM25 by an index-only scan a term.
create table postings (
  seq bigint not null,
  space_id integer not null,
  tf real not null,                                   -- weighted: words of neighbours count less than a memory's own
  length real not null,
  term text collate "C" not null,
  primary key (space_id, term, seq) include (tf, length)
);

-- One row a passage and model: exact nearest neighbours by an index-only scan of one space.
create table passages (
  space_id integer not null,
  model smallint not null references embedding_models (id),
  seq bigint not null,
  ordinal integer not null,
  start_at integer not null,                          -- UTF-16 offsets into the content
  end_at integer not null,
  log_length real not null,                           -- ln(2 + number of the memory's own terms): short filler must not win by cosine alone
  embedding halfvec not null,
  token_bits bytea,                                   -- 48 bytes a content token, for late interaction
  primary key (space_id, model, seq, ordinal)
);
create index passages_vector on passages (space_id, model) include (seq, log_length, embedding);

-- Index-only scans want a vacuumed table.
alter table postings set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02);
alter table passages set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02);
alter table memories set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02);

-- The net below the explicit predicate of every statement: a request sees the spaces of its transaction and nothing else.
create function visible_spaces() returns integer[] language sql stable parallel safe
  as $$ select coalesce(nullif(current_setting('app.spaces', true), '')::integer[], '{}') $$;

do $$
declare t text;
begin
  foreach t in array array['memories', 'postings', 'passages'] loop
    execute format('alter table %I enable row level security', t);
    execute format('create policy own_spaces on %I to xmemo_service using (space_id = any ((select visible_spaces())::integer[]))', t);
    execute format('grant select, insert, update, delete on %I to xmemo_service', t);
  end loop;
end $$;
alter table spaces enable row level security;
create policy own_spaces on spaces to xmemo_service using (id = any ((select visible_spaces())::integer[]));
grant select, update on spaces to xmemo_service;
grant select on embedding_models to xmemo_service;

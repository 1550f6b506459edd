-- The life of a memory: its earlier versions, how often it was of use, receipts of what was forgotten, and replies kept for repeated requests.

alter table memories add column action text not null default 'remember';  -- what made the present version

-- Versions that are no more; the present one is the row of memories. The row's end is theirs.
create table memory_versions (
  space_id integer not null,
  seq bigint not null,
  version integer not null,
  action text not null,
  valid_from timestamptz not null,
  valid_to timestamptz not null,
  bucket text not null,
  scope text,
  path text,
  memory_type text not null,
  status text not null,
  content text not null,
  semantic_key text,
  importance real,
  confidence real,
  source text,
  author text,
  agent_id text,
  agent_instance text,
  session_id text,
  position integer,
  metadata jsonb not null,
  provenance jsonb not null,
  occurred_at timestamptz,
  expires_at timestamptz,
  primary key (space_id, seq, version),
  foreign key (space_id, seq) references memories (space_id, seq) on delete cascade
);

-- Counters apart from the memories: they change often and are no part of a version.
create table memory_usage (
  space_id integer not null,
  seq bigint not null,
  used integer not null default 0,
  reinforced integer not null default 0,              -- written again in the same words
  standing real not null default 0,                   -- 0 to 1, from both, in few steps
  last_tracking_id text,                              -- one answer counts once
  last_at timestamptz not null,
  primary key (space_id, seq),
  foreign key (space_id, seq) references memories (space_id, seq) on delete cascade
);

-- Outlives the memory and holds no text of it.
create table forget_receipts (
  space_id integer not null,
  memory_id uuid not null,
  bucket text not null,
  scope text,
  mode text not null,
  reason text,
  forgotten_at timestamptz not null,
  checks jsonb not null,
  primary key (space_id, memory_id)
);

-- Stands in the space of the owner who sent the request. The reply holds ids and outcomes, never memory text.
create table idempotency_keys (
  space_id integer not null,
  owner_id text not null,
  route text not null,
  key text not null,
  request_hash bytea not null,
  status smallint not null,
  reply json not null,
  expires_at timestamptz not null,
  primary key (space_id, owner_id, route, key)
);
create index idempotency_keys_expiry on idempotency_keys (expires_at);

create index memories_space_expiry on memories (space_id, expires_at) where expires_at is not null;
create index memories_deleted on memories (deleted_at) where status = 'deleted';

do $$
declare t text;
begin
  foreach t in array array['memory_versions', 'memory_usage', 'forget_receipts', 'idempotency_keys'] loop
    execute format('alter table %I enable row level security', t);
    execute format('create policy own_spaces on %I to xmemo_service using (space_id = any ((select visible_spaces())::integer[]))', t);
    execute format('grant select, insert, update, delete on %I to xmemo_service', t);
  end loop;
end $$;

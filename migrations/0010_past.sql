-- What the past is searched by: the vectors of earlier texts, the order of earlier versions in their session, and the standing of each memory
-- over time. Words need no keeping: they are a function of the text.

alter table memory_versions add column place text collate "C";
update memory_versions v set place = lpad(coalesce(v.position, 0)::text, 10, '0')
    || lpad((floor(extract(epoch from coalesce(v.occurred_at, m.created_at)) * 1000)::bigint + 8640000000000000)::text, 17, '0') || m.id
  from memories m where m.space_id = v.space_id and m.seq = v.seq;
alter table memory_versions alter column place set not null;

-- Vectors of versions up to and including this one, back to the one before it that stands here; the present text has its own in passages.
create table passage_versions (
  space_id integer not null,
  seq bigint not null,
  version integer not null,
  model smallint not null references embedding_models (id),
  ordinal integer not null,
  start_at integer not null,
  end_at integer not null,
  log_length real not null,
  embedding halfvec not null,
  token_bits bytea,
  primary key (space_id, seq, version, model, ordinal),
  foreign key (space_id, seq) references memories (space_id, seq) on delete cascade
);

-- A row each time the standing changes: five at most, since it only rises and in steps.
create table standings (
  space_id integer not null,
  seq bigint not null,
  at timestamptz not null,
  standing real not null,
  primary key (space_id, seq, standing),
  foreign key (space_id, seq) references memories (space_id, seq) on delete cascade
);
insert into standings (space_id, seq, at, standing) select space_id, seq, last_at, standing from memory_usage where standing > 0;

create index memory_versions_session on memory_versions (space_id, session_id) where session_id is not null;
create index memories_changed on memories (space_id, updated_at);

do $$
declare t text;
begin
  foreach t in array array['passage_versions', 'standings'] loop
    execute format('alter table %I enable row level security', t);
    execute format('create policy own_spaces on %I to xmemo_service using (space_id = any ((select visible_spaces())::integer[]))', t);
    execute format('grant select, insert, update, delete on %I to xmemo_service', t);
  end loop;
end $$;

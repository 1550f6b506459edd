-- Vectors of any size, and the mark by which memories without vectors of the present model are found.

-- An index row takes 2,704 bytes: 1,300 half-precision numbers beside the other columns. Larger vectors are read from the table, by the primary key.
drop index passages_vector;
create index passages_vector on passages (space_id, model) include (seq, log_length, embedding) where vector_dims(embedding) <= 1300;

-- The model of a memory's vectors; 0 when they could not be made.
alter table memories add column embedded_by smallint not null default 0;
update memories m set embedded_by = p.model
  from (select space_id, seq, max(model) as model from passages group by 1, 2) p where p.space_id = m.space_id and p.seq = m.seq;
create index memories_embedded on memories (embedded_by, space_id, seq) where status <> 'deleted';

-- The model that was configured last is the one to embed with, by one worker at a time.
alter table embedding_models
  add column chosen_at timestamptz,
  add column worker uuid,
  add column worker_until timestamptz;

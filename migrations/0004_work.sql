-- Work: events, reminders, decisions, states and restart snapshots. Each is a memory; what only work knows of it stands beside it here.

create table work_items (
  space_id integer not null,
  seq bigint not null,                                -- the memory
  kind text not null check (kind in ('event', 'reminder', 'decision', 'state', 'snapshot')),
  item_status text check (item_status in ('open', 'completed', 'resolved')), -- of reminders and decisions
  event_type text,
  state_key text,                                     -- of states and snapshots
  due_at timestamptz,
  completed_at timestamptz,
  state_seq bigint,                                   -- a snapshot's state: its text below is shown only while this memory is visible
  frozen jsonb,                                       -- the state as it was then
  refs bigint[] not null default '{}',                -- a snapshot's events, reminders and decisions, read anew when it is restored
  primary key (space_id, seq),
  foreign key (space_id, seq) references memories (space_id, seq) on delete cascade
);
create index work_items_kind on work_items (space_id, kind, item_status, due_at);

alter table work_items enable row level security;
create policy own_spaces on work_items to xmemo_service using (space_id = any ((select visible_spaces())::integer[]));
grant select, insert, update, delete on work_items to xmemo_service;

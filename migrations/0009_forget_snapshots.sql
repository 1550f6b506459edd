-- A snapshot keeps a state as it was: a copy of text, which goes when that text is redacted or deleted for good.

create index work_items_frozen on work_items (space_id, state_seq) where frozen is not null;

create function forget_snapshots() returns trigger language plpgsql as $$
begin
  update work_items set frozen = null where space_id = old.space_id and state_seq = old.seq and frozen is not null;
  return null;
end $$;

create trigger redacted after update of action on memories for each row when (new.action = 'redact') execute function forget_snapshots();
create trigger deleted after delete on memories for each row execute function forget_snapshots();

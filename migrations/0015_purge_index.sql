-- A redacted memory has no text and is kept for good. It is no longer in the index that the purge looks through every minute.

drop index memories_deleted;
create index memories_deleted on memories (deleted_at) where status = 'deleted' and action <> 'redact';

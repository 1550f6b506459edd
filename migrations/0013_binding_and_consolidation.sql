-- A claim in two steps: an owner asks on the page, and the agent confirms.

alter table agents
  add column pending_owner text,
  add column pending_rights jsonb,
  add column pending_confirmation text;               -- no secret: it counts beside the agent's own token alone, and says which claim is meant

-- What the service did to memories of its own accord is asked for by where they stood.
alter table audit_events add column bucket text, add column scope text;

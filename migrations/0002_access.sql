-- Tokens, teams, temporary agents and the audit trail: what has an owner and no space.

-- The net below the explicit owner of every statement. Outside a transaction that set it the setting is NULL or '': neither is an owner.
create function visible_owner() returns text language sql stable parallel safe
  as $$ select nullif(current_setting('app.owner', true), '') $$;

create table tokens (
  id text primary key,
  owner text not null,
  name text not null,
  secret_hash bytea not null,                         -- sha256: the secret has 256 bits of its own, so it needs no salt
  scopes text[] not null,
  teams text[],                                       -- null: the owner's memberships, whatever they are at the time
  buckets text[],                                     -- null: all
  memory_scopes text[],                               -- null: all
  agent_id text,
  profile text check (profile = 'public'),
  made_by text,                                       -- id of the token that asked for this one; null: the operator
  created_at timestamptz not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz
);
create index tokens_owner on tokens (owner, created_at desc, id);

-- Signed tokens that were revoked before their end. Named with their owner: an issuer's ids need be unique for one owner only.
create table revoked_jwts (
  owner text not null,
  jti text not null,
  until timestamptz not null,
  primary key (owner, jti)
);

-- Ids of teams are made here and cannot be guessed or chosen, so that nobody can take the name of a team that an issuer's tokens speak of.
create table teams (
  id text primary key,
  owner text not null,                                -- who made it
  name text not null,
  created_at timestamptz not null
);

create table team_members (
  team_id text not null references teams (id),
  owner text not null,
  role text not null check (role in ('admin', 'member')),
  invited_by text not null,
  created_at timestamptz not null,
  joined_at timestamptz,                              -- null: invited. What a team holds reaches nobody who did not agree to it
  primary key (team_id, owner)
);
create index team_members_owner on team_members (owner);

-- Agents that registered themselves. Their memories stand in a space of their own (kind agent, its name is the id).
create table agents (
  id text primary key,
  owner text,                                         -- null until claimed
  token_hash bytea not null,
  claim_hash bytea not null,
  client_name text,
  created_at timestamptz not null,
  idle_ends_at timestamptz not null,
  ends_at timestamptz not null,
  claimed_at timestamptz,
  claimed_rights jsonb                                -- what the claiming token may do: the bound of the token that the agent gets; null once it got it
);
create unique index agents_claim on agents (claim_hash);
create index agents_owner on agents (owner) where owner is not null;
create index agents_idle on agents (idle_ends_at) where owner is null;

-- Who did what, without content. Append-only: the service's role may neither change nor delete.
create table audit_events (
  owner text not null,
  id uuid not null,                                   -- UUIDv7: in order of time
  action text not null,
  target_id text,
  outcome text not null check (outcome in ('done', 'denied')),
  code text,                                          -- of the error, when denied
  token_id text,
  agent_id text,
  request_id text,
  created_at timestamptz not null,
  primary key (owner, id)
);

do $$
declare t text;
begin
  foreach t in array array['tokens', 'revoked_jwts', 'teams', 'team_members', 'agents', 'audit_events'] loop
    execute format('alter table %I enable row level security', t);
    execute format('create policy own_rows on %I to xmemo_service using (owner = (select visible_owner()))', t);
  end loop;
end $$;
grant select, insert, update on tokens to xmemo_service;
grant select, insert, delete on revoked_jwts to xmemo_service;
grant select on teams, team_members, agents to xmemo_service;
grant select, insert on audit_events to xmemo_service;

-- Takes everything out of a space, whatever tables have rows of it by then. The row of the space itself stays: it holds a random name.
create function erase_space(target integer) returns void language plpgsql as $$
declare t regclass;
begin
  for t in
    select c.oid::regclass from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = current_schema()::regnamespace and a.attname = 'space_id' and not a.attisdropped
    order by c.relname = 'memories'                   -- last: other tables may point to it
  loop
    execute format('delete from %s where space_id = $1', t) using target;
  end loop;
  update spaces set memories = 0, terms = 0, version = version + 1 where id = target;
end $$;

-- OAuth: programs that registered themselves, and what owners gave them. Like the codes of devices they are seen by the connecting role alone.

create table oauth_clients (
  id text primary key,
  name text,                                          -- what the program calls itself
  redirect_uris text[] not null,
  used_at timestamptz not null                        -- registered, approved or refreshed last
);
create index oauth_clients_use on oauth_clients (used_at);

-- One approval: a code, then one access token that is renewed under its id, and a refresh token of which only the newest counts.
create table oauth_grants (
  id text primary key,                                -- stands in the refresh tokens
  client_id text not null references oauth_clients (id) on delete cascade,
  granted jsonb not null,                             -- what the token may hold, fixed when it was approved
  redirect_uri text not null,
  challenge text not null,                            -- sha256 of the verifier, as it was sent
  code_hash bytea not null unique,
  code_ends_at timestamptz not null,
  refresh_hash bytea,                                 -- null until the code was exchanged
  token_id text,
  ends_at timestamptz not null,                       -- of the refresh token
  ended boolean not null default false                -- revoked, or a secret of it was used twice
);
create index oauth_grants_client on oauth_grants (client_id);
create index oauth_grants_token on oauth_grants (token_id);
create index oauth_grants_end on oauth_grants (ends_at);

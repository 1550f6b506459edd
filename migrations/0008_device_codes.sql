-- The device flow: a program asks for a token, an owner approves it elsewhere. Belongs to no space until it is approved, and only the
-- connecting role sees it.

create table device_codes (
  device_hash bytea primary key,                      -- sha256 of the device code, which is never stored
  user_code text not null unique,
  client_id text not null,
  client_version text,
  scopes text[] not null,
  status text not null default 'pending' check (status in ('pending', 'approved', 'denied', 'used')),
  granted jsonb,                                      -- what the token will hold, fixed when it was approved
  interval_seconds integer not null,
  polled_at timestamptz,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index device_codes_expiry on device_codes (expires_at);

-- Wrong codes, counted by who tries; a guesser is shut out for a while, on every replica.
create table login_guesses (
  guesser bytea primary key,                          -- a hash
  wrong integer not null,
  since timestamptz not null
);

-- The ledger: what was spent, earned, refunded and moved. Exact decimals; no memory, since memory:read must not show it.

create table ledger_transactions (
  space_id integer not null references spaces (id),
  id uuid not null,
  owner_id text not null,                             -- who wrote it; in a team's space several owners write
  bucket text not null,
  scope text,
  path text,
  transaction_type text not null check (transaction_type in ('expense', 'income', 'refund', 'transfer')),
  item text not null,
  amount numeric(20, 4) not null check (amount > 0),  -- the type gives the direction
  currency text not null,                             -- ISO 4217
  transaction_date date not null,
  category text,
  merchant text,
  payment_method text,
  note text,
  source text,
  metadata jsonb not null default '{}',
  agent_id text,
  agent_instance text,                                -- a hash, never the id itself
  created_at timestamptz not null,
  primary key (space_id, id)
);
create index ledger_transactions_date on ledger_transactions (space_id, transaction_date desc, id desc);

alter table ledger_transactions enable row level security;
create policy own_spaces on ledger_transactions to xmemo_service using (space_id = any ((select visible_spaces())::integer[]));
grant select, insert, delete on ledger_transactions to xmemo_service;

/**
 * The steps of the database's schema, oldest first; the version of a schema is the number of its steps. A step only
 * adds, so that the release before still works while nodes are replaced one by one. A changed function gets a new name.
 *
 * Keys, names of jobs (kind and ref), of operations, of accounts and of ledger entries are in the encoding of
 * `encodeKey`, whose bytes sort as keys do. Times are Unix milliseconds. A value is in the format of `serialize` of
 * `node:v8`.
 */
export const MIGRATIONS: readonly string[] = [
  `
create sequence switchyard.version;

create table switchyard.value (
  key bytea primary key,
  value bytea not null,
  version bigint not null,
  expires_at double precision
);
create index value_expires_at on switchyard.value (expires_at) where expires_at is not null;

create table switchyard.operation (name bytea primary key, expires_at double precision not null);
create index operation_expires_at on switchyard.operation (expires_at);

create table switchyard.account (
  name bytea primary key,
  available numeric not null default 0,
  held numeric not null default 0,
  overdraft numeric not null default 0,
  entries bigint not null default 0
) with (fillfactor = 70);

create table switchyard.ledger (
  account bytea not null,
  id text collate "C" not null,
  reference bytea not null unique,
  available numeric not null,
  held numeric not null,
  at double precision not null,
  detail bytea,
  primary key (account, id)
);

create table switchyard.job (
  name bytea primary key,
  kind bytea not null,
  id text collate "C" not null,
  epoch bigint not null default 0,
  attempt bigint not null default 0,
  due_at double precision not null,
  leased boolean not null default false
) with (
  fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0
);
create index job_due_at on switchyard.job (kind, due_at, id);

create unlogged table switchyard.bucket (
  name bytea primary key,
  full_at double precision not null,
  allowed_at double precision not null,
  ok boolean not null
) with (fillfactor = 50);

create table switchyard.clock (
  epoch bigint not null,
  at double precision not null,
  probed_at double precision not null
);
insert into switchyard.clock values (1, 0, 0);

create function switchyard.now_ms() returns double precision language sql stable as $sql$
  select floor(extract(epoch from statement_timestamp()) * 1000)::double precision
$sql$;

create function switchyard.take_v1(
  p_bucket bytea, p_now double precision, p_per_ms double precision, p_burst double precision, p_cost double precision
) returns table (ok boolean, allowed_at double precision) language sql as $sql$
  insert into switchyard.bucket as b (name, full_at, allowed_at, ok)
  values (p_bucket, p_now + p_cost * p_per_ms, p_now, true)
  on conflict (name) do update set (full_at, allowed_at, ok) = (
    select case when p_now >= s.start - (p_burst - p_cost) * p_per_ms then s.start + p_cost * p_per_ms else s.start end,
      s.start - (p_burst - p_cost) * p_per_ms,
      p_now >= s.start - (p_burst - p_cost) * p_per_ms
    from (select least(greatest(b.full_at, p_now), p_now + p_burst * p_per_ms) as start) s
  )
  returning b.ok, b.allowed_at
$sql$;

-- Decides and writes one commit. The caller holds the locks of all its names, so nothing that is read here changes,
-- except jobs, which claims change too: their rows are locked.
create function switchyard.commit_one_v1(c jsonb, p_now double precision) returns jsonb language plpgsql as $plpgsql$
declare
  refused bigint;
  made jsonb := '[]';
begin
  if c ? 'operation' and exists (
    select from switchyard.operation o where o.name = decode(c->>'operation', 'base64') and o.expires_at > p_now
  ) then
    return '{"replayed": true}';
  end if;

  if c ? 'check' then
    select min(e.n) into refused from jsonb_array_elements(c->'check') with ordinality e(x, n)
    left join switchyard.value v
      on v.key = decode(e.x->>0, 'base64') and (v.expires_at is null or v.expires_at > p_now)
    where v.version::text is distinct from e.x->>1;
    if refused is not null then return jsonb_build_object('why', 'conflict', 'at', refused - 1); end if;
  end if;

  if c ? 'ended' then
    perform from switchyard.job j
    where j.name in (select decode(x->>0, 'base64') from jsonb_array_elements(c->'ended') x)
    order by j.name for update;
    select min(e.n) into refused from (
      select decode(x->>0, 'base64') as name, x->>1 as id, (x->>2)::bigint as epoch, n,
        row_number() over (partition by x->>0 order by n) as nth
      from jsonb_array_elements(c->'ended') with ordinality o(x, n)
    ) e
    left join switchyard.job j on j.name = e.name and j.id = e.id and j.epoch = e.epoch and j.leased
    where j.name is null or e.nth > 1;
    if refused is not null then return jsonb_build_object('why', 'fenced', 'at', refused - 1); end if;
  end if;

  if c ? 'ledger' then
    select min(e.n) into refused from (
      select decode(x->>1, 'base64') as reference, n, row_number() over (partition by x->>1 order by n) as nth
      from jsonb_array_elements(c->'ledger') with ordinality o(x, n)
    ) e
    left join switchyard.ledger l on l.reference = e.reference
    where e.nth > 1 or l.reference is not null;
    if refused is not null then return jsonb_build_object('why', 'duplicate', 'at', refused - 1); end if;
  end if;

  if c ? 'jobs' then
    select min(e.n) into refused from (
      select decode(x->>0, 'base64') as name, x->>0 as text, n, row_number() over (partition by x->>0 order by n) as nth
      from jsonb_array_elements(c->'jobs') with ordinality o(x, n)
    ) e
    left join switchyard.job j on j.name = e.name
    where e.nth > 1 or j.name is not null and not exists (
      select from jsonb_array_elements(c->'ended') x where x->>0 = e.text and x->>3 is null
    );
    if refused is not null then return jsonb_build_object('why', 'duplicate', 'at', refused - 1); end if;
  end if;

  if c ? 'balances' then
    select min(m.n) into refused from (
      select e.n, (e.x->>1)::numeric as by_available, (e.x->>2)::numeric as by_held, (e.x->>3)::boolean as overdraw,
        coalesce(a.available, 0) + sum((e.x->>1)::numeric) over w as available,
        coalesce(a.held, 0) + sum((e.x->>2)::numeric) over w as held,
        coalesce(a.overdraft, 0) as overdraft
      from jsonb_array_elements(c->'balances') with ordinality e(x, n)
      left join switchyard.account a on a.name = decode(e.x->>0, 'base64')
      window w as (partition by e.x->>0 order by e.n)
    ) m
    where m.available < 0 and m.available < -m.overdraft and m.by_available < 0 and not m.overdraw
      or m.held < 0 and m.by_held < 0;
    if refused is not null then return jsonb_build_object('why', 'short', 'at', refused - 1); end if;
  end if;

  if c ? 'ended' then
    delete from switchyard.job j using jsonb_array_elements(c->'ended') x
    where j.name = decode(x->>0, 'base64') and x->>3 is null;
    update switchyard.job j
    set due_at = (x->>3)::double precision, attempt = (x->>4)::bigint, leased = false
    from jsonb_array_elements(c->'ended') x
    where j.name = decode(x->>0, 'base64') and x->>3 is not null;
  end if;

  if c ? 'jobs' then
    insert into switchyard.job (name, kind, id, due_at)
    select decode(x->>0, 'base64'), decode(x->>1, 'base64'), x->>2, (x->>3)::double precision
    from jsonb_array_elements(c->'jobs') x;
  end if;

  if c ? 'ledger' then
    with e as (
      select decode(x->>0, 'base64') as account, decode(x->>1, 'base64') as reference, (x->>2)::numeric as available,
        (x->>3)::numeric as held, decode(x->>4, 'base64') as detail,
        row_number() over (partition by x->>0 order by n) as nth, count(*) over (partition by x->>0) as total
      from jsonb_array_elements(c->'ledger') with ordinality o(x, n)
    ), counted as (
      insert into switchyard.account as a (name, entries) select distinct account, total from e
      on conflict (name) do update set entries = a.entries + excluded.entries
      returning a.name, a.entries
    )
    insert into switchyard.ledger (account, id, reference, available, held, at, detail)
    select e.account, lpad((counted.entries - e.total + e.nth)::text, 15, '0'), e.reference, e.available, e.held, p_now,
      e.detail
    from e join counted on counted.name = e.account;
  end if;

  if c ? 'balances' then
    insert into switchyard.account as a (name, available, held)
    select decode(x->>0, 'base64'), sum((x->>1)::numeric), sum((x->>2)::numeric)
    from jsonb_array_elements(c->'balances') x group by x->>0
    on conflict (name) do update set available = a.available + excluded.available, held = a.held + excluded.held;
  end if;

  if c ? 'overdrafts' then
    insert into switchyard.account as a (name, overdraft)
    select distinct on (x->>0) decode(x->>0, 'base64'), (x->>1)::numeric
    from jsonb_array_elements(c->'overdrafts') with ordinality o(x, n) order by x->>0, n desc
    on conflict (name) do update set overdraft = excluded.overdraft;
  end if;

  if c ? 'set' then
    with e as materialized (
      select x->>0 as key, x->>1 as value, (x->>2)::double precision as ttl, n,
        nextval('switchyard.version') as version
      from jsonb_array_elements(c->'set') with ordinality o(x, n)
    ), written as (
      insert into switchyard.value as v (key, value, version, expires_at)
      select distinct on (e.key) decode(e.key, 'base64'), decode(e.value, 'base64'), e.version, p_now + e.ttl
      from e order by e.key, e.n desc
      on conflict (key) do update
      set value = excluded.value, version = excluded.version, expires_at = excluded.expires_at
    )
    select jsonb_agg(e.version::text order by e.n) into made from e;
  end if;

  if c ? 'delete' then
    delete from switchyard.value v
    where v.key in (select decode(x, 'base64') from jsonb_array_elements_text(c->'delete') x);
  end if;

  if c ? 'operation' then
    insert into switchyard.operation (name, expires_at)
    values (decode(c->>'operation', 'base64'), p_now + (c->>'operationTtlMs')::double precision)
    on conflict (name) do update set expires_at = excluded.expires_at;
  end if;

  return jsonb_build_object('versions', made);
end
$plpgsql$;

-- Makes commits one after the other, in one transaction. Every name that they touch is locked first, in one order on
-- all nodes; a commit with too many names for that locks out all others.
create function switchyard.commit_v1(p jsonb) returns jsonb language plpgsql as $plpgsql$
declare
  c jsonb;
  at double precision;
  results jsonb := '[]';
begin
  if p ? 'names' then
    perform pg_advisory_xact_lock_shared(1937205602, 0);
    perform pg_advisory_xact_lock(1937205603, l.hash)
    from (select distinct hashtext(x) as hash from jsonb_array_elements_text(p->'names') x order by 1) l;
  else
    perform pg_advisory_xact_lock(1937205602, 0);
  end if;
  at := coalesce((p->>'now')::double precision, floor(extract(epoch from clock_timestamp()) * 1000));
  for c in select x from jsonb_array_elements(p->'commits') x loop
    results := results || jsonb_build_array(switchyard.commit_one_v1(c, at));
  end loop;
  return results;
end
$plpgsql$;

create function switchyard.claim_v1(
  p_now double precision, p_kinds bytea[], p_limit bigint, p_lease_ms double precision
) returns table (name bytea, id text, epoch bigint, attempt bigint, due_at double precision, was_due_at double precision)
language sql as $sql$
  with due as materialized (
    select j.name, j.due_at, j.id from unnest(p_kinds) k(kind) cross join lateral (
      select o.name, o.due_at, o.id from switchyard.job o
      where o.kind = k.kind and o.due_at <= p_now
      order by o.due_at, o.id limit p_limit
      for update skip locked
    ) j
    order by j.due_at, j.id limit p_limit
  )
  update switchyard.job j
  set epoch = j.epoch + 1, attempt = j.attempt + j.leased::int, leased = true, due_at = p_now + p_lease_ms
  from due where j.name = due.name
  returning j.name, j.id, j.epoch, j.attempt, j.due_at, due.due_at
$sql$;

-- Moves the due times after the clock was set back by p_by_ms; once, however many nodes see it.
create function switchyard.move_due_times_v1(
  p_known_epoch bigint, p_now double precision, p_by_ms double precision
) returns bigint language plpgsql as $plpgsql$
begin
  update switchyard.clock set epoch = epoch + 1, at = p_now where epoch = p_known_epoch;
  if found then
    update switchyard.job set due_at = due_at - p_by_ms where due_at > p_now;
  end if;
  return (select epoch from switchyard.clock);
end
$plpgsql$;
`,
  `
-- What processes may spend of an account until they return it. The rows of one account are changed with its row locked.
create table switchyard.lease (
  account bytea not null,
  holder text collate "C" not null,
  amount numeric not null,
  expires_at double precision not null,
  primary key (account, holder)
) with (fillfactor = 70);
create index lease_expires_at on switchyard.lease (expires_at);

-- Replaces what one process leases of an account: what it keeps, and what it wants more if that is free. With p_spare
-- it gets a sixteenth of the rest too. Returns the lease, the money of the account and the leases of others.
create function switchyard.lease_money_v1(
  p_account bytea, p_holder text, p_kept numeric, p_wanted numeric, p_spare boolean, p_now double precision,
  p_duration double precision
) returns table (leased numeric, available numeric, overdraft numeric, others numeric) language plpgsql as $plpgsql$
declare
  free numeric;
begin
  select a.available, a.overdraft into available, overdraft
  from switchyard.account a where a.name = p_account for update;
  available := coalesce(available, 0);
  overdraft := coalesce(overdraft, 0);
  select coalesce(sum(l.amount), 0) into others
  from switchyard.lease l where l.account = p_account and l.holder <> p_holder and l.expires_at > p_now;
  leased := p_kept;
  free := available + overdraft - others - p_kept - p_wanted;
  if free >= 0 then
    leased := p_kept + p_wanted + case when p_spare then trunc(free / 16) else 0 end;
  end if;
  if leased > 0 then
    insert into switchyard.lease as l (account, holder, amount, expires_at)
    values (p_account, p_holder, leased, p_now + p_duration)
    on conflict (account, holder) do update set amount = excluded.amount, expires_at = excluded.expires_at;
  else
    delete from switchyard.lease l where l.account = p_account and l.holder = p_holder;
  end if;
  return next;
end
$plpgsql$;
`,
  `
-- Limits that several processes share, such as one of requests a minute. The leases of one limit are changed with its
-- row locked.
create table switchyard.shared_limit (
  name bytea primary key,
  -- Units that were used and are not regained yet, at a time.
  used numeric not null,
  used_at double precision not null,
  -- Changes whenever a lease gets smaller.
  version bigint not null default 0,
  -- Without leases, the row says nothing after this time.
  ends_at double precision not null
) with (fillfactor = 70);
create index shared_limit_ends_at on switchyard.shared_limit (ends_at);

create table switchyard.share (
  name bytea not null,
  holder text collate "C" not null,
  amount numeric not null,
  expires_at double precision not null,
  primary key (name, holder)
) with (fillfactor = 70);
create index share_expires_at on switchyard.share (expires_at);

-- Counts what one process has used of a limit, and replaces what it leases of it: what it keeps, and as much of what it
-- wants more as is free. With p_spare it gets a sixteenth of the rest too, if that is as much again. With p_refills, used units are regained
-- within a minute. Changes nothing and returns no row if the version is another than p_version. Leases that ended after
-- p_alive_at still count.
create function switchyard.lease_share_v1(
  p_name bytea, p_holder text, p_limit numeric, p_refills boolean, p_used numeric, p_kept numeric, p_wanted numeric,
  p_spare boolean, p_version bigint, p_alive_at double precision, p_now double precision, p_duration double precision
) returns table (leased numeric, used numeric, others numeric) language plpgsql as $plpgsql$
declare
  known switchyard.shared_limit;
  before numeric;
  free numeric;
  spare numeric;
begin
  -- What a crash of the server loses of a rate is regained within a minute.
  if p_refills then perform set_config('synchronous_commit', 'off', true); end if;
  insert into switchyard.shared_limit (name, used, used_at, ends_at) values (p_name, 0, p_now, p_now)
  on conflict do nothing;
  select * into known from switchyard.shared_limit l where l.name = p_name for update;
  if p_version is not null and known.version <> p_version then return; end if;

  used := known.used;
  if p_refills then
    used := greatest(0, used - greatest(0, (p_now - known.used_at)::numeric) * p_limit / 60000);
    used := least(used + p_used, greatest(used, 60 * p_limit));
  end if;
  select coalesce(sum(s.amount), 0) into others
  from switchyard.share s where s.name = p_name and s.holder <> p_holder and s.expires_at > coalesce(p_alive_at, p_now);
  free := greatest(0, trunc(p_limit - used) - others - p_kept);
  leased := p_kept + least(p_wanted, free);
  spare := trunc((free - least(p_wanted, free)) / 16);
  if p_spare and spare >= p_wanted then leased := leased + spare; end if;

  select s.amount into before from switchyard.share s where s.name = p_name and s.holder = p_holder;
  if leased > 0 then
    insert into switchyard.share as s (name, holder, amount, expires_at)
    values (p_name, p_holder, leased, p_now + p_duration)
    on conflict (name, holder) do update set amount = excluded.amount, expires_at = excluded.expires_at;
  else
    delete from switchyard.share s where s.name = p_name and s.holder = p_holder;
  end if;
  update switchyard.shared_limit l
  set used = lease_share_v1.used, used_at = p_now, version = l.version + (leased < coalesce(before, 0))::int,
    ends_at = p_now + 2 * p_duration + case when p_refills and p_limit > 0 then
      (lease_share_v1.used * 60000 / p_limit)::double precision else 0 end
  where l.name = p_name;
  return next;
end
$plpgsql$;

-- To find the accounts that other processes charged.
create index ledger_at on switchyard.ledger (at);
`,
];

/** The schema of the log's tables, beside that of the store. */
export const LOG_SCHEMA = "switchyard_log";

/**
 * The steps of the schema, as those of the store: a step only adds. The rows of a day are one partition, which is
 * dropped at the end of its retention. `last_position` has one row; its lock orders the writes of all gateways.
 */
export const LOG_STEPS: readonly string[] = [
  `
create table switchyard_log.requests (
  position bigint not null,
  ended_at bigint not null,
  request_id text not null,
  account_id text,
  key_id text,
  model text,
  served_model text,
  provider text,
  status int not null,
  code text,
  message text,
  attempts text,
  facts text not null,
  primary key (position)
) partition by range (position);
create index requests_by_id on switchyard_log.requests (request_id);
create index requests_by_account on switchyard_log.requests (account_id, position);
create index requests_by_failure on switchyard_log.requests (status, position) where status >= 400;

create table switchyard_log.keys (key_id text primary key, account_id text);

create table switchyard_log.last_position (position bigint not null);
insert into switchyard_log.last_position values (0);

create table switchyard_log.bodies (
  request_id text primary key,
  account_id text,
  at bigint not null,
  bytes bigint not null,
  is_cut boolean not null,
  request bytea,
  response bytea
);
create index bodies_by_time on switchyard_log.bodies (at) include (bytes);
create index bodies_by_account on switchyard_log.bodies (account_id);
`,
  // A search for a text visits these rows alone: those of errors. The condition is that of search.ts.
  `
create index requests_by_text on switchyard_log.requests (position)
  where (status >= 400 or message is not null or strpos(attempts, '],[') > 0);
`,
];

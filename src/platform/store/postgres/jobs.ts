import { decodeKey, encodeKey, encodeStorableKey } from "../key_encoding.ts";
import type { Job } from "../store.ts";
import type { DueTime } from "../wake_listeners.ts";
import { byteArrayOf, encodedOf, read, repeated } from "./database.ts";
import { POSTGRES_LIMITS } from "./limits.ts";
import type { Readable } from "./read.ts";

const { maxKeyBytes } = POSTGRES_LIMITS;

interface JobRow {
  readonly name: Uint8Array;
  readonly id: string;
  readonly epoch: string;
  readonly attempt: string;
  readonly due_at: number;
}

/** Claims due jobs of these kinds, oldest first. */
export async function claimJobs(
  { sql, now }: Readable,
  kinds: readonly string[],
  { limit, leaseMs }: { readonly limit: number; readonly leaseMs: number },
): Promise<Job[]> {
  const names = [...new Set(kinds)].map((kind) => encodeKey([kind]));
  if (limit <= 0 || names.length === 0) return [];
  const rows = await repeated(() =>
    sql<(JobRow & { readonly was_due_at: number })[]>`
      select * from switchyard.claim_v1(
        coalesce(${now}::float8, switchyard.now_ms()), ${byteArrayOf(names)}::text::bytea[], ${limit}::bigint,
        ${leaseMs}::float8
      )`
  );
  return rows.toSorted((a, b) => a.was_due_at - b.was_due_at || (a.id < b.id ? -1 : 1)).map(jobOf);
}

/** Extends the leases of those jobs whose epoch is still current. The results are in the order of the jobs. */
export async function renewJobs({ sql, now }: Readable, jobs: readonly Job[], leaseMs: number): Promise<Job[]> {
  if (jobs.length === 0) return [];
  const list = JSON.stringify(jobs.map(({ kind, ref, id, epoch }) => [btoa(encodeKey([kind, ref])), id, epoch]));
  const rows = await repeated(() =>
    sql<JobRow[]>`
      with own as materialized (
        select j.name, e.n from jsonb_array_elements(${list}::text::jsonb) with ordinality e(x, n)
        join switchyard.job j
          on j.name = decode(e.x->>0, 'base64') and j.id = e.x->>1 and j.epoch = (e.x->>2)::bigint and j.leased
        order by j.name for update of j
      )
      update switchyard.job j set due_at = coalesce(${now}::float8, switchyard.now_ms()) + ${leaseMs}::float8
      from own where j.name = own.name
      returning j.name, j.id, j.epoch, j.attempt, j.due_at`
  );
  const renewed = new Map(rows.map(jobOf).map((job) => [job.id, job]));
  return jobs.flatMap(({ id }) => renewed.get(id) ?? []);
}

function jobOf({ name, id, epoch, attempt, due_at }: JobRow): Job {
  const [kind = "", ref = ""] = decodeKey(encodedOf(name)).map(String);
  return { id, kind, ref, epoch: Number(epoch), attempt: Number(attempt), dueAt: due_at };
}

/** When open jobs are due, in the order of the refs: at most `until` for a claimed one, null for none. */
export async function dueTimesOf(
  { sql }: Readable,
  kind: string,
  { refs, until }: { readonly refs: readonly string[]; readonly until: number },
): Promise<(number | null)[]> {
  const names = refs.map((ref) => encodeStorableKey([kind, ref], maxKeyBytes));
  const wanted = [...new Set(names.filter((name) => name !== null))];
  if (wanted.length === 0) return refs.map(() => null);
  const rows = await read(() =>
    sql<{ name: Uint8Array; due_at: number; leased: boolean }[]>`
      select name, due_at, leased from switchyard.job where name = any(${byteArrayOf(wanted)}::text::bytea[])`
  );
  const found = new Map(rows.map((row) => [encodedOf(row.name), row]));
  return names.map((name) => {
    const row = name === null ? undefined : found.get(name);
    if (!row) return null;
    return row.leased ? Math.min(row.due_at, until) : row.due_at;
  });
}

/** The first due time of each kind, the server's time, and the number of times that its clock was set back. */
export interface FirstDueTimes {
  readonly due: readonly DueTime[];
  readonly now: number;
  readonly epoch: number;
}

/** Reads the first due time of each kind. Each kind costs two reads of the index, however many jobs it has. */
export async function firstDueTimes({ sql, now }: Readable): Promise<FirstDueTimes> {
  const rows = await read(() =>
    sql<{ kind: Uint8Array | null; due_at: number; now: number; epoch: string }[]>`
      with recursive kinds(kind) as (
        (select kind from switchyard.job order by kind limit 1)
        union all
        select (select j.kind from switchyard.job j where j.kind > k.kind order by j.kind limit 1)
        from kinds k where k.kind is not null
      )
      select k.kind, (select min(j.due_at) from switchyard.job j where j.kind = k.kind) as due_at,
        coalesce(${now}::float8, switchyard.now_ms()) as now, c.epoch
      from switchyard.clock c left join kinds k on k.kind is not null`
  );
  const due = rows.flatMap(({ kind, due_at }) => {
    return kind === null || due_at === null ? [] : [{ kind: String(decodeKey(encodedOf(kind))[0]), dueAt: due_at }];
  });
  return { due, now: Number(rows[0]?.now), epoch: Number(rows[0]?.epoch) };
}

import { withConnection } from "../../support/postgres_server.ts";

/** How long the jobs of killed gateways waited for another one. */
export interface TakeoverTimes {
  /** Jobs that were taken over while the database was there all the time. The times are theirs. */
  readonly jobs: number;
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
  readonly maxMs: number | null;
  /** Jobs that were taken over after the database had crashed since the kill. */
  readonly acrossCrashes: number;
}

/** One claim of a job whose lease by another process had ended. */
interface Takeover {
  readonly holder: string;
  /** Unix milliseconds. */
  readonly at: number;
}

interface Crash {
  readonly from: number;
  readonly until: number;
}

/**
 * Each claim increments the epoch of its job. Connections have the name of their process, so the rows say who claimed a
 * job and whether it was leased then: by the process that made the claim before.
 */
const TRIGGER = `
create schema observed;
create table observed.claim (id text, epoch bigint, holder text, was_leased boolean, at double precision);
create function observed.note_claim() returns trigger language plpgsql as $$
begin
  insert into observed.claim values (
    new.id, new.epoch, current_setting('application_name'), old.leased, extract(epoch from clock_timestamp()) * 1000
  );
  return null;
end $$;
create trigger note_claim after update on switchyard.job for each row
  when (new.epoch > old.epoch and new.leased) execute function observed.note_claim()`;

/**
 * Measures the time from the kill of a gateway until another one has each of its jobs. The database itself records the
 * claims. The time is exact: it begins with the kill of the very process that had the lease, not with the end of the
 * lease, and ends with the claim, by the clock that all processes of the host share.
 */
export class Takeovers {
  readonly #kills = new Map<string, number>();
  readonly #crashes: Crash[] = [];

  private constructor(readonly url: string) {}

  /** Starts to record the claims in a database that has the tables. */
  static async start(url: string): Promise<Takeovers> {
    await withConnection(url, async (sql) => void await sql.unsafe(TRIGGER));
    return new Takeovers(url);
  }

  /** The address of the database for a process, so that its claims are recorded with its name. */
  urlFor(process: string): string {
    const url = new URL(this.url);
    url.searchParams.set("application_name", process);
    return url.href;
  }

  /** A process is killed now. */
  noteKill(process: string): void {
    this.#kills.set(process, Date.now());
  }

  /** Runs a crash of the database, with the time that the gateways need afterwards. */
  async duringCrash(crash: () => Promise<void>): Promise<void> {
    const from = Date.now();
    await crash();
    this.#crashes.push({ from, until: Date.now() + RECONNECT_MS });
  }

  /** The times so far. */
  async times(): Promise<TakeoverTimes> {
    const takeovers = await withConnection(this.url, (sql) =>
      sql<Takeover[]>`
        select before.holder, claim.at from observed.claim claim
        join observed.claim before on before.id = claim.id and before.epoch = claim.epoch - 1
        where claim.was_leased and claim.holder <> before.holder`);
    const killed = takeovers.flatMap(({ holder, at }) => {
      const killedAt = this.#kills.get(holder);
      return killedAt === undefined ? [] : [{ killedAt, at }];
    });
    const times = killed.filter((one) => !this.#hasCrash(one)).map(({ killedAt, at }) => Math.round(at - killedAt));
    const sorted = times.toSorted((one, other) => one - other);
    const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null;
    return {
      jobs: sorted.length,
      p50Ms: at(0.5),
      p99Ms: at(0.99),
      maxMs: at(1),
      acrossCrashes: killed.length - sorted.length,
    };
  }

  /** Whether the database was away between the kill and the claim. */
  #hasCrash({ killedAt, at }: { readonly killedAt: number; readonly at: number }): boolean {
    return this.#crashes.some(({ from, until }) => from < at && until > killedAt);
  }
}

/** Clients wait for up to a second between two attempts to connect; the poll for due jobs follows a second later. */
const RECONNECT_MS = 3_000;

import { withConnection } from "../../support/postgres_server.ts";

/** The time between two looks at the leases. A takeover is measured this exactly. */
const LOOK_MS = 50;
const LEASE_MS = 10_000;

/** A lease of a job, as the database has it. */
interface Lease {
  readonly epoch: string;
  /** Milliseconds of the clock that this process and the server share. */
  readonly endsAt: number;
}

/** How long the jobs of killed gateways waited for another one. */
export interface TakeoverTimes {
  readonly jobs: number;
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
  readonly maxMs: number | null;
}

/**
 * Measures the time from the kill of a gateway until its jobs continue. A gateway that lives renews, returns or ends a
 * job before its lease ends, so a lease that passed its end belonged to a killed one. It is taken over when its row
 * changes next. The time is that since the first kill after the lease was last renewed, so it is never too short.
 */
export class Takeovers {
  readonly #kills: number[] = [];
  readonly #leases = new Map<string, Lease>();
  readonly #timesMs: number[] = [];
  readonly #running: Promise<void>;
  #isOver = false;

  /** Looks at the database until {@linkcode Takeovers.stop}. */
  constructor(readonly url: string) {
    this.#running = this.#run();
  }

  /** A gateway is killed now. */
  noteKill(): void {
    this.#kills.push(Date.now());
  }

  /** Stops looking. */
  async stop(): Promise<TakeoverTimes> {
    this.#isOver = true;
    await this.#running;
    const sorted = this.#timesMs.toSorted((one, other) => one - other);
    const at = (share: number) => sorted[Math.min(Math.floor(share * sorted.length), sorted.length - 1)] ?? null;
    return { jobs: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: sorted.at(-1) ?? null };
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      await withConnection(this.url, async (sql) => {
        while (!this.#isOver) {
          const rows = await sql<{ name: string; epoch: string; endsAt: number }[]>`
            select encode(name, 'hex') as name, epoch, due_at as "endsAt" from switchyard.job where leased`;
          this.#compare(rows);
          await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
        }
      }).catch(() => new Promise((resolve) => setTimeout(resolve, LOOK_MS))); // no tables yet, or the server restarts
    }
  }

  #compare(rows: readonly (Lease & { readonly name: string })[]): void {
    const now = Date.now();
    const leased = new Map(rows.map((row) => [row.name, row]));
    for (const [name, { epoch, endsAt }] of this.#leases) {
      const row = leased.get(name);
      if (row?.epoch === epoch && row.endsAt === endsAt) continue;
      this.#leases.delete(name);
      const killedAt = this.#kills.find((at) => at > endsAt - LEASE_MS && at < endsAt);
      if (now > endsAt && killedAt !== undefined) this.#timesMs.push(now - killedAt);
    }
    for (const row of rows) this.#leases.set(row.name, row);
  }
}

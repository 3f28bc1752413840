import type { Clock } from "../../src/platform/lib/basics/clock.ts";
import type { ShareDemand, ShareLeases } from "../../src/platform/store/share_leases.ts";

interface SharedLimit {
  used: number;
  usedAt: number;
  version: number;
  readonly leases: Map<string, { readonly amount: bigint; readonly until: number }>;
}

/** A debt is at most an hour of the limit. */
const MAX_DEBT_MINUTES = 60;

/**
 * Leases of limits in memory, with the rules of the database's function. `tests/store/postgres/share_leases_test.ts`
 * compares both.
 */
export class SharedLimits {
  readonly #limits = new Map<string, SharedLimit>();
  /** The number of demands. */
  demands = 0;
  /** Awaited before each read and each demand. */
  before: () => Promise<void> = () => Promise.resolve();

  constructor(private readonly clock: Clock, readonly durationMs = 30_000) {}

  /** The leases as one process uses them. */
  of(holder: string): ShareLeases {
    return {
      durationMs: this.durationMs,
      read: async (name) => {
        await this.before();
        const at = this.clock.now();
        const limit = this.#limitOf(name);
        return { version: String(limit.version), at, others: othersIn(limit, holder, at) };
      },
      lease: async (name, demand) => {
        await this.before();
        this.demands++;
        return this.#lease(this.#limitOf(name), holder, demand);
      },
    };
  }

  #limitOf(name: readonly unknown[]): SharedLimit {
    const text = JSON.stringify(name);
    const limit = this.#limits.get(text) ?? { used: 0, usedAt: 0, version: 0, leases: new Map() };
    this.#limits.set(text, limit);
    return limit;
  }

  /** Nothing is awaited, as the database locks the row. */
  #lease(shared: SharedLimit, holder: string, { limit, refills, used, kept, wanted, hasSpare, since }: ShareDemand) {
    if (since !== undefined && since.version !== String(shared.version)) return null;
    const now = this.clock.now();
    if (refills) {
      const left = Math.max(0, shared.used - (now - shared.usedAt) * Number(limit) / 60_000);
      shared.used = Math.min(left + Number(used), Math.max(left, MAX_DEBT_MINUTES * Number(limit)));
      shared.usedAt = now;
    }
    const others = othersIn(shared, holder, since?.at ?? now);
    const rest = BigInt(Math.trunc(Number(limit) - shared.used)) - others - kept;
    const free = rest > 0n ? rest : 0n;
    const granted = wanted < free ? wanted : free;
    const spare = (free - granted) / 16n;
    const leased = kept + granted + (hasSpare && spare >= wanted ? spare : 0n);
    if (leased < (shared.leases.get(holder)?.amount ?? 0n)) shared.version++;
    if (leased > 0n) shared.leases.set(holder, { amount: leased, until: now + this.durationMs });
    else shared.leases.delete(holder);
    return { leased, used: shared.used, others };
  }
}

function othersIn({ leases }: SharedLimit, holder: string, aliveAt: number): bigint {
  let sum = 0n;
  for (const [owner, { amount, until }] of leases) if (owner !== holder && until > aliveAt) sum += amount;
  return sum;
}

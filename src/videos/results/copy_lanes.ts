/** Whose copy it is, and where from. */
export interface CopyLane {
  readonly account: string;
  readonly provider: string;
}

/** The right to copy. */
export interface CopyPermit {
  /** To be called once the copy has run for {@linkcode LONG_AFTER_MS}: it makes room for others where it can. */
  markLong(): void;
  /** To be called once, when the copy has ended. */
  leave(): void;
}

/** A copy that runs for longer than that is a long one. */
export const LONG_AFTER_MS = 30_000;

/** All copies at once: a bound that no single provider or account can reach. */
export const MAX_COPIES = 256;

/** Short copies, and long ones beside them. */
const LIMITS = {
  short: { account: 24, provider: 64, all: 160 },
  long: { account: 24, provider: 48, all: 96 },
} as const;

const COME_BACK = { leastMs: 1_000, mostMs: 60_000, spaceMs: 5 };

/**
 * How many copies run at once, so that slow ones leave room for the others: those of an account, of a provider and in
 * all. A copy that turns out to be long moves to lanes of its own while those have room, and another begins in its
 * place. What finds no room comes back later, at instants in a row.
 */
export class CopyLanes {
  readonly #taken = { short: new Map<string, number>(), long: new Map<string, number>() };
  #lastBackAt = 0;

  /** Null when there is no room for it now. */
  enter(lane: CopyLane): CopyPermit | null {
    if (!this.#hasRoom("short", lane)) return null;
    let kind: "short" | "long" | null = "short";
    this.#count("short", lane, 1);
    return {
      markLong: () => {
        if (kind !== "short" || !this.#hasRoom("long", lane)) return;
        this.#count("short", lane, -1);
        this.#count("long", lane, 1);
        kind = "long";
      },
      leave: () => {
        if (kind !== null) this.#count(kind, lane, -1);
        kind = null;
      },
    };
  }

  /** When a copy that found no room is to come back, in Unix milliseconds. */
  comeBackAt(now: number): number {
    const { leastMs, mostMs, spaceMs } = COME_BACK;
    // Within a span of now, so that a clock that was set back does not hold anybody up.
    this.#lastBackAt = Math.min(Math.max(this.#lastBackAt + spaceMs, now + leastMs), now + mostMs);
    return this.#lastBackAt;
  }

  #hasRoom(kind: "short" | "long", lane: CopyLane): boolean {
    const taken = (name: string) => this.#taken[kind].get(name) ?? 0;
    const [account, provider, all] = namesOf(lane);
    const most = LIMITS[kind];
    return taken(account) < most.account && taken(provider) < most.provider && taken(all) < most.all;
  }

  #count(kind: "short" | "long", lane: CopyLane, by: number): void {
    const taken = this.#taken[kind];
    for (const name of namesOf(lane)) {
      const count = (taken.get(name) ?? 0) + by;
      if (count > 0) taken.set(name, count);
      else taken.delete(name);
    }
  }
}

function namesOf({ account, provider }: CopyLane): readonly [account: string, provider: string, all: string] {
  return [`account ${account}`, `provider ${provider}`, "all"];
}

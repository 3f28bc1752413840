const SOONEST_MS = 1_000;
const LATEST_MS = 60_000;
/** Between two calls that were sent away, so that a long row of them costs the store little. */
const DISTANCE_MS = 5;

/**
 * How many calls one provider may have under way at once, so that one that hangs leaves room for the others. A call that finds no
 * seat comes back after a second, or later when many wait: they are told instants in a row.
 */
export class Seats {
  readonly #taken = new Map<string, number>();
  readonly #lastToldAt = new Map<string, number>();

  /** @param most For each provider. */
  constructor(readonly most: number) {}

  /** Does the work of a call unless the provider has no seat left; null then. */
  async with<T>(provider: string, work: () => Promise<T>): Promise<T | null> {
    const taken = this.#taken.get(provider) ?? 0;
    if (taken >= this.most) return null;
    this.#taken.set(provider, taken + 1);
    try {
      return await work();
    } finally {
      const left = this.#taken.get(provider)! - 1;
      if (left > 0) this.#taken.set(provider, left);
      else this.#taken.delete(provider);
    }
  }

  /** When a call that found no seat is to come back, in Unix milliseconds. */
  comeBackAt(provider: string, now: number): number {
    const last = this.#lastToldAt.get(provider) ?? 0;
    const at = Math.min(Math.max(last + DISTANCE_MS, now + SOONEST_MS), now + LATEST_MS);
    this.#lastToldAt.set(provider, at);
    return at;
  }
}

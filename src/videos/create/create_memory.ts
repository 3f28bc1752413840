import { GatewayError } from "../../lib/gateway_error.ts";
import type { MemoryBudget, MemoryLease } from "../../lib/memory_budget.ts";

/** Memory for the media of one create, until the vendor has answered. */
export interface CreateLease extends Pick<MemoryLease, "reserve">, Disposable {}

/**
 * Memory for the media of creates that are under way. A vendor that does not answer keeps it for minutes, so each
 * provider gets at most a third of what it leaves free, as an account does: however many vendors do not answer, some
 * memory stays free for requests and for creates at other providers.
 */
export class CreateMemory {
  readonly #heldBy = new Map<string, number>();

  /** @param budget What all requests and creates share. */
  constructor(readonly budget: MemoryBudget) {}

  /** Opens a lease that holds nothing yet; `take` throws `overloaded` when the provider or the account has no room. */
  lease(provider: string, account: string): CreateLease {
    const lease = this.budget.lease(account);
    return {
      reserve: (bytes) => {
        lease.reserve(bytes);
        if (this.#hasRoomFor(provider, bytes)) return this.#count(provider, bytes);
        lease.release(bytes);
        throw new GatewayError("overloaded", `Not enough memory for another create at provider "${provider}" now`);
      },
      [Symbol.dispose]: () => {
        this.#count(provider, -lease.held);
        lease.end();
      },
    };
  }

  /** Asked when the bytes are taken from the budget already. */
  #hasRoomFor(provider: string, bytes: number): boolean {
    const { limitBytes, inUse } = this.budget;
    return (this.#heldBy.get(provider) ?? 0) + bytes <= (limitBytes - inUse) / 3;
  }

  #count(provider: string, bytes: number): void {
    const held = (this.#heldBy.get(provider) ?? 0) + bytes;
    if (held > 0) this.#heldBy.set(provider, held);
    else this.#heldBy.delete(provider);
  }
}

import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import { Holdings, shareOfRest } from "../../../platform/lib/collections/holdings.ts";
import type { HeldMemory, MemoryBudget } from "../../../platform/lib/process/memory_budget.ts";

/** Memory for the media of one create request until the vendor has responded. */
export interface HeldCreateMemory extends Pick<HeldMemory, "reserve">, Disposable {}

/**
 * Limits the memory for media of running create requests. A vendor that does not respond can occupy its share for
 * minutes. Each provider and each account therefore gets at most a third of the memory that the others leave free. Some
 * memory always stays free for other requests and providers.
 */
export class CreateMemory {
  /** By provider. */
  readonly #held = new Holdings();

  /** @param budget Memory shared by all requests and creates. */
  constructor(readonly budget: MemoryBudget) {}

  /** Opens an empty lease. Its `take` throws `overloaded` if the share of the provider or the account is used up. */
  lease(provider: string, account: string): HeldCreateMemory {
    const lease = this.budget.lease(account);
    return {
      reserve: (bytes) => {
        lease.reserve(bytes);
        if (this.#hasRoomFor(provider, bytes)) return this.#held.add(provider, bytes);
        lease.release(bytes);
        throw new GatewayError("overloaded", `Not enough memory for another create at provider "${provider}" now`);
      },
      [Symbol.dispose]: () => {
        this.#held.add(provider, -lease.held);
        lease.end();
      },
    };
  }

  /** Called after the bytes were taken from the budget. */
  #hasRoomFor(provider: string, bytes: number): boolean {
    const { limitBytes, inUse } = this.budget;
    const held = this.#held.of(provider) + bytes;
    return held <= shareOfRest(limitBytes, inUse - held, PROVIDER_SHARE);
  }
}

/** The part of the memory that the others leave for one provider: a third of what it leaves free itself. */
const PROVIDER_SHARE = 1 / 4;

import { chain, type MaybePromise } from "../../platform/lib/basics/maybe_promise.ts";
import { providerNameOf } from "../../platform/names/provider_name.ts";
import type { AttemptSlots } from "../../vendors/routing/attempt_slots.ts";
import type { Candidate } from "../../vendors/routing/candidates.ts";
import type { AttemptGate } from "../../vendors/routing/fallback.ts";
import type { Slot, SlotRequest } from "../../vendors/routing/slot_queue.ts";

/** Keeps the slot of the attempt under way. */
export interface SlotHolder {
  /** Keeps a slot until the call ends; null if the provider has no limits. */
  keepSlot(slot: Slot | null): void;
  /** Returns the slot of a failed attempt. */
  returnSlot(): void;
}

/** The slot of a call that uses no tokens of a provider's limit. */
export class HeldSlot implements SlotHolder {
  #slot: Slot | null = null;

  keepSlot(slot: Slot | null): void {
    this.#slot = slot;
  }

  returnSlot(): void {
    this.#slot?.end(0);
    this.#slot = null;
  }
}

/** Takes a slot for each attempt of a call. The holder returns that of the successful attempt when the call ends. */
export class SlotGate implements AttemptGate {
  constructor(readonly slots: AttemptSlots, readonly holder: SlotHolder, readonly request: SlotRequest) {}

  /** Takes a slot of the candidate's provider. Waits for one only at the last of the provider's credentials. */
  enter({ provider }: Candidate, next: Candidate | undefined): MaybePromise<void> {
    const mayWait = next === undefined || providerNameOf(next.provider) !== providerNameOf(provider);
    const taken = this.slots.take(provider, mayWait ? this.request : { ...this.request, mayWait });
    return chain(taken, (slot) => this.#keep(slot));
  }

  /** Returns the slot of a failed attempt. */
  leave(): void {
    this.holder.returnSlot();
  }

  #keep(slot: Slot | null): void {
    this.holder.keepSlot(slot);
  }
}

import { providerNameOf } from "../lib/provider_name.ts";
import type { AttemptSlots } from "../routing/attempt_slots.ts";
import type { Candidate } from "../routing/candidates.ts";
import type { AttemptGate } from "../routing/fallback.ts";
import type { Slot, SlotRequest } from "../routing/slot_queue.ts";
import type { Settlement } from "./settlement.ts";

/** Takes a slot for each attempt of a paid call. The slot of the successful attempt is returned when the call ends. */
export class SlotGate implements AttemptGate {
  constructor(readonly slots: AttemptSlots, readonly settlement: Settlement, readonly request: SlotRequest) {}

  /** Takes a slot of the candidate's provider. Waits for one only at the last of the provider's credentials. */
  enter({ provider }: Candidate, next: Candidate | undefined): Promise<void> | void {
    const mayWait = next === undefined || providerNameOf(next.provider) !== providerNameOf(provider);
    const taken = this.slots.take(provider, mayWait ? this.request : { ...this.request, mayWait });
    if (taken instanceof Promise) return taken.then((slot) => this.#keep(slot));
    this.#keep(taken);
  }

  /** Returns the slot of a failed attempt. */
  leave(): void {
    this.settlement.returnSlot();
  }

  #keep(slot: Slot | null): void {
    this.settlement.keepSlot(slot);
  }
}

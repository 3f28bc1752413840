import type { AttemptSlots } from "../routing/attempt_slots.ts";
import type { Candidate } from "../routing/candidates.ts";
import type { AttemptGate } from "../routing/fallback.ts";
import type { Slot, SlotRequest } from "../routing/slot_queue.ts";
import type { Settlement } from "./settlement.ts";

/** Takes a slot for each attempt of a paid call. The slot of the successful attempt is returned when the call ends. */
export class SlotGate implements AttemptGate {
  constructor(readonly slots: AttemptSlots, readonly settlement: Settlement, readonly request: SlotRequest) {}

  /** Takes a slot of the candidate's provider. */
  enter({ provider }: Candidate): Promise<void> | void {
    const taken = this.slots.take(provider, this.request);
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

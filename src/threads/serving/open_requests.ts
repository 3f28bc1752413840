import type { RequestRecord } from "../../platform/http/request/request_record.ts";
import type { Clock } from "../../platform/lib/basics/clock.ts";
import { SlotSet } from "../../platform/lib/collections/slot_set.ts";

/** A request that is open for so long is announced, at the latest after twice that time. */
const ANNOUNCED_MS = 50;

/**
 * The requests of an isolate that have not ended. Those that last are announced to the main thread, so that it can log
 * them if the isolate ends without a word. Most requests end before that and cost no message.
 */
export class OpenRequests {
  readonly #fresh = new SlotSet<RequestRecord>();
  readonly #announced = new Set<RequestRecord>();
  #isTimed = false;

  /** @param announce Sends records of requests that are open. */
  constructor(readonly clock: Clock, readonly announce: (records: readonly RequestRecord[]) => void) {}

  /** The number of requests that have not ended. */
  get size(): number {
    return this.#fresh.size + this.#announced.size;
  }

  /** A request has arrived. */
  add(record: RequestRecord): void {
    this.#fresh.add(record);
    if (!this.#isTimed) this.#announceLater();
  }

  /** A request has ended. Returns whether it was announced. */
  delete(record: RequestRecord): boolean {
    return !this.#fresh.delete(record) && this.#announced.delete(record);
  }

  #announceLater(): void {
    this.#isTimed = true;
    this.clock.after(ANNOUNCED_MS, () => {
      this.#isTimed = false;
      const now = this.clock.now();
      // One that arrives later than now has been open for an unknown time: the machine's clock was set back.
      const due = [...this.#fresh].filter(({ arrival: { receivedAt } }) =>
        receivedAt <= now - ANNOUNCED_MS || receivedAt > now
      );
      for (const record of due) {
        this.#fresh.delete(record);
        this.#announced.add(record);
      }
      if (due.length > 0) this.announce(due);
      if (this.#fresh.size > 0) this.#announceLater();
    });
  }
}

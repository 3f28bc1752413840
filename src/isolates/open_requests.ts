import type { RequestRecord } from "../http/request_record.ts";
import type { Clock } from "../lib/clock.ts";
import { ShortLivedMap } from "../lib/short_lived_map.ts";

/** A request that is open for so long is announced, at the latest after twice that time. */
const ANNOUNCED_MS = 50;

/**
 * The requests of an isolate that have not ended. Those that last are announced to the main thread, so that it can log
 * them if the isolate ends without a word. Most requests end before that and cost no message.
 */
export class OpenRequests {
  readonly #open = new ShortLivedMap<string, RequestRecord>();
  /** The ids of open requests that are not announced, the first ones first. */
  #fresh: string[] = [];
  #isTimed = false;

  /** @param announce Sends records of requests that are open. */
  constructor(readonly clock: Clock, readonly announce: (records: readonly RequestRecord[]) => void) {}

  /** The number of open requests. */
  get size(): number {
    return this.#open.size;
  }

  /** A request has arrived. */
  add(record: RequestRecord): void {
    const { requestId } = record.arrival;
    this.#open.set(requestId, record);
    this.#fresh.push(requestId);
    this.#announceLater();
  }

  /** A request has ended. */
  delete(record: RequestRecord): void {
    this.#open.take(record.arrival.requestId);
  }

  #announceLater(): void {
    if (this.#isTimed) return;
    this.#isTimed = true;
    this.clock.after(ANNOUNCED_MS, () => {
      this.#isTimed = false;
      const until = this.clock.now() - ANNOUNCED_MS;
      const due: RequestRecord[] = [];
      this.#fresh = this.#fresh.filter((id) => {
        const record = this.#open.get(id);
        if (record === undefined) return false;
        if (record.arrival.receivedAt > until) return true;
        due.push(record);
        return false;
      });
      if (due.length > 0) this.announce(due);
      if (this.#fresh.length > 0) this.#announceLater();
    });
  }
}

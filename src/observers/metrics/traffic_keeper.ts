import { appendAll } from "../../platform/lib/collections/append_all.ts";
import type { Clock } from "../../platform/lib/basics/clock.ts";
import { randomBase62 } from "../../platform/lib/basics/ids.ts";
import { errorName, type Log } from "../../platform/lib/basics/log.ts";
import type { Entry, Store } from "../../platform/store/store.ts";
import { KEPT_TRAFFIC_MS } from "./traffic_history.ts";
import { type StoredTraffic, TRAFFIC, trafficKey } from "./traffic_records.ts";
import { trafficBetween, type TrafficTotals } from "./traffic_totals.ts";

/** The dependencies of a {@linkcode TrafficKeeper}. */
export interface TrafficKeeperParts {
  readonly store: Pick<Store, "scan" | "commit">;
  readonly clock: Clock;
  readonly log: Log;
  /** Returns the totals since the start of the process. */
  readonly totals: () => TrafficTotals;
}

/** What a process that is killed may lose. */
const WRITE_EVERY_MS = 300_000;
/** The length of one record: a step of the span of a day. */
const RECORD_MS = 1_800_000;
/** A shorter time without requests is not written. */
const MIN_IDLE_MS = 60_000;
/** A longer record without new requests is of a machine that was suspended, so no gateway ran. */
const MAX_IDLE_MS = 2 * RECORD_MS;
const PAGE = 200;
/** Old records that are removed when a new one begins: each gateway removes more than it adds. */
const REMOVED_AT_ONCE = 10;
const PROCESS_CHARACTERS = 8;

/**
 * Writes the traffic of this process to the store, so that a later one has it: one record for each half hour,
 * which is replaced every five minutes with requests until the next one begins. One without requests is written too, at
 * its end, because it tells a time without requests from one without a gateway.
 */
export class TrafficKeeper {
  readonly #process = randomBase62(PROCESS_CHARACTERS);
  #record: { readonly from: number; readonly totals: TrafficTotals };
  #written = 0;
  #cancel: (() => void) | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(private readonly parts: TrafficKeeperParts) {
    this.#record = { from: parts.clock.now(), totals: parts.totals() };
  }

  /** Reads what earlier processes, and others that share the store, have written in the last month. */
  async read(): Promise<StoredTraffic[]> {
    const { store, clock } = this.parts;
    const oldest = clock.now() - KEPT_TRAFFIC_MS;
    const found: StoredTraffic[] = [];
    let after = trafficKey(oldest, "");
    for (let page: Entry<StoredTraffic>[] | null = null; page === null || page.length === PAGE;) {
      page = await store.scan<StoredTraffic>(TRAFFIC, { after, limit: PAGE });
      appendAll(found, page.map(({ value }) => value));
      after = page.at(-1)?.key ?? after;
    }
    return found;
  }

  /** Starts to write. */
  start(): void {
    this.#cancel = this.parts.clock.after(WRITE_EVERY_MS, () => {
      this.#writing = this.#write(false);
      this.start();
    });
  }

  /** Writes what is left, and stops. */
  async stop(): Promise<void> {
    this.#cancel?.();
    this.#cancel = null;
    await this.#writing;
    await this.#write(true);
  }

  async #write(isLast: boolean): Promise<void> {
    const { store, clock, log } = this.parts;
    const { from } = this.#record;
    const [to, totals] = [clock.now(), this.parts.totals()];
    const traffic = trafficBetween(this.#record.totals, totals);
    const isEnded = isLast || to - from >= RECORD_MS || to < from;
    try {
      const isIdle = isEnded && to - from >= MIN_IDLE_MS && to - from < MAX_IDLE_MS;
      if (traffic.requests > this.#written || isIdle) {
        const value: StoredTraffic = { from, to: Math.max(from, to), traffic };
        await store.commit(null, { set: [{ key: trafficKey(from, this.#process), value }] });
        this.#written = traffic.requests;
      }
      if (!isEnded) return;
      this.#record = { from: to, totals };
      this.#written = 0;
      await this.#removeOld(to - KEPT_TRAFFIC_MS);
    } catch (error) {
      // The next call writes it again: a record has all that happened since its start.
      log.warn("traffic_not_stored", { reason: errorName(error) });
    }
  }

  async #removeOld(oldest: number): Promise<void> {
    const { store } = this.parts;
    const first = await store.scan<StoredTraffic>(TRAFFIC, { limit: REMOVED_AT_ONCE });
    const old = first.filter(({ value }) => value.to < oldest).map(({ key }) => key);
    if (old.length > 0) await store.commit(null, { delete: old });
  }
}

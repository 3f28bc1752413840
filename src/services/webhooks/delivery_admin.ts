import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import type { JobStore } from "../../platform/store/store.ts";
import { headersOf } from "./attempt.ts";
import { type Delivery, type DeliveryAttempt, type DeliveryState, startNewRound } from "./delivery.ts";
import {
  addNewRound,
  type DeliveryEntry,
  type DeliveryIndexEntry,
  type DeliveryRange,
  readAttempts,
  readDelivery,
  readMessage,
  scanDeliveries,
  WEBHOOK_JOB,
} from "./records.ts";

/** A delivery with its attempts. */
export interface DeliveryWithAttempts {
  readonly delivery: Delivery;
  /** Oldest first; only the newest attempts of a long list. */
  readonly attempts: readonly DeliveryAttempt[];
}

/** The request that the receiver would get now. */
export interface DeliveryRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** One page of deliveries. */
export interface DeliveryPage {
  readonly deliveries: readonly Delivery[];
  /** Cursor for the next page; null on the last page. */
  readonly next: DeliveryIndexEntry | null;
}

/** Result of redelivering a range. */
export interface RangeRedelivery {
  readonly redelivered: number;
  /** Cursor where the call stopped; null if the range is complete. */
  readonly next: DeliveryIndexEntry | null;
}

/** Reads and redelivers deliveries for the admin API and the command line. */
export interface DeliveryAdmin {
  /** Returns a delivery; null if the task has none, or none yet. */
  read(id: string): Promise<DeliveryWithAttempts | null>;
  /** Returns the request of a delivery. @throws {GatewayError} `not_found`. */
  requestOf(id: string): Promise<DeliveryRequest>;
  /**
   * Starts a new round now.
   *
   * @throws {GatewayError} `not_found`; `conflict` while the delivery is pending.
   */
  redeliver(id: string): Promise<Delivery>;
  /** Lists deliveries in order of their events, newest first with `reverse`. */
  list(
    range: DeliveryRange,
    page: { readonly after: DeliveryIndexEntry | null; readonly limit: number; readonly reverse: boolean },
  ): Promise<DeliveryPage>;
  /**
   * Starts a new round for delivered and exhausted deliveries of a range, oldest first, at most
   * {@linkcode MAX_REDELIVERED}.
   */
  redeliverRange(
    range: DeliveryRange & { readonly state: Exclude<DeliveryState, "pending"> },
    after: DeliveryIndexEntry | null,
  ): Promise<RangeRedelivery>;
}

/** Maximum number of deliveries that one call redelivers. */
const MAX_REDELIVERED = 500;

const MAX_ATTEMPTS_SHOWN = 1_000;
const PAGE = 100;

/** Opens the delivery administration of a store. */
export function openDeliveryAdmin(store: JobStore): DeliveryAdmin {
  async function found(id: string): Promise<DeliveryEntry> {
    const entry = await readDelivery(store, id);
    if (!entry) throw new GatewayError("not_found", "Cannot find a delivery: the task has none");
    return entry;
  }

  /** Starts a new round; null if the delivery is or becomes pending. */
  async function begin(entry: DeliveryEntry): Promise<Delivery | null> {
    if (entry.value.state === "pending") return null;
    const now = store.now();
    const after = startNewRound(entry.value, now);
    return (await store.commit(null, addNewRound({}, entry, after, now))).ok ? after : null;
  }

  async function list(range: DeliveryRange, page: Parameters<DeliveryAdmin["list"]>[1]): Promise<DeliveryPage> {
    const deliveries = await scanDeliveries(store, range, { ...page, limit: page.limit + 1 });
    const shown = await withDueTimes(store, deliveries.slice(0, page.limit));
    const last = shown.at(-1);
    return { deliveries: shown, next: last !== undefined && deliveries.length > page.limit ? placeOf(last) : null };
  }

  return {
    async read(id) {
      const entry = await readDelivery(store, id);
      if (!entry) return null;
      const [[delivery = entry.value], attempts] = await Promise.all([
        withDueTimes(store, [entry.value]),
        readAttempts(store, id, MAX_ATTEMPTS_SHOWN),
      ]);
      return { delivery, attempts };
    },
    async requestOf(id) {
      const { value: delivery } = await found(id);
      const { body, secrets } = await readMessage(store, delivery);
      return { headers: headersOf(delivery, body, secrets, store.now()), body: new TextDecoder().decode(body) };
    },
    async redeliver(id) {
      const begun = await begin(await found(id));
      if (begun === null) {
        throw new GatewayError(
          "conflict",
          "Cannot redeliver: the delivery is pending and is retried automatically",
        );
      }
      return begun;
    },
    list,
    async redeliverRange(range, from) {
      let count = 0;
      let after = from;
      for (let scanned = 0; scanned < MAX_REDELIVERED; scanned += PAGE) {
        const { deliveries, next } = await list(range, { after, limit: PAGE, reverse: false });
        const begun = await Promise.all(
          deliveries.map(async ({ id }) => await begin(await found(id)) === null ? 0 : 1),
        );
        count += begun.reduce<number>((sum, one) => sum + one, 0);
        after = next;
        if (next === null) break;
      }
      return { redelivered: count, next: after };
    },
  };
}

/** Returns deliveries with the due times of their jobs, which differ after a postponement or a clock change. */
async function withDueTimes(store: JobStore, deliveries: readonly Delivery[]): Promise<Delivery[]> {
  const pending = deliveries.filter(({ state }) => state === "pending").map(({ id }) => id);
  if (pending.length === 0) return [...deliveries];
  const times = await store.jobDueTimes(WEBHOOK_JOB, pending);
  const dueAt = new Map(pending.map((id, index) => [id, times[index] ?? null]));
  return deliveries.map((delivery) => ({
    ...delivery,
    nextAttemptAt: dueAt.get(delivery.id) ?? delivery.nextAttemptAt,
  }));
}

function placeOf({ createdAt, id }: Delivery): DeliveryIndexEntry {
  return { createdAt, id };
}

import { compactRecords } from "../../platform/lib/json/compact_record.ts";
import type { Delivery } from "./delivery.ts";

/**
 * Stored form of a delivery. Ended deliveries are retained for long and read rarely, so they are stored compact,
 * together with a short body. Pending deliveries change with each attempt and are stored as objects. Records of earlier
 * versions are never compact.
 */
export type StoredDelivery = Delivery | Uint8Array<ArrayBuffer>;

const records = compactRecords<Omit<Delivery, "body"> & { readonly body?: Delivery["body"] }>({
  names: {
    i: "id",
    a: "account",
    s: "status",
    l: "url",
    c: "createdAt",
    st: "state",
    n: "attempts",
    nb: "attemptsBefore",
    na: "nextAttemptAt",
    e: "settledAt",
    b: "body",
  },
  usual: { state: "delivered", attempts: 1, attemptsBefore: 0, nextAttemptAt: null },
});

/** Returns the stored form of a delivery. */
export function packDelivery(delivery: Delivery): StoredDelivery {
  if (delivery.state === "pending") return delivery;
  const { body, ...about } = delivery;
  return "whole" in body ? records.write(about, body.whole) : records.write(delivery);
}

/** The inverse of {@linkcode packDelivery}. */
export function unpackDelivery(stored: StoredDelivery): Delivery {
  if (!(stored instanceof Uint8Array)) return stored;
  const { record: { body, ...about }, tail } = records.read(stored);
  return { ...about, body: body ?? { bytes: tail.length, whole: tail } };
}

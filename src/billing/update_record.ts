import { GatewayError } from "../lib/gateway_error.ts";
import type { Key, Store } from "../store/store.ts";

const MOST_TRIES = 8;

/**
 * Reads a record, changes it and writes it back under a check of its version; begins anew when another writer came
 * between.
 *
 * @param change Gives the new value, or the very value it was given when there is nothing to change.
 * @returns The value that now stands, or null when there is no such record.
 * @throws {GatewayError} `conflict` when other writers came between again and again.
 */
export async function updateRecord<T>(store: Store, key: Key, change: (value: T) => T): Promise<T | null> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const [entry] = await store.get<T>([key]);
    if (!entry) return null;
    const value = change(entry.value);
    if (value === entry.value) return value;
    const result = await store.commit(null, { check: [{ key, version: entry.version }], set: [{ key, value }] });
    if (result.ok) return value;
  }
  throw new GatewayError("conflict", "Cannot change the record: others changed it at the same time");
}

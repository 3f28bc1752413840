import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import type { Commit, Key, Store } from "../../../platform/store/store.ts";
import { mergeCommits } from "./records.ts";

const MAX_ATTEMPTS = 8;

/**
 * Reads a record, changes it and writes it with a check of its version. Starts again if another writer was first.
 *
 * @param change Returns the new value, or the same object if nothing changes.
 * @param also Further changes, written even if the record does not change. Default: none.
 * @returns The current value; null if there is no such record.
 * @throws {GatewayError} `conflict` if other writers were first every time.
 */
export async function updateRecord<T>(
  store: Store,
  key: Key,
  change: (value: T) => T,
  also: Commit = NOTHING,
): Promise<T | null> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const [entry] = await store.get<T>([key]);
    if (!entry) return null;
    const value = change(entry.value);
    if (value === entry.value && Object.keys(also).length === 0) return value;
    const set = value === entry.value ? [] : [{ key, value }];
    const result = await store.commit(null, mergeCommits({ check: [{ key, version: entry.version }], set }, also));
    if (result.ok) return value;
  }
  throw new GatewayError("conflict", "Cannot change the record: too many concurrent changes");
}

const NOTHING: Commit = {};

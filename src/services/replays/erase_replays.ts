import type { Key, Store } from "../../platform/store/store.ts";
import { keyCountsOf, replyPartsOf, streamPlacesOf, usedKeysOf } from "./records.ts";

const PAGE = 100;

/**
 * Removes all idempotency keys and stored replies of an account, and the places of its streams, in small commits.
 * Returns the number of keys.
 */
export async function eraseReplays(store: Pick<Store, "scan" | "commit">, account: string): Promise<number> {
  await removeAll(store, replyPartsOf(account));
  await removeAll(store, keyCountsOf(account));
  await removeAll(store, streamPlacesOf(account));
  return await removeAll(store, usedKeysOf(account));
}

async function removeAll(store: Pick<Store, "scan" | "commit">, prefix: Key): Promise<number> {
  let removed = 0;
  for (;;) {
    const entries = await store.scan(prefix, { limit: PAGE });
    if (entries.length > 0) await store.commit(null, { delete: entries.map(({ key }) => key) });
    removed += entries.length;
    if (entries.length < PAGE) return removed;
  }
}

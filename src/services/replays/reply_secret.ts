import { randomBytes } from "node:crypto";
import { ByteCipher } from "../../platform/lib/bytes/byte_cipher.ts";
import type { Store } from "../../platform/store/store.ts";
import { storageUnavailable } from "../../platform/store/write_health.ts";
import { REPLY_SECRET } from "./records.ts";

const SECRET_BYTES = 32;
/** A secret is created once, so that the second read finds that of another process. */
const MAX_RACES = 8;
const PURPOSE = "switchyard stored replies";

/**
 * Returns the cipher of the store's replies. The first call creates its secret.
 *
 * @throws {GatewayError} `storage_unavailable` if the store neither has a secret nor takes one.
 */
export async function openReplyCipher(store: Pick<Store, "get" | "commit">): Promise<ByteCipher> {
  for (let race = 0; race < MAX_RACES; race++) {
    const [entry] = await store.get<Uint8Array>([REPLY_SECRET]);
    if (entry) return new ByteCipher(entry.value, PURPOSE);
    const value = new Uint8Array(randomBytes(SECRET_BYTES));
    const created = await store.commit(null, {
      check: [{ key: REPLY_SECRET, version: null }],
      set: [{ key: REPLY_SECRET, value }],
    });
    if (created.ok) return new ByteCipher(value, PURPOSE);
  }
  throw storageUnavailable();
}

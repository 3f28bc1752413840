import { randomBytes } from "node:crypto";
import type { SigningKey, SigningKeys } from "../files/signed_url.ts";
import type { Key, Store } from "../store/store.ts";

const KEYS: Key = ["files", "signing_keys"];

/** The store's signing keys; the first call of all makes one. */
export async function ensureSigningKeys(store: Store): Promise<SigningKeys> {
  for (;;) {
    const [entry] = await store.get<SigningKeys>([KEYS]);
    if (entry) return entry.value;
    const key: SigningKey = { id: randomBytes(4).toString("hex"), secret: new Uint8Array(randomBytes(32)) };
    await store.commit(null, { check: [{ key: KEYS, version: null }], set: [{ key: KEYS, value: [key] }] });
  }
}

/** Takes a new key into use; addresses signed with the one before it stay good until the next rotation. */
export async function rotateSigningKeys(store: Store): Promise<SigningKeys> {
  await ensureSigningKeys(store);
  for (;;) {
    const [entry] = await store.get<SigningKeys>([KEYS]);
    const key: SigningKey = { id: randomBytes(4).toString("hex"), secret: new Uint8Array(randomBytes(32)) };
    const keys = [key, ...entry?.value.slice(0, 1) ?? []];
    const { ok } = await store.commit(null, {
      check: [{ key: KEYS, version: entry?.version ?? null }],
      set: [{ key: KEYS, value: keys }],
    });
    if (ok) return keys;
  }
}

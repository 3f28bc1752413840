import { randomBytes } from "node:crypto";
import type { SigningKey, SigningKeys } from "../../files/signed_url.ts";
import type { Key, Store, Version } from "../../store/store.ts";

const KEYS: Key = ["files", "signing_keys"];

/** The signing keys in force, and the way to a new one. */
export interface SigningKeyRing {
  /** Always as they are now: a rotation changes this very list. */
  readonly keys: SigningKeys;
  /** See {@linkcode rotateSigningKeys}; one rotation at a time. Gives what changed, by ids, which are no secrets. */
  rotate(): Promise<KeyRotation>;
}

/** What a rotation came to, by the ids of keys. */
export interface KeyRotation {
  /** The new key. */
  readonly signs: string;
  /** The new key and the one before it. */
  readonly verifies: readonly string[];
  /** What opens nothing any more. */
  readonly dropped: readonly string[];
}

/** Opens the ring on a store, whose only owner must be this process. */
export async function openSigningKeys(store: Store): Promise<SigningKeyRing> {
  const keys: SigningKey[] = [...await ensureSigningKeys(store)];
  let turn: Promise<unknown> = Promise.resolve();

  async function rotateNow(): Promise<KeyRotation> {
    const rotated = await rotateSigningKeys(store);
    const verifies = rotated.map(({ id }) => id);
    const dropped = keys.map(({ id }) => id).filter((id) => !verifies.includes(id));
    keys.splice(0, keys.length, ...rotated);
    return { signs: rotated[0].id, verifies, dropped };
  }

  return {
    keys,
    rotate() {
      const rotation = turn.then(rotateNow);
      turn = rotation.catch(() => {});
      return rotation;
    },
  };
}

/** The store's signing keys. The first call creates one. */
export async function ensureSigningKeys(store: Store): Promise<SigningKeys> {
  for (;;) {
    const [entry] = await store.get<SigningKeys>([KEYS]);
    if (entry) return entry.value;
    const keys = [newSigningKey()];
    if (await replaceKeys(store, null, keys)) return keys;
  }
}

/** Adds a new key that signs from now on. Addresses signed with the previous key stay valid until the next rotation. */
export async function rotateSigningKeys(store: Store): Promise<readonly [SigningKey, ...SigningKey[]]> {
  for (;;) {
    const [entry] = await store.get<SigningKeys>([KEYS]);
    const keys: [SigningKey, ...SigningKey[]] = [newSigningKey(), ...entry?.value.slice(0, 1) ?? []];
    if (await replaceKeys(store, entry?.version ?? null, keys)) return keys;
  }
}

function newSigningKey(): SigningKey {
  return { id: randomBytes(4).toString("hex"), secret: new Uint8Array(randomBytes(32)) };
}

/** Whether the keys still had the version, so that they were replaced. */
async function replaceKeys(store: Store, version: Version | null, keys: SigningKeys): Promise<boolean> {
  const { ok } = await store.commit(null, {
    check: [{ key: KEYS, version }],
    set: [{ key: KEYS, value: keys }],
  });
  return ok;
}

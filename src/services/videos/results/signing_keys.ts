import { randomBytes } from "node:crypto";
import type { SigningKey, SigningKeys } from "../../../platform/files/signed_url.ts";
import type { Key, Store, Version } from "../../../platform/store/store.ts";
import { storageUnavailable } from "../../../platform/store/write_health.ts";

const KEYS: Key = ["files", "signing_keys"];
/** More gateways than replace the keys at one time. */
const MAX_RACES = 64;

/** The valid signing keys, and their rotation. */
export interface SigningKeyRing {
  /** Always current: a rotation changes this list in place. */
  readonly keys: SigningKeys;
  /**
   * See {@linkcode rotateSigningKeys}; one rotation at a time. Returns the ids of changed keys, which are not secret.
   */
  rotate(): Promise<KeyRotation>;
  /** Reads the keys again, in case another gateway has rotated them. */
  refresh(): Promise<void>;
}

/** Result of a rotation, by key ids. */
export interface KeyRotation {
  /** The new key. */
  readonly signs: string;
  /** The new key and the previous one. */
  readonly verifies: readonly string[];
  /** Keys that are no longer valid. */
  readonly dropped: readonly string[];
}

/** Opens the signing keys of a store. */
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

  async function refreshNow(): Promise<void> {
    const stored = await ensureSigningKeys(store);
    const isSame = stored.length === keys.length && stored.every(({ id }, i) => id === keys[i]?.id);
    if (!isSame) keys.splice(0, keys.length, ...stored);
  }

  return {
    keys,
    refresh() {
      const refreshed = turn.then(refreshNow);
      turn = refreshed.catch(() => {});
      return refreshed;
    },
    rotate() {
      const rotation = turn.then(rotateNow);
      turn = rotation.catch(() => {});
      return rotation;
    },
  };
}

/**
 * Returns the store's signing keys. The first call creates one.
 *
 * @throws {GatewayError} `storage_unavailable` if other processes replace them all the time.
 */
export async function ensureSigningKeys(store: Store): Promise<SigningKeys> {
  for (let race = 0; race < MAX_RACES; race++) {
    const [entry] = await store.get<SigningKeys>([KEYS]);
    if (entry) return entry.value;
    const keys = [newSigningKey()];
    if (await replaceKeys(store, null, keys)) return keys;
  }
  throw storageUnavailable();
}

/**
 * Adds a new key that signs from now on. Addresses signed with the previous key stay valid until the next rotation.
 *
 * @throws {GatewayError} As {@linkcode ensureSigningKeys}.
 */
export async function rotateSigningKeys(store: Store): Promise<readonly [SigningKey, ...SigningKey[]]> {
  for (let race = 0; race < MAX_RACES; race++) {
    const [entry] = await store.get<SigningKeys>([KEYS]);
    const keys: [SigningKey, ...SigningKey[]] = [newSigningKey(), ...entry?.value.slice(0, 1) ?? []];
    if (await replaceKeys(store, entry?.version ?? null, keys)) return keys;
  }
  throw storageUnavailable();
}

function newSigningKey(): SigningKey {
  return { id: randomBytes(4).toString("hex"), secret: new Uint8Array(randomBytes(32)) };
}

/** Replaces the keys; returns false if their version changed. */
async function replaceKeys(store: Store, version: Version | null, keys: SigningKeys): Promise<boolean> {
  const { ok } = await store.commit(null, {
    check: [{ key: KEYS, version }],
    set: [{ key: KEYS, value: keys }],
  });
  return ok;
}

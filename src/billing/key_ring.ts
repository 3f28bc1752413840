import type { Clock } from "../lib/clock.ts";
import { GatewayError } from "../lib/gateway_error.ts";
import type { Entry, Store } from "../store/store.ts";
import { hashOfKey, isWellFormedKey } from "./api_key.ts";
import { type IssuedKey, revokeKey } from "./issued_key.ts";
import { accountKey, type AccountRecord, keyKey, keyOwnerKey, type KeyOwnerRecord, type KeyRecord } from "./records.ts";

/** Who a caller turned out to be. */
export interface Credential {
  readonly keyId: string;
  readonly accountId: string;
}

/** Recognises callers by their keys, from memory where it can. */
export interface KeyRing {
  /**
   * Gives the key's owner: at once when it was asked for within five seconds, else as a promise.
   *
   * @throws {GatewayError} `invalid_api_key`, the same whether the key is forged, unknown, revoked or its account
   * suspended; thrown or rejected with, as the answer would have come.
   */
  resolve(secret: string): Credential | Promise<Credential>;
  /**
   * Revokes a key; from the moment this resolves the ring refuses it. Other nodes refuse it within five seconds.
   *
   * @throws {GatewayError} `not_found` when the account has no such key.
   */
  revoke(accountId: string, keyId: string): Promise<IssuedKey>;
  /** Forgets what is remembered of an account's keys: to be called after it was suspended or resumed. */
  evictAccount(accountId: string): void;
}

/** An answer, and until when it may be given again. */
interface Remembered {
  readonly credential: Credential | null;
  readonly until: number;
}

const KNOWN_MS = 5_000;
const UNKNOWN_MS = 1_000;
const MOST_REMEMBERED = 10_000;
const USE_RECORDED_EVERY_MS = 3_600_000;

/**
 * A key ring over the store. What it remembers is found by the secret's SHA-256, never by the secret. Refusals are
 * remembered apart from owners, so that a flood of guesses pushes no caller out.
 */
export function createKeyRing({ store, clock }: { readonly store: Store; readonly clock: Clock }): KeyRing {
  const known = new Map<string, Remembered>();
  const unknown = new Map<string, Remembered>();
  const lookups = new Map<string, Promise<Credential>>();

  function lookUp(hash: string): Promise<Credential> {
    const lookup: Promise<Credential> = findOwner(store, hash).then((credential) => {
      // A look-up that began before a revocation answers whoever asked before it, and is not remembered.
      if (lookups.get(hash) === lookup) {
        lookups.delete(hash);
        (credential ? unknown : known).delete(hash);
        remember(credential ? known : unknown, hash, {
          credential,
          until: clock.now() + (credential ? KNOWN_MS : UNKNOWN_MS),
        });
      }
      if (!credential) throw invalidKey();
      return credential;
    }, (failure) => {
      if (lookups.get(hash) === lookup) lookups.delete(hash);
      throw failure;
    });
    lookups.set(hash, lookup);
    return lookup;
  }

  function forget(isConcerned: (credential: Credential) => boolean): void {
    for (const [hash, { credential }] of known) if (credential && isConcerned(credential)) known.delete(hash);
    unknown.clear();
    lookups.clear();
  }

  return {
    resolve(secret) {
      if (!isWellFormedKey(secret)) throw invalidKey();
      const hash = hashOfKey(secret);
      const remembered = known.get(hash) ?? unknown.get(hash);
      if (!remembered || !isCurrent(remembered, clock.now())) return lookups.get(hash) ?? lookUp(hash);
      if (!remembered.credential) throw invalidKey();
      return remembered.credential;
    },
    async revoke(accountId, keyId) {
      const key = await revokeKey(store, accountId, keyId);
      forget((credential) => credential.keyId === keyId);
      return key;
    },
    evictAccount: (accountId) => forget((credential) => credential.accountId === accountId),
  };
}

function invalidKey(): GatewayError {
  return new GatewayError("invalid_api_key", "Cannot accept the API key: it is not a valid one");
}

/** Also false when the clock went back further than anything is remembered for. */
function isCurrent(remembered: Remembered, now: number): boolean {
  return now < remembered.until && remembered.until <= now + KNOWN_MS;
}

function remember(memory: Map<string, Remembered>, hash: string, remembered: Remembered): void {
  memory.delete(hash);
  if (memory.size >= MOST_REMEMBERED) memory.delete(memory.keys().next().value!);
  memory.set(hash, remembered);
}

async function findOwner(store: Store, hash: string): Promise<Credential | null> {
  const [owner] = await store.get<KeyOwnerRecord>([keyOwnerKey(hash)]);
  if (!owner) return null;
  const { account: accountId, id: keyId } = owner.value;
  const [key, account] = await store.get<unknown>([keyKey(accountId, keyId), accountKey(accountId)]) as [
    Entry<KeyRecord> | null,
    Entry<AccountRecord> | null,
  ];
  if (!key || key.value.revokedAt !== null || !account || account.value.suspendedAt !== null) return null;
  recordUse(store, key);
  return { keyId, accountId };
}

/** Coarse and in the background: a use that is not recorded, for whatever reason, is recorded by a later one. */
function recordUse(store: Store, key: Entry<KeyRecord>): void {
  const now = store.now();
  const { lastUsedAt } = key.value;
  if (lastUsedAt !== null && now - lastUsedAt < USE_RECORDED_EVERY_MS) return;
  store.commit(null, {
    check: [{ key: key.key, version: key.version }],
    set: [{ key: key.key, value: { ...key.value, lastUsedAt: now } }],
  }).catch(() => {});
}

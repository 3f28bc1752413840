import { isDeepStrictEqual } from "node:util";
import type { CaptureMode } from "../../../platform/http/request/body_capture.ts";
import type { Clock } from "../../../platform/lib/basics/clock.ts";
import type { MaybePromise } from "../../../platform/lib/basics/maybe_promise.ts";
import { captureOf, type EffectiveLimits, effectiveLimitsOf } from "../../limits/access_limits.ts";
import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import type { Entry, Store } from "../../../platform/store/store.ts";
import { hashOfKey, isWellFormedKey } from "./api_key.ts";
import { KeyHashes } from "./key_hashes.ts";
import { type IssuedKey, revokeKey } from "./issued_key.ts";
import {
  accountKey,
  type AccountRecord,
  keyKey,
  keyOwnerKey,
  type KeyOwnerRecord,
  type KeyRecord,
} from "../accounts/records.ts";

/** The key and the account of a caller. */
export interface Credential {
  readonly keyId: string;
  readonly accountId: string;
  /** Null if neither the key nor the account is limited, so that a request of such a caller costs one comparison. */
  readonly limits: EffectiveLimits | null;
  /** Which requests have their bodies kept; null for none. */
  readonly capture: CaptureMode | null;
  /** Whether the gateway makes no use of vendors' prompt caches by itself. Default: it does. */
  readonly isUncached?: boolean;
}

/** Identifies callers by their keys, from a cache where possible. */
export interface KeyRing {
  /**
   * Returns the owner of a key: at once if it is cached, which it is for five seconds, otherwise as a promise.
   *
   * @throws {GatewayError} `invalid_api_key`, thrown or as a rejection. The message tells a revoked or expired key and
   * a suspended account, and an admin key, from an unknown key: whoever has the secret may know.
   */
  resolve(secret: string): MaybePromise<Credential>;
  /**
   * Revokes a key. This key ring refuses it once this resolves; other nodes refuse it within five seconds.
   *
   * @throws {GatewayError} `not_found` if the account has no such key.
   */
  revoke(accountId: string, keyId: string): Promise<IssuedKey>;
  /** Evicts an account's keys from the cache. Must be called after any change of the account or of its keys. */
  evictAccount(accountId: string): void;
}

/** The dependencies of a key ring. */
export interface KeyRingOptions {
  /** Its clock decides when keys expire. */
  readonly store: Store;
  readonly clock: Clock;
  /** Whether a secret is one of an operator, which the refusal then says. Default: none is. */
  readonly isAdminKey?: (secret: string) => Promise<boolean>;
  /** Called when an account or one of its keys has changed. */
  readonly onEvicted?: (accountId: string) => void;
}

/** Why a key is refused. */
type Refusal = keyof typeof REFUSALS;

/** A cached result and its expiry. */
interface CachedResult {
  readonly found: Credential | Refusal;
  readonly until: number;
}

const CACHED_MS = 5_000;
const REFUSAL_CACHED_MS = 1_000;
const MAX_CACHED = 10_000;
const USE_RECORD_INTERVAL_MS = 3_600_000;

/**
 * A key ring over the store. Results are cached by the SHA-256 of the secret, and the SHA-256 of accepted secrets is
 * remembered ({@linkcode KeyHashes}). Refusals are cached apart from owners, so that many wrong keys evict no caller.
 */
export function createKeyRing({ store, clock, isAdminKey, onEvicted }: KeyRingOptions): KeyRing {
  const known = new Map<string, CachedResult>();
  const unknown = new Map<string, CachedResult>();
  const lookups = new Map<string, Promise<Credential>>();
  const hashes = new KeyHashes();

  function lookUp(secret: string, hash: string): Promise<Credential> {
    const lookup: Promise<Credential> = findOwner(store, hash).then(
      async (found) => found === "unknown" && await isAdminKey?.(secret) ? "admin" : found,
    ).then((found) => {
      const result = typeof found === "string" ? found : withSameLimits(found, known.get(hash)?.found);
      const isKnown = typeof result !== "string";
      // A look-up that began before a revocation answers its callers but is not cached.
      if (lookups.get(hash) === lookup) {
        lookups.delete(hash);
        (isKnown ? unknown : known).delete(hash);
        addToCache(isKnown ? known : unknown, hash, {
          found: result,
          until: clock.now() + (isKnown ? CACHED_MS : REFUSAL_CACHED_MS),
        });
        if (isKnown) hashes.remember(secret, hash);
        else hashes.forget(secret);
      }
      if (typeof result === "string") throw invalidKey(result);
      return result;
    }, (failure) => {
      if (lookups.get(hash) === lookup) lookups.delete(hash);
      throw failure;
    });
    lookups.set(hash, lookup);
    return lookup;
  }

  function evict(isEvicted: (credential: Credential) => boolean): void {
    for (const [hash, { found }] of known) if (typeof found !== "string" && isEvicted(found)) known.delete(hash);
    unknown.clear();
    lookups.clear();
    hashes.clear();
  }

  return {
    resolve(secret) {
      const hash = hashes.find(secret) ?? hashOfWellFormed(secret);
      const cached = known.get(hash) ?? unknown.get(hash);
      if (!cached || !isCurrent(cached, clock.now())) return lookups.get(hash) ?? lookUp(secret, hash);
      const { found } = cached;
      if (typeof found === "string") throw invalidKey(found);
      if (found.limits !== null && isExpired(found.limits, store.now())) throw invalidKey("expired");
      return found;
    },
    async revoke(accountId, keyId) {
      const key = await revokeKey(store, accountId, keyId);
      evict((credential) => credential.keyId === keyId);
      onEvicted?.(accountId);
      return key;
    },
    evictAccount(accountId) {
      evict((credential) => credential.accountId === accountId);
      onEvicted?.(accountId);
    },
  };
}

function hashOfWellFormed(secret: string): string {
  if (!isWellFormedKey(secret)) throw invalidKey("unknown");
  return hashOfKey(secret);
}

const REFUSALS = {
  unknown: "it is unknown; send a key of this gateway, not of a vendor",
  admin: "it is an admin key, for the admin API and the console; send an API key, " +
    'which "switchyard keys create ACCOUNT" creates',
  revoked: "it was revoked",
  expired: "it has expired",
  suspended: "its account is suspended",
};

function invalidKey(refusal: Refusal): GatewayError {
  return new GatewayError("invalid_api_key", `Cannot accept the API key: ${REFUSALS[refusal]}`);
}

/** Unchanged limits stay one object, so that what is compiled for them is used again. */
function withSameLimits(found: Credential, before: Credential | Refusal | undefined): Credential {
  if (found.limits === null || before === undefined || typeof before === "string") return found;
  return isDeepStrictEqual(found, before) ? before : found;
}

function isExpired({ expiresAt }: EffectiveLimits, now: number): boolean {
  return expiresAt !== null && expiresAt <= now;
}

/** Also false if the clock was set back further than any entry lives. */
function isCurrent(cached: CachedResult, now: number): boolean {
  return now < cached.until && cached.until <= now + CACHED_MS;
}

function addToCache(memory: Map<string, CachedResult>, hash: string, cached: CachedResult): void {
  memory.delete(hash);
  if (memory.size >= MAX_CACHED) memory.delete(memory.keys().next().value!);
  memory.set(hash, cached);
}

/**
 * The key and the account of work that outlives its request, with their present limits.
 *
 * @throws {GatewayError} `invalid_api_key` if the key may not be used any more.
 */
export async function readCredential(store: Store, owner: KeyOwnerRecord): Promise<Credential> {
  const found = await credentialOf(store, owner);
  if (typeof found === "string") throw invalidKey(found);
  return found;
}

async function findOwner(store: Store, hash: string): Promise<Credential | Refusal> {
  const [owner] = await store.get<KeyOwnerRecord>([keyOwnerKey(hash)]);
  return owner ? await credentialOf(store, owner.value) : "unknown";
}

async function credentialOf(store: Store, owner: KeyOwnerRecord): Promise<Credential | Refusal> {
  const { account: accountId, id: keyId } = owner;
  const [key, account] = await store.get<unknown>([keyKey(accountId, keyId), accountKey(accountId)]) as [
    Entry<KeyRecord> | null,
    Entry<AccountRecord> | null,
  ];
  if (!key || !account) return "unknown";
  if (key.value.revokedAt !== null) return "revoked";
  if (account.value.suspendedAt !== null) return "suspended";
  const limits = effectiveLimitsOf(key.value, account.value);
  if (limits !== null && isExpired(limits, store.now())) return "expired";
  recordUse(store, key);
  const isUncached = key.value.promptCaching === "off" || account.value.promptCaching === "off";
  return {
    keyId,
    accountId,
    limits,
    capture: captureOf(key.value.capture, account.value.capture),
    ...isUncached && { isUncached },
  };
}

/** Coarse and in the background. If it fails, a later use is recorded. */
function recordUse(store: Store, key: Entry<KeyRecord>): void {
  const now = store.now();
  const { lastUsedAt } = key.value;
  if (lastUsedAt !== null && now - lastUsedAt < USE_RECORD_INTERVAL_MS) return;
  store.commit(null, {
    check: [{ key: key.key, version: key.version }],
    set: [{ key: key.key, value: { ...key.value, lastUsedAt: now } }],
  }).catch(() => {});
}

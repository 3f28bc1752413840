import { createHash } from "node:crypto";
import { IDEMPOTENCY_MS, keyInUse } from "../../platform/http/request/idempotency_key.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import type { Commit, Store, Version } from "../../platform/store/store.ts";
import { writtenVersion } from "../../platform/store/written_version.ts";
import { HeldKey, type HeldKeyParts, type KeyPlace } from "./held_key.ts";
import { type IdempotencyRecord, type RunningKey, type UsedKey, usedKey } from "./records.ts";

/** A request with an idempotency key. */
export interface KeyedCaller {
  readonly accountId: string;
  readonly keyId: string;
  /** As sent. */
  readonly idempotencyKey: string;
  readonly requestId: string;
}

/** The dependencies of {@linkcode holdIdempotencyKey}. */
export interface HoldKeyParts extends HeldKeyParts {
  readonly store: Pick<Store, "get" | "commit" | "now">;
  /** The most keys that an account uses within 24 hours. */
  readonly accountKeys: number;
}

/** Requests with one key that race for it. Each round has a winner, so a request that loses so often is refused. */
const MAX_RACES = 8;
/** The most interrupted requests that a key names. */
const MAX_INTERRUPTED = 10;
const RETRY_SECONDS = 3_600;

/**
 * Takes an idempotency key for a request, in all processes that share the store. The caller's text is stored as a hash.
 *
 * @returns The key, or its record if an earlier request has used it.
 * @throws {GatewayError} `conflict` while another request holds it; `rate_limited` if the account has used too many;
 * `storage_unavailable`.
 */
export async function holdIdempotencyKey(caller: KeyedCaller, parts: HoldKeyParts): Promise<HeldKey | UsedKey> {
  const { accountId: account, keyId, idempotencyKey, requestId } = caller;
  const { store, counts, leaseMs } = parts;
  const place: KeyPlace = { account, key: usedKey(account, keyId, hashOf(idempotencyKey)) };
  for (let race = 0; race < MAX_RACES; race++) {
    const [entry] = await store.get<IdempotencyRecord>([place.key]);
    const now = store.now();
    const found = entry?.value ?? null;
    if (found?.state === "used") return found;
    if (found !== null && found.leaseUntil > now) throw keyInUse();
    // A key whose process ended is counted. One that was given back is counted again, whatever the limit.
    const isCounted = found !== null && found.leaseUntil > 0;
    const most = found === null ? { keys: parts.accountKeys } : {};
    if (!isCounted && !await counts.take(account, { keys: 1 }, most)) throw tooManyKeys(parts);
    const record = found === null ? newRecord(requestId, now, leaseMs) : takenOver(found, requestId, now + leaseMs);
    const ttlMs = Math.max(1, record.expiresAt - now);
    const set: NonNullable<Commit["set"]> = [{ key: place.key, value: record, ttlMs }];
    let version: Version | null = null;
    try {
      version = await committed(
        { set, check: [{ key: place.key, version: entry?.version ?? null }] },
        place,
        store,
      );
    } finally {
      if (version === null && !isCounted) await counts.giveBack(account, { keys: 1 });
    }
    if (version === null) continue;
    if (found !== null) {
      parts.log.warn("idempotency_key_taken_over", { requestId, accountId: account, ref: found.requestId });
    }
    return new HeldKey(place, record, version, parts);
  }
  throw keyInUse();
}

function newRecord(requestId: string, now: number, leaseMs: number): RunningKey {
  return { state: "running", requestId, interrupted: [], expiresAt: now + IDEMPOTENCY_MS, leaseUntil: now + leaseMs };
}

/** A lease of zero was given back: its request ended without a charge. */
function takenOver(found: RunningKey, requestId: string, leaseUntil: number): RunningKey {
  const interrupted = found.leaseUntil === 0 ? found.interrupted : [...found.interrupted, found.requestId];
  return { ...found, requestId, interrupted: interrupted.slice(-MAX_INTERRUPTED), leaseUntil };
}

async function committed(commit: Commit, { key }: KeyPlace, store: Pick<Store, "commit">): Promise<Version | null> {
  return writtenVersion(commit, await store.commit(null, commit), key);
}

function tooManyKeys({ accountKeys }: HoldKeyParts): GatewayError {
  return new GatewayError(
    "rate_limited",
    `Cannot accept another Idempotency-Key: the account has used ${accountKeys} in 24 hours; send the request without`,
    { retryAfterSeconds: RETRY_SECONDS, field: "Idempotency-Key" },
  );
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}

import type { IdempotencyUse } from "../../money/limits/idempotency_counts.ts";
import type { Key } from "../../platform/store/store.ts";

/** What is stored of a reply. */
export interface StoredReply {
  /** Random: the parts of two replies never have the same place. */
  readonly id: string;
  /** The number of its parts. */
  readonly parts: number;
}

/** The use of an idempotency key. */
export type IdempotencyRecord = RunningKey | UsedKey;

interface KeyUse {
  /** The request that uses the key, or used it last. */
  readonly requestId: string;
  /** Earlier requests with the key whose process ended before their end. Each may have been charged. */
  readonly interrupted: readonly string[];
  /** Unix milliseconds: 24 hours after the first use. */
  readonly expiresAt: number;
}

/** The key of a request that is under way. */
export interface RunningKey extends KeyUse {
  readonly state: "running";
  /** Unix milliseconds: the key is free then, unless its request renews it. */
  readonly leaseUntil: number;
}

/** The key of a request that has ended. */
export interface UsedKey extends KeyUse {
  readonly state: "used";
  /** The hash of the address and the body; null if the body was not read to its end. */
  readonly fingerprint: string | null;
  /** Null if the reply is not stored: there was none, or it was too large. */
  readonly reply: StoredReply | null;
}

/** What an account has used in one hour. */
export interface HourCount extends IdempotencyUse {
  /** Hours since 1970. */
  readonly hour: number;
}

/** All idempotency keys of an account. */
export const usedKeysOf = (account: string): Key => ["replays", "key", account];

/** The use of a key. `hash` is that of the caller's text. */
export const usedKey = (account: string, keyId: string, hash: string): Key => [...usedKeysOf(account), keyId, hash];

/** All parts of stored replies of an account. */
export const replyPartsOf = (account: string): Key => ["replays", "part", account];

/** A part of a stored reply. */
export const replyPartKey = (account: string, id: string, part: number): Key => [...replyPartsOf(account), id, part];

/** All counts of an account. */
export const keyCountsOf = (account: string): Key => ["replays", "count", account];

/** What an account has used in each of the last hours, oldest first. */
export const keyCountsKey = (account: string): Key => [...keyCountsOf(account), "hours"];

/** The streams of an account whose events a gateway keeps. */
export const streamPlacesOf = (account: string): Key => ["streams", account];

/** The gateway that keeps the events of a request. */
export const streamPlaceKey = (account: string, requestId: string): Key => [...streamPlacesOf(account), requestId];

/** The secret that encrypts the replies of this store. */
export const REPLY_SECRET: Key = ["replays", "secret"];

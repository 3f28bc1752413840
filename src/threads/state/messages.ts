import type { MessagePort } from "node:worker_threads";
import type { LeasePart } from "../../money/billing/meter/call_lease.ts";
import type { Charge, Reservation } from "../../money/billing/meter/meter.ts";
import type { OtherAnswer } from "../../conversation/models/answering_models.ts";
import type { LogFields, LogLevel } from "../../platform/lib/basics/log.ts";
import type { RatesLeft } from "../../money/limits/limits_left.ts";
import type { IdempotencyUse } from "../../money/limits/idempotency_counts.ts";
import type { LimitedCaller } from "../../money/limits/limited_caller.ts";
import type { AttemptTarget, Availability } from "../../vendors/routing/circuit_breaker.ts";
import type { Store, StoreLimits } from "../../platform/store/store.ts";
import type { BodyJob } from "../../platform/http/bodies/body_reader.ts";
import type { MediaJob } from "../../platform/workers/media_job.ts";
import type { ReplyJob } from "../../services/texts/large_replies/reply_jobs.ts";
import type { HandedRequest } from "./handed_request.ts";
import type { PlainError } from "./plain_error.ts";

/** The messages between a thread that answers requests and the state on the main thread. Values are plain. */

/** What a thread needs to reach the state. */
export interface StateThreadData {
  /** Receives the results of {@linkcode BlockingCall}s. */
  readonly results: MessagePort;
  /** The thread waits until the first number is 1, which means that a result has arrived. */
  readonly resultFlag: SharedArrayBuffer;
  /** The limits of the store, which runs on the main thread. */
  readonly storeLimits: StoreLimits;
  /** See `SharedStoreTime`. */
  readonly storeTime: SharedArrayBuffer;
}

/** Messages about the state to a thread. */
export type ToStateThread =
  /** The account of an admitted call is overdrawn: see `Admission.onOverdrawn`. */
  | { readonly type: "overdrawn"; readonly admission: number }
  /** The result of a {@linkcode CallMessage}. */
  | { readonly type: "result"; readonly call: number; readonly value?: unknown; readonly failure?: PlainError };

/** Messages about leases to a thread, which has them for calls that it admits by itself. */
export type ToLeasingThread =
  /** The account of the calls of a lease is overdrawn. */
  | { readonly type: "lease-overdrawn"; readonly lease: number }
  /** More units of a lease. */
  | { readonly type: "leased"; readonly grant: LeaseGrant }
  /** The thread must report what it has used of the leases of an account. Answered by {@linkcode LeaseReport}. */
  | {
    readonly type: "report-leases";
    readonly id: number;
    readonly accountId: string;
    /** Whether the leases end: what is not used of them is given back. */
    readonly ends: boolean;
    /** The key whose leases end; null for all keys of the account. */
    readonly keyId: string | null;
  }
  /** Charges that the thread journaled are in the ledger, or given up and logged. */
  | { readonly type: "written"; readonly references: readonly string[] }
  /** A charge that is in no journal cannot be written to the ledger now. */
  | { readonly type: "unwritten"; readonly reference: string; readonly failure: PlainError };

/** A call from a thread to the main thread. The thread waits for the result without blocking. */
export type Call =
  /** What a caller can reserve now. */
  | { readonly name: "allowance"; readonly caller: LimitedCaller }
  /** Returns an {@linkcode Admitted}. */
  | {
    readonly name: "admit";
    readonly caller: LimitedCaller;
    readonly reserved: Reservation;
    /** Names the limits of a lease for further calls; null if the thread wants none. */
    readonly wantsLease: number | null;
  }
  /** Checks an admission without admitting anything. Nothing is reserved for a request that costs nothing: null. */
  | { readonly name: "probe"; readonly caller: LimitedCaller; readonly reserved: Reservation | null }
  /** Returns the number of the admission of a request that costs nothing. */
  | { readonly name: "admit-free"; readonly caller: LimitedCaller }
  | { readonly name: "charge"; readonly admission: number; readonly charge: Charge }
  /** Returns a `RatesLeft`, or null. */
  | { readonly name: "rates-left"; readonly caller: LimitedCaller }
  /** Returns the number of tokens of a text. */
  | { readonly name: "count-tokens"; readonly text: string }
  /** Returns a `ReplyJobOutcome`. The buffers of the job move, and those of the result. */
  | { readonly name: "reply-job"; readonly job: ReplyJob; readonly accountId: string }
  /** Returns the result of the job. Its buffer moves, and that of the result. */
  | { readonly name: "media-job"; readonly job: MediaJob; readonly accountId: string }
  | { readonly name: "body-job"; readonly job: BodyJob; readonly accountId: string }
  /** Counts the use of idempotency keys, or gives it back. Returns whether it was counted. */
  | {
    readonly name: "count-keys";
    readonly account: string;
    readonly use: Partial<IdempotencyUse>;
    /** Null to give back. */
    readonly most: Partial<IdempotencyUse> | null;
  }
  /** Delays the error of a wrong key, then fails with it. */
  | { readonly name: "wrong-key"; readonly address: string; readonly error: PlainError }
  /** Another thread answers a request. Returns when the request has ended there. The body and the port move. */
  | { readonly name: "hand-on"; readonly request: HandedRequest }
  /** Returns the slot's number. */
  | {
    readonly name: "slot";
    readonly provider: string;
    readonly accountId: string;
    readonly tokens: number;
    readonly mayWait: boolean;
  }
  | { readonly name: "store"; readonly method: StoreMethod; readonly args: readonly unknown[] };

/** The result of a call of name `admit`. */
export interface Admitted {
  /** The admission's number, or null if the caller can no longer reserve the amount. */
  readonly admission: number | null;
  /** What the caller's limits of rate have left; null without such limits. */
  readonly rates: RatesLeft | null;
  /** What the thread leases for further calls of the key; null near a limit. */
  readonly lease: LeaseGrant | null;
}

/** What a thread has of an account for calls of one key, which it admits by itself. Amounts are texts of integers. */
export interface LeaseGrant {
  readonly lease: number;
  readonly money: string;
  readonly calls: number;
  /** Null without a limit of requests. */
  readonly requests: number | null;
  /** Null without a limit of tokens. */
  readonly tokens: number | null;
  /** What a caller could reserve at that time. */
  readonly spendable: string;
  /** What the limits of rate have left without what is leased; null without such limits. */
  readonly rates: RatesLeft | null;
  /** Whose calls it is for; null for more of a lease. */
  readonly caller: LeaseCaller | null;
}

/** The key whose calls a lease is for. */
export interface LeaseCaller {
  readonly keyId: string;
  readonly accountId: string;
  /** The name that the thread gave to its limits. */
  readonly limitsId: number;
}

/** What a thread used of a lease, or gives back. Amounts are texts of integers. The fields are those of `LeaseUse`. */
export interface LeaseUseMessage {
  readonly lease: number;
  readonly money: string;
  readonly charged: string;
  readonly calls: number;
  readonly requests: number;
  readonly usedRequests: number;
  readonly tokens: number;
  readonly usedTokens: number;
  readonly largest: string;
  /** The parts that are half used. */
  readonly short: readonly LeasePart[];
  /** Whether no call begins any more. */
  readonly isEnded: boolean;
  /** Whether the lease has ended, and no call is open. */
  readonly isOver: boolean;
}

/** Between the rows of {@linkcode ChargedRows}, which have no line feeds. */
export const ROW_SEPARATOR = "\n";

/** Charges that a thread journaled, for one ledger entry. */
export interface ChargedRows {
  readonly accountId: string;
  /** The reference of the ledger entry. */
  readonly reference: string;
  /** As `writeRow` writes them, joined: one text is copied faster than many. */
  readonly rows: string;
  /** The sum of the rows' amounts. */
  readonly total: string;
  /** The rows that are in no journal. */
  readonly unjournaled: readonly string[];
}

/** What a thread used of its leases, and its charges. */
export interface LeaseReport {
  readonly type: "lease-report";
  readonly uses: readonly LeaseUseMessage[];
  readonly charges: readonly ChargedRows[];
  /** The id of the message that asked for it; null if none did. */
  readonly answers: number | null;
}

/** The store methods that threads may call. */
export type StoreMethod = Exclude<keyof Store, "limits" | "now">;

/** A {@linkcode Call} of a request. The request is null for work outside any request. */
export interface CallMessage {
  readonly type: "call";
  readonly call: number;
  readonly request: number | null;
  readonly what: Call;
}

/**
 * A call that blocks the thread until the main thread has returned the result. The main thread never waits for a
 * thread.
 */
export type BlockingCall =
  | { readonly name: "availability"; readonly target: AttemptTarget; readonly accountId: string }
  | { readonly name: "reasoning"; readonly keys: readonly string[] }
  | { readonly name: "items"; readonly keys: readonly string[] }
  /** Reserves memory for a request. The result is the error, if there is one. */
  | { readonly name: "memory"; readonly request: number; readonly bytes: number };

/** The result of a {@linkcode BlockingCall} as it is sent. */
export interface BlockingResult {
  /** Of its question: the thread may have given up an earlier one, whose result comes late. */
  readonly id: number;
  readonly value: unknown;
}

/** The results of {@linkcode BlockingCall}s. */
export interface BlockingCallResults {
  readonly availability: Availability;
  readonly reasoning: readonly unknown[];
  readonly items: readonly (string | null)[];
  readonly memory: PlainError | null;
}

/** Messages about the state to the main thread. */
export type FromStateThread =
  | CallMessage
  | { readonly type: "question"; readonly id: number; readonly question: BlockingCall }
  | { readonly type: "release"; readonly admission: number; readonly tokens: number }
  /** The caller of a call of name `slot` or `hand-on` disconnected. */
  | { readonly type: "cancel-call"; readonly call: number }
  | { readonly type: "end-slot"; readonly slot: number; readonly usedTokens: number }
  /** Memory of a request was released. */
  | { readonly type: "give-memory"; readonly request: number; readonly bytes: number }
  | { readonly type: "invalidate"; readonly accountId: string }
  | {
    readonly type: "attempt";
    readonly attempt: number;
    readonly request: number | null;
    readonly target: AttemptTarget;
    readonly accountId: string;
  }
  | { readonly type: "attempted"; readonly attempt: number; readonly failure: PlainError | null }
  | { readonly type: "keep-reasoning"; readonly key: string; readonly value: unknown; readonly characters: number }
  | { readonly type: "keep-item"; readonly key: string; readonly value: string; readonly characters: number }
  /** A vendor answered with another model, which this thread had not seen. */
  | { readonly type: "other-answer"; readonly answer: OtherAnswer }
  | { readonly type: "log"; readonly level: LogLevel; readonly event: string; readonly fields: LogFields };

import type { MessagePort } from "node:worker_threads";
import type { Charge, Reservation } from "../billing/meter.ts";
import type { ErrorCode, ErrorDetails } from "../lib/gateway_error.ts";
import type { LogFields, LogLevel } from "../lib/log.ts";
import type { RatesLeft } from "../limits/account_limiter.ts";
import type { LimitedCaller } from "../limits/limited_caller.ts";
import type { AttemptTarget, Availability } from "../routing/circuit_breaker.ts";
import type { Store, StoreLimits } from "../store/store.ts";
import type { FailureFacts, FailureKind } from "../upstreams/failure.ts";

/** The messages between a thread that answers requests and the state on the main thread. Values are plain. */

/** What a thread needs to reach the state. */
export interface StateThreadData {
  /** Receives the results of {@linkcode BlockingCall}s. */
  readonly results: MessagePort;
  /** The thread waits until the first number is 1, which means that a result has arrived. */
  readonly resultFlag: SharedArrayBuffer;
  /** The limits of the store, which runs on the main thread. */
  readonly storeLimits: StoreLimits;
}

/** Messages about the state to a thread. */
export type ToStateThread =
  /** The account of an admitted call is overdrawn: see `Admission.onOverdrawn`. */
  | { readonly type: "overdrawn"; readonly admission: number }
  /** The result of a {@linkcode CallMessage}. */
  | { readonly type: "result"; readonly call: number; readonly value?: unknown; readonly failure?: PlainError };

/** A call from a thread to the main thread. The thread waits for the result without blocking. */
export type Call =
  /** What a caller can reserve now. */
  | { readonly name: "allowance"; readonly caller: LimitedCaller }
  /** Returns an {@linkcode Admitted}. */
  | { readonly name: "admit"; readonly caller: LimitedCaller; readonly reserved: Reservation }
  /** Checks an admission without admitting anything. */
  | { readonly name: "probe"; readonly caller: LimitedCaller; readonly reserved: Reservation }
  /** Returns the number of the admission of a request that costs nothing. */
  | { readonly name: "admit-free"; readonly caller: LimitedCaller }
  | { readonly name: "charge"; readonly admission: number; readonly charge: Charge }
  /** Returns a `RatesLeft`, or null. */
  | { readonly name: "rates-left"; readonly caller: LimitedCaller }
  /** Returns the number of tokens of a text. */
  | { readonly name: "count-tokens"; readonly text: string }
  /** Delays the error of a wrong key, then fails with it. */
  | { readonly name: "wrong-key"; readonly address: string; readonly error: PlainError }
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
}

/** The store methods that threads may call. */
export type StoreMethod = Extract<keyof Store, "get" | "scan" | "commit" | "balance" | "ledger" | "take">;

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
  | { readonly type: "question"; readonly question: BlockingCall }
  | { readonly type: "release"; readonly admission: number; readonly tokens: number }
  /** The caller of a call of name `slot` disconnected. */
  | { readonly type: "cancel-slot"; readonly call: number }
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
  | { readonly type: "log"; readonly level: LogLevel; readonly event: string; readonly fields: LogFields };

/** An error as plain values. Causes are not sent: they belong to the log of the thread that threw. */
export type PlainError =
  | {
    readonly kind: "gateway";
    readonly code: ErrorCode;
    readonly message: string;
    readonly details: Omit<ErrorDetails, "cause">;
  }
  | {
    readonly kind: "upstream";
    readonly provider: string;
    readonly failure: FailureKind;
    readonly message: string;
    readonly facts: Omit<FailureFacts, "cause">;
  }
  | { readonly kind: "range"; readonly message: string }
  | { readonly kind: "other"; readonly name: string; readonly place: string };

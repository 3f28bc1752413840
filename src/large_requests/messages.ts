import type { MessagePort } from "node:worker_threads";
import type { Charge, Reservation } from "../billing/meter.ts";
import type { Credential } from "../billing/key_ring.ts";
import type { Model } from "../catalog/model.ts";
import type { Config } from "../config/config.ts";
import type { ErrorCode, ErrorDetails } from "../lib/gateway_error.ts";
import type { LogFields, LogLevel } from "../lib/log.ts";
import type { OwnAddress } from "../net/target.ts";
import type { AttemptTarget, Availability } from "../routing/circuit_breaker.ts";
import type { Store, StoreLimits } from "../store/store.ts";
import type { FailureFacts, FailureKind } from "../upstreams/failure.ts";

/**
 * What the main thread and a thread for large requests tell each other. Values are plain; bytes travel as
 * `ArrayBuffer`, moved and not copied.
 */

/** What a thread is started with. */
export interface ThreadData {
  readonly config: Config;
  /** Models that providers list, as they are now. */
  readonly discovered: readonly Model[];
  readonly own: readonly OwnAddress[];
  /** Where the answers to {@linkcode Question}s arrive. */
  readonly answers: MessagePort;
  /** The thread waits on the first number until it is 1, which says that an answer has arrived. */
  readonly answered: SharedArrayBuffer;
  /** The limits of the store, which is on the main thread. */
  readonly storeLimits: StoreLimits;
}

/** A request for a thread. */
export interface RequestMessage {
  readonly type: "request";
  readonly id: number;
  readonly url: string;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly requestId: string;
  readonly receivedAt: number;
  readonly remote: string;
  readonly credential: Credential;
  readonly body: ArrayBuffer;
}

/** From the main thread. */
export type ToThread =
  | RequestMessage
  /** The caller left. */
  | { readonly type: "left"; readonly id: number }
  /** The caller has room for the next piece of the body. */
  | { readonly type: "pull"; readonly id: number }
  /** The gateway is shutting down: all streams end with an error event. */
  | { readonly type: "abort-streams" }
  /** The gateway listens at one more address, which no download may lead to. */
  | { readonly type: "own-address"; readonly address: OwnAddress }
  /** Models that providers list, in place of those before. */
  | { readonly type: "discovered"; readonly models: readonly Model[] }
  /** The account of an admitted call is overdrawn: see `Admission.onOverdrawn`. */
  | { readonly type: "overdrawn"; readonly admission: number }
  /** The result of a {@linkcode CallMessage}. */
  | { readonly type: "result"; readonly call: number; readonly value?: unknown; readonly failure?: PlainError };

/** What a thread asks of the main thread and waits for without blocking. */
export type Call =
  /** What an account can reserve now. */
  | { readonly name: "spendable"; readonly accountId: string }
  /** Gives the admission's number; null when the account can no longer reserve that much. */
  | { readonly name: "admit"; readonly accountId: string; readonly reserved: Reservation }
  | { readonly name: "charge"; readonly admission: number; readonly charge: Charge }
  | { readonly name: "store"; readonly method: StoreMethod; readonly args: readonly unknown[] };

/** The methods of the store that threads may call. */
export type StoreMethod = Extract<keyof Store, "get" | "scan" | "commit" | "balance" | "ledger" | "take">;

/** A {@linkcode Call} of a request; null for work that belongs to none. */
export interface CallMessage {
  readonly type: "call";
  readonly call: number;
  readonly request: number | null;
  readonly what: Call;
}

/**
 * What a thread asks and must know at once. It blocks until the main thread has answered, which never waits for a
 * thread.
 */
export type Question =
  | { readonly name: "availability"; readonly target: AttemptTarget; readonly accountId: string }
  | { readonly name: "reasoning"; readonly keys: readonly string[] }
  | { readonly name: "items"; readonly keys: readonly string[] }
  /** Takes memory for a request; the answer is the refusal. */
  | { readonly name: "memory"; readonly request: number; readonly bytes: number };

/** The answers to {@linkcode Question}s. */
export interface Answers {
  readonly availability: Availability;
  readonly reasoning: readonly unknown[];
  readonly items: readonly (string | null)[];
  readonly memory: PlainError | null;
}

/** To the main thread. */
export type FromThread =
  /** The request's heavy part is over: the thread can take another one. */
  | { readonly type: "digested"; readonly id: number }
  | {
    readonly type: "head";
    readonly id: number;
    readonly status: number;
    readonly headers: readonly (readonly [string, string])[];
    /** The whole body; null when pieces follow. */
    readonly body: ArrayBuffer | null;
  }
  | { readonly type: "failed"; readonly id: number; readonly error: PlainError }
  /** A piece of the body; null at its end. */
  | { readonly type: "piece"; readonly id: number; readonly piece: ArrayBuffer | null }
  /** The body broke off. */
  | { readonly type: "broke"; readonly id: number }
  | CallMessage
  | { readonly type: "question"; readonly question: Question }
  | { readonly type: "release"; readonly admission: number }
  /** Memory of a request is free again. */
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

/** An error as it travels. Causes stay behind: they are for the log of the thread that threw. */
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

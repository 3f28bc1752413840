import type { Credential } from "../../money/billing/keys/key_ring.ts";
import type { ListedStep } from "../../vendors/catalog/listed_step.ts";
import type { Config } from "../../config/config.ts";
import type { RecordedFacts } from "../../platform/http/request/request_record.ts";
import type { RequestTrace } from "../../platform/lib/tracing/trace_context.ts";
import type { OwnAddress } from "../../platform/net/target.ts";
import type { FromStateThread, PlainError, StateThreadData, ToStateThread } from "../state/messages.ts";

/**
 * The messages between the main thread and a thread for large requests. Values are plain. Bytes are sent as
 * `ArrayBuffer`, transferred and not copied.
 */

/** The data that a thread is started with. */
export interface ThreadData extends StateThreadData {
  readonly config: Config;
  /** The models that providers list now. */
  readonly listed: readonly ListedStep[];
  readonly own: readonly OwnAddress[];
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
  readonly trace: RequestTrace | null;
  readonly credential: Credential;
  readonly body: ArrayBuffer;
}

/** Messages from the main thread. */
export type ToThread =
  | RequestMessage
  /** The caller disconnected. */
  | { readonly type: "left"; readonly id: number }
  /** The caller can receive the next chunk of the body. */
  | { readonly type: "pull"; readonly id: number }
  /** The gateway is shutting down: all streams, and requests without a response, end with an error. */
  | { readonly type: "abort-for-stop" }
  /** The gateway listens at one more address. Downloads from it are blocked. */
  | { readonly type: "own-address"; readonly address: OwnAddress }
  /** The models that providers list. They replace the previous ones. */
  | { readonly type: "listed"; readonly listed: readonly ListedStep[] }
  /** The configuration changed. It applies to the requests after this message. */
  | { readonly type: "config"; readonly config: Config; readonly listed: readonly ListedStep[] }
  | ToStateThread;

/** Messages to the main thread. */
export type FromThread =
  /** The request's values are parsed, so the thread can accept another request. */
  | { readonly type: "digested"; readonly id: number }
  | {
    readonly type: "head";
    readonly id: number;
    readonly status: number;
    readonly headers: readonly (readonly [string, string])[];
    /** The whole body, or null if chunks follow. */
    readonly body: ArrayBuffer | null;
  }
  | { readonly type: "failed"; readonly id: number; readonly error: PlainError }
  /** A chunk of the body, or null at its end. */
  | { readonly type: "piece"; readonly id: number; readonly piece: ArrayBuffer | null }
  /** What the thread collected about a request that has ended there. */
  | { readonly type: "record"; readonly id: number; readonly facts: RecordedFacts }
  /** The body broke. */
  | { readonly type: "broke"; readonly id: number }
  | FromStateThread;

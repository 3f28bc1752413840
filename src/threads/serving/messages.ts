import type { ListedStep } from "../../vendors/catalog/listed_step.ts";
import type { Config } from "../../config/config.ts";
import type { ListenAddress } from "../../config/sections/server_section.ts";
import type { OtherAnswer } from "../../conversation/models/answering_models.ts";
import type { CapturedBodies } from "../../platform/http/request/body_capture.ts";
import type { RecordedArrival, RecordedFacts, RecordedRefusal } from "../../platform/http/request/request_record.ts";
import type { RequestTrace } from "../../platform/lib/tracing/trace_context.ts";
import type { OwnAddress } from "../../platform/net/target.ts";
import type { ThreadJournalPlace } from "../leases/thread_journals.ts";
import type { Successes } from "./flagged_breaker.ts";
import type { HandedRequest } from "../state/handed_request.ts";
import type { WrittenRecords } from "./written_records.ts";
import type {
  FromStateThread,
  LeaseReport,
  StateThreadData,
  ToLeasingThread,
  ToStateThread,
} from "../state/messages.ts";

/**
 * The messages between the main thread and a serving thread. Each message is a list of these values, since one message
 * costs more than the values in it.
 */

/** Where the main thread takes the requests that isolates do not answer. */
export interface RelayAddress {
  /** At 127.0.0.1. */
  readonly port: number;
  /** Proves that a request comes from an isolate. */
  readonly token: string;
}

/** What a serving thread is started with. */
export interface ServingData extends StateThreadData {
  readonly config: Config;
  /** The models that providers list now. */
  readonly listed: readonly ListedStep[];
  readonly own: readonly OwnAddress[];
  /** For a thread that accepts connections. Null for one that is handed requests. */
  readonly isolate: IsolateData | null;
}

/** What an isolate is started with: a serving thread that accepts connections. */
export interface IsolateData {
  /** Where it accepts connections, as all isolates do. */
  readonly listen: ListenAddress;
  readonly relay: RelayAddress;
  /** The public address of the gateway, without a final slash. */
  readonly baseUrl: string;
  /** The first number is 0 while no circuit is open. */
  readonly circuitFlag: SharedArrayBuffer;
  /** The memory that the requests of all threads may hold together, in bytes. */
  readonly memoryBytes: number;
  /** What all threads hold, of `ThreadUse`. */
  readonly useBuffer: SharedArrayBuffer;
  /** Its number, from 1. No other thread has it. */
  readonly thread: number;
  /** The first number is 1 while the store takes writes. */
  readonly writableFlag: SharedArrayBuffer;
  /** Whether it writes what is logged of requests. Otherwise the main thread gets their records. */
  readonly writesRecords: boolean;
  /** Whether there is a log of requests. */
  readonly hasRows: boolean;
  /** Whether requests are counted for the metrics. */
  readonly countsRequests: boolean;
  /** Where its journal of charges is; null for a store in memory. */
  readonly journal: ThreadJournalPlace | null;
  /** The folder of the uploads of its requests. No other thread has it. */
  readonly uploads: string;
}

/** A client sent a wrong key with a request for a catalog, which is public. Every thread counts it. */
export interface PublicWrongKey {
  readonly type: "public-wrong-key";
  /** Of the client. */
  readonly address: string;
}

/** Messages to a serving thread. */
export type ToServing =
  | ToStateThread
  /** The gateway listens at one more address. Downloads from it are blocked. */
  | { readonly type: "own-address"; readonly address: OwnAddress }
  /** The models that providers list. They replace the previous ones. */
  | { readonly type: "listed"; readonly listed: readonly ListedStep[] }
  /** A vendor answered another thread with another model than the requested one. */
  | { readonly type: "other-answer"; readonly answer: OtherAnswer }
  /** Another configuration for later requests. Acknowledged. */
  | { readonly type: "config"; readonly id: number; readonly config: Config; readonly listed: readonly ListedStep[] }
  /** Ends all open streams, and calls without a response, with an error. */
  | { readonly type: "abort-for-stop" }
  | ToIsolate
  | ToHandedThread;

/** Messages to a serving thread that accepts connections. */
export type ToIsolate =
  | ToLeasingThread
  /** An account or one of its keys was changed. Acknowledged. */
  | { readonly type: "evict"; readonly id: number; readonly accountId: string }
  /** The kept reasoning and items of an account must be removed. Acknowledged. */
  | { readonly type: "forget-replies"; readonly id: number; readonly accountId: string }
  | PublicWrongKey
  /** Records that are not sent yet must be sent. Acknowledged. */
  | { readonly type: "send-records"; readonly id: number }
  /** Whether descriptors are scarce, so that replies close their connections, and whether to renew the listener. */
  | { readonly type: "descriptors"; readonly isTight: boolean; readonly renews: boolean }
  /** Stops accepting connections. The isolate answers with `stopped`. */
  | { readonly type: "stop"; readonly graceMs: number };

/** Messages to a serving thread that is handed requests. */
export type ToHandedThread =
  /** A request. The buffer of its body and the port of its reply move. */
  | { readonly type: "request"; readonly id: number; readonly request: HandedRequest }
  /** The caller has left. */
  | { readonly type: "caller-left"; readonly id: number };

/** A request that an isolate answered, at its end. */
export interface RecordMessage {
  readonly type: "record";
  readonly arrival: RecordedArrival;
  readonly facts: RecordedFacts;
  readonly outcome: RecordedOutcome;
  readonly bodies: CapturedBodies | null;
}

/** The fields of a request's record that only the request handler sets. */
export interface RecordedOutcome {
  readonly trace: RequestTrace | null;
  readonly endpoint: string | null;
  readonly status: number;
  readonly code: string | null;
  readonly message: string | null;
  readonly refusal: RecordedRefusal | null;
  /** Whether it is neither logged nor counted: another thread has answered it. */
  readonly isProbe: boolean;
  readonly respondedAt: number;
}

/** Messages of a serving thread. */
export type FromServing =
  | FromStateThread
  /** A message with this id has taken effect. */
  | { readonly type: "acknowledged"; readonly id: number }
  | FromIsolate
  | FromHandedThread;

/** Messages of a serving thread that accepts connections. */
export type FromIsolate =
  | LeaseReport
  /** It accepts connections. */
  | { readonly type: "listening" }
  /** It cannot accept connections; the name of the error. */
  | { readonly type: "unable"; readonly reason: string }
  | RecordMessage
  | PublicWrongKey
  /** Attempts that succeeded while none had failed for some time. */
  | { readonly type: "successes"; readonly successes: readonly Successes[] }
  /** Requests that the isolate answered, and the ids of those that it announced. */
  | (WrittenRecords & { readonly type: "records"; readonly announced: readonly string[] })
  /** Requests that have not ended, as far as they are known. */
  | { readonly type: "open-requests"; readonly requests: readonly RecordMessage[] }
  /** An error that nothing has caught; its class and place. Its streams have ended with an error event. */
  | { readonly type: "failed"; readonly reason: string }
  /** It has stopped accepting, and its requests have ended or their time is over. */
  | { readonly type: "stopped" };

/** Messages of a serving thread that is handed requests. */
export type FromHandedThread =
  /** The values of a request are parsed, so that the thread can be handed another one. */
  | { readonly type: "parsed"; readonly id: number }
  /** A request has ended with its response and its charge. */
  | { readonly type: "ended"; readonly id: number };

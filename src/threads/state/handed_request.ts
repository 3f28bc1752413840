import type { Credential } from "../../money/billing/keys/key_ring.ts";
import type { RatesLeft } from "../../money/limits/limits_left.ts";
import type { RecordedFacts } from "../../platform/http/request/request_record.ts";
import type { RequestTrace } from "../../platform/lib/tracing/trace_context.ts";
import type { PlainError } from "./plain_error.ts";

/**
 * A request that one thread has received and another one answers. The values are plain; the buffer of the body and the
 * port move.
 */
export interface HandedRequest {
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
  /** Where the thread that answers sends {@linkcode ReplyMessage}s. The other end is with the thread of the caller. */
  readonly reply: MessagePort;
  /** One number in 64 bits: the bytes of the response that were sent so far. The thread of the caller writes it. */
  readonly sentBytes: SharedArrayBuffer;
}

/** A message to the thread that has the caller of a {@linkcode HandedRequest}. */
export type ReplyMessage =
  | {
    readonly type: "response";
    readonly status: number;
    readonly headers: readonly (readonly [string, string])[];
    /** The whole body, or a stream. Both move. */
    readonly body: ArrayBuffer | ReadableStream<Uint8Array<ArrayBuffer>>;
    /** What the caller's limits of rate have left; null if that is not known. */
    readonly rates: RatesLeft | null;
  }
  | { readonly type: "refused"; readonly error: PlainError; readonly rates: RatesLeft | null }
  /** What was collected about the request, at its end. It is the last message. */
  | { readonly type: "record"; readonly facts: RecordedFacts };

import { Buffer } from "node:buffer";
import type { Credential } from "../../money/billing/keys/key_ring.ts";
import type { RatesLeft } from "../../money/limits/limits_left.ts";
import type { CallerFormat } from "../../conversation/contract/caller_format.ts";
import type { Inbound } from "../../platform/http/request/inbound.ts";
import { ownBufferOf } from "../../platform/lib/bytes/own_buffer.ts";
import { type GatewayError, gatewayErrorOf } from "../../platform/lib/basics/gateway_error.ts";
import { outputStream, piecesStream, type StreamOutput } from "../../platform/lib/streams/output_stream.ts";
import { encodeFrames } from "../../platform/lib/streams/sse.ts";
import type { OpenStreams } from "../../services/calls/stream_relay.ts";
import type { HandedRequest, ReplyMessage } from "../state/handed_request.ts";
import { errorOf } from "../state/plain_error.ts";
import { callerLeft } from "./large_request.ts";

/** A larger body is not given to the platform in one step. */
const MAX_STEP_BYTES = 1_048_576;

/** A request that its thread has received, whose body is read, and that another thread answers. */
export interface ReceivedRequest {
  readonly inbound: Inbound;
  readonly credential: Credential;
  /** The bytes move, and are empty here afterwards. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** The caller's wire format. */
  readonly format: CallerFormat;
}

/** A request in the hands of the thread that answers it. */
export interface Handing {
  /** Resolves when the request has ended in that thread. Rejects with the reason if it ends without a reply. */
  readonly ended: Promise<void>;
  /** The caller has left. */
  leave(): void;
}

/** The dependencies of {@linkcode handOver}. */
export interface HandOverParts {
  /** Gives the request to a thread that answers it. */
  readonly hand: (request: HandedRequest) => Handing;
  readonly openStreams: Pick<OpenStreams, "add">;
  /**
   * Whether an abort of the open streams ends the stream here, as when this thread fails. Default: it does not, since
   * the thread that answers ends its streams when the gateway stops.
   */
  readonly endsHere?: boolean;
  /** Receives what the caller's limits of rate have left. Default: the thread of the caller knows that itself. */
  readonly onRates?: (credential: Credential, rates: RatesLeft) => void;
}

/**
 * Hands a request to a thread that answers it, and returns its response, whose stream comes straight from that thread.
 * What the thread collects about the request goes to the record, which is held until then.
 *
 * @throws {GatewayError} The errors of the endpoint, and those of {@linkcode HandOverParts.hand}.
 */
export function handOver(received: ReceivedRequest, parts: HandOverParts): Promise<Response> {
  return new HandedReply(received, parts).response;
}

/** The reply to a request that another thread answers, in the thread of its caller. */
class HandedReply {
  readonly #received: ReceivedRequest;
  readonly #parts: HandOverParts;
  readonly #head = Promise.withResolvers<Response>();
  readonly #port: MessagePort;
  /** The other end, which moves to the thread that answers. */
  readonly #replyPort: MessagePort;
  /** See `HandedRequest.sentBytes`. */
  readonly #sentBytes = new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT);
  readonly #sent = new Float64Array(this.#sentBytes);
  #output: StreamOutput<Uint8Array<ArrayBuffer>> | null = null;
  #isList = false;
  #isRecorded = false;
  /** Whether the caller has left, or the request has failed. */
  #isGivenUp = false;
  #onOver = () => {};
  /** Ends the stream from the thread that answers, and a read of it. A thread that has ended sends nothing more. */
  #endReader = () => {};

  constructor(received: ReceivedRequest, parts: HandOverParts) {
    this.#received = received;
    this.#parts = parts;
    const { inbound: { record, request: { signal } } } = received;
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    this.#replyPort = port2;
    record.hold();
    try {
      if (signal.aborted) throw callerLeft();
      const { ended, leave } = parts.hand(this.#messageOf());
      port1.onmessage = ({ data }: MessageEvent<ReplyMessage>) => this.#take(data);
      ended.catch((error) => this.#lost(gatewayErrorOf(error)));
      const onLeft = () => {
        leave();
        this.#giveUp(callerLeft());
      };
      signal.addEventListener("abort", onLeft);
      this.#onOver = () => signal.removeEventListener("abort", onLeft);
    } catch (error) {
      this.#giveUp(error);
      this.#replyPort.close();
      this.#recorded();
    }
  }

  /** Resolves with the head of the response. Rejects with the failure of the request before it. */
  get response(): Promise<Response> {
    return this.#head.promise;
  }

  #messageOf(): HandedRequest {
    const { inbound, credential, body } = this.#received;
    const { request, method, path, query, requestId, receivedAt, remote, record } = inbound;
    return {
      url: request.url,
      method,
      path,
      query,
      headers: [...request.headers],
      requestId,
      receivedAt,
      remote,
      trace: record.trace,
      credential: { ...credential },
      body: ownBufferOf(body),
      reply: this.#replyPort,
      sentBytes: this.#sentBytes,
    };
  }

  #take(message: ReplyMessage): void {
    if (message.type === "record") {
      this.#received.inbound.record.adopt(message.facts);
      return this.#recorded();
    }
    const { rates } = message;
    if (rates !== null) this.#parts.onRates?.(this.#received.credential, rates);
    if (message.type === "refused") return this.#head.reject(errorOf(message.error));
    if (!this.#isGivenUp) return this.#head.resolve(this.#responseOf(message));
    // Its ports would stay open in both threads, since nobody reads to its end.
    if (!(message.body instanceof ArrayBuffer)) endUnread(message.body);
  }

  #giveUp(error: unknown): void {
    this.#isGivenUp = true;
    this.#head.reject(error);
  }

  #responseOf({ status, headers, body }: ReplyMessage & { readonly type: "response" }): Response {
    const init = { status, headers: headers as [string, string][] };
    if (!(body instanceof ArrayBuffer)) {
      this.#isList = !headers.some(([name, value]) => name === "content-type" && value === "text/event-stream");
      return new Response(this.#streamOf(body.getReader()), init);
    }
    this.#count(new Uint8Array(body));
    if (body.byteLength > MAX_STEP_BYTES) return new Response(piecesStream([body]), init);
    return new Response(body.byteLength === 0 && status === 204 ? null : body, init);
  }

  /** The body, each chunk of which is read when the caller can receive it. */
  #streamOf(reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>): ReadableStream<Uint8Array<ArrayBuffer>> {
    const forget = this.#parts.openStreams.add((error) => {
      if (this.#parts.endsHere !== true) return;
      forget();
      this.#endStream(error);
    });
    this.#endReader = () => endUnread(reader);
    const onOver = this.#onOver;
    this.#onOver = () => {
      onOver();
      forget();
    };
    return outputStream<Uint8Array<ArrayBuffer>>({
      start: (output) => void (this.#output = output),
      pull: async (output) => {
        const { done, value } = await reader.read();
        if (done) {
          forget();
          return output.close();
        }
        this.#count(value);
        output.enqueue(value);
      },
      cancel: async (reason) => {
        forget();
        await reader.cancel(reason);
      },
      lastChunk: (failure) => this.#failureChunk(gatewayErrorOf(failure)),
    }, { highWaterMark: 0 });
  }

  #count(chunk: Uint8Array<ArrayBuffer>): void {
    this.#sent[0] = (this.#sent[0] ?? 0) + chunk.length;
    this.#received.inbound.record.capture?.addResponse(chunk);
  }

  /** The thread that answers has ended, or did not take the request, which fails. A stream ends with an error event. */
  #lost(error: GatewayError): void {
    this.#giveUp(error);
    this.#replyPort.close(); // it has not moved if no thread took the request
    this.#endStream(error);
    this.#recorded();
  }

  #endStream(error: GatewayError): void {
    const output = this.#output;
    if (output !== null && !output.isOver) {
      output.enqueue(this.#failureChunk(error));
      output.close();
    }
    this.#endReader();
  }

  #recorded(): void {
    if (this.#isRecorded) return;
    this.#isRecorded = true;
    this.#port.close();
    this.#onOver();
    this.#received.inbound.record.release();
  }

  #failureChunk(error: GatewayError): Uint8Array<ArrayBuffer> {
    const { format, inbound: { requestId, receivedAt } } = this.#received;
    const frames = format.eventWriter({
      model: "",
      requestId,
      createdAt: Math.floor(receivedAt / 1000),
      conversation: null,
      includeUsage: true,
    }).fail(error);
    if (!this.#isList) return Buffer.concat([Buffer.from("\n\n"), encodeFrames(frames)]);
    const elements = frames.map(({ data }) => data).join(",\n");
    return Buffer.from(`${this.#sent[0] === 0 ? "[" : ",\n"}${elements}]`);
  }
}

/** Ends a stream from another thread, which may have ended it. */
function endUnread(stream: Pick<ReadableStream, "cancel">): void {
  stream.cancel().catch(() => {});
}

import { Buffer } from "node:buffer";
import type { Credential } from "../../money/billing/keys/key_ring.ts";
import type { CallerFormat } from "../../conversation/contract/caller_format.ts";
import type { Inbound } from "../../platform/http/request/inbound.ts";
import type { RequestRecord } from "../../platform/http/request/request_record.ts";
import { ownBufferOf } from "../../platform/lib/bytes/own_buffer.ts";
import { encodeFrames } from "../../platform/lib/streams/sse.ts";
import { type GatewayError, gatewayErrorOf } from "../../platform/lib/basics/gateway_error.ts";
import type { HeldMemory } from "../../platform/lib/process/memory_budget.ts";
import { outputStream, piecesStream, type StreamOutput } from "../../platform/lib/streams/output_stream.ts";
import type { AttemptTarget } from "../../vendors/routing/circuit_breaker.ts";
import type { FromThread, RequestMessage } from "./messages.ts";

/** A larger body is not given to the platform in one step. */
const MAX_STEP_BYTES = 1_048_576;

/** The fields of a large request. */
export interface LargeRequestFacts {
  readonly id: number;
  readonly inbound: Inbound;
  readonly credential: Credential;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly format: CallerFormat;
}

/** The main thread's view of a request that a worker thread handles: its response, and how much of it was sent. */
export class LargeRequest {
  readonly id: number;
  readonly accountId: string;
  readonly keyId: string;
  readonly requestId: string;
  readonly receivedAt: number;
  /** The request's part of the memory budget. Initially the cost of its body and the values in it. */
  readonly memory: HeldMemory;
  /** Collects what happens to the request. */
  readonly record: RequestRecord;
  /** The size of the body as received. */
  readonly requestBytes: number;
  /** The response. Rejects with the failure of the endpoint. */
  readonly response: Promise<Response>;
  /** The provider that is serving the request, or null if none is. */
  servedAt: AttemptTarget | null = null;
  /** The number of bytes of the response sent so far. */
  responseBytes = 0;
  /** Called when the caller can receive another chunk. */
  onPull: () => void = () => {};
  /** Called when the caller stops reading. */
  onCancel: () => void = () => {};
  /** Called when the response has ended. */
  onEnd: () => void = () => {};
  readonly #facts: LargeRequestFacts;
  readonly #head = Promise.withResolvers<Response>();
  #output: StreamOutput<Uint8Array> | null = null;
  #pulled: (() => void) | null = null;
  #isList = false;

  constructor(facts: LargeRequestFacts) {
    const { id, inbound, credential, body } = facts;
    this.#facts = facts;
    this.id = id;
    this.accountId = credential.accountId;
    this.keyId = credential.keyId;
    this.requestId = inbound.requestId;
    this.receivedAt = inbound.receivedAt;
    this.record = inbound.record;
    this.memory = inbound.memory;
    this.requestBytes = body.length;
    this.response = this.#head.promise;
    this.response.catch(() => {}); // The caller of the endpoint handles it.
  }

  /** Returns the message for the thread, and the buffer to transfer. */
  takeMessage(): { readonly message: RequestMessage; readonly body: ArrayBuffer } {
    const { id, inbound, credential, body } = this.#facts;
    const { request, method, path, query, requestId, receivedAt, remote } = inbound;
    const buffer = ownBufferOf(body);
    const message: RequestMessage = {
      type: "request",
      id,
      url: request.url,
      method,
      path,
      query,
      headers: [...request.headers],
      requestId,
      receivedAt,
      remote,
      trace: this.record.trace,
      credential: { ...credential },
      body: buffer,
    };
    return { message, body: buffer };
  }

  /** Handles the status, the headers, and the body or its first chunk. */
  onHead({ status, headers, body }: FromThread & { readonly type: "head" }): void {
    const init = { status, headers: headers as [string, string][] };
    if (body !== null) {
      this.responseBytes = body.byteLength;
      this.record.capture?.addResponse(new Uint8Array(body));
      if (body.byteLength > MAX_STEP_BYTES) return this.#head.resolve(new Response(piecesStream([body]), init));
      return this.#head.resolve(new Response(body.byteLength === 0 && status === 204 ? null : body, init));
    }
    this.#isList = !headers.some(([name, value]) => name === "content-type" && value === "text/event-stream");
    this.#head.resolve(new Response(this.#stream(), init));
  }

  /** Handles the next chunk of the body, or null at its end. */
  onChunk(buffer: ArrayBuffer | null): void {
    if (buffer === null) this.#output?.close();
    else {
      this.responseBytes += buffer.byteLength;
      this.record.capture?.addResponse(new Uint8Array(buffer));
      this.#output?.enqueue(new Uint8Array(buffer));
    }
    this.#pulled?.();
  }

  /** Fails the request before its head. Does nothing afterwards. */
  fail(error: Error): void {
    this.#head.reject(error);
  }

  /** Handles the end of the thread: the request fails, or its stream ends with an error event of its protocol. */
  abort(error: GatewayError): void {
    this.fail(error);
    if (this.#output === null || this.#output.isOver) return;
    this.#output.enqueue(this.#failurePiece(error));
    this.#output.close();
    this.#pulled?.();
  }

  /** Sets the function that removes the stream from the open streams. It is called when the stream is over. */
  onShutdown(forget: () => void): void {
    const { onEnd: onOver } = this;
    this.onEnd = () => {
      forget();
      onOver();
    };
  }

  #stream(): ReadableStream<Uint8Array> {
    return outputStream<Uint8Array>({
      start: (output) => void (this.#output = output),
      pull: () => {
        const { promise, resolve } = Promise.withResolvers<void>();
        this.#pulled = resolve;
        this.onPull();
        return promise;
      },
      cancel: () => {
        this.#pulled?.();
        this.onCancel();
      },
      lastChunk: (failure) => this.#failurePiece(gatewayErrorOf(failure)),
    }, { highWaterMark: 0 });
  }

  #failurePiece(error: GatewayError): Uint8Array {
    const { format } = this.#facts;
    const frames = format.eventWriter({
      model: "",
      requestId: this.requestId,
      createdAt: Math.floor(this.receivedAt / 1000),
      conversation: null,
      includeUsage: true,
    }).fail(error);
    if (!this.#isList) return Buffer.concat([Buffer.from("\n\n"), encodeFrames(frames)]);
    const elements = frames.map(({ data }) => data).join(",\n");
    return Buffer.from(`${this.responseBytes === 0 ? "[" : ",\n"}${elements}]`);
  }
}

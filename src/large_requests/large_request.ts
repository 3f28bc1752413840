import { Buffer } from "node:buffer";
import type { Credential } from "../billing/key_ring.ts";
import type { CallerFormat } from "../conversation/caller_format.ts";
import type { Inbound } from "../http/inbound.ts";
import { encodeFrames } from "../lib/sse.ts";
import { type GatewayError, gatewayErrorOf } from "../lib/gateway_error.ts";
import type { MemoryLease } from "../lib/memory_budget.ts";
import type { AttemptTarget } from "../routing/circuit_breaker.ts";
import type { FromThread, RequestMessage } from "./messages.ts";

/** What a large request is made of. */
export interface LargeRequestFacts {
  readonly id: number;
  readonly inbound: Inbound;
  readonly credential: Credential;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly format: CallerFormat;
}

/** A request that a thread answers, as the main thread sees it: its response, and what was sent of it. */
export class LargeRequest {
  readonly id: number;
  readonly accountId: string;
  readonly requestId: string;
  readonly receivedAt: number;
  /** What the request holds of the memory budget: at first what its body and the values in it cost. */
  readonly memory: MemoryLease;
  /** Of the body as it came. */
  readonly sentBytes: number;
  /** The answer; rejects with the failure of the endpoint. */
  readonly response: Promise<Response>;
  /** Where it is being served; null while it is served nowhere. */
  servedAt: AttemptTarget | null = null;
  /** Bytes of the answer that left so far. */
  answeredBytes = 0;
  /** The caller has room for a piece. */
  onPull: () => void = () => {};
  /** The caller does not read on. */
  onCancel: () => void = () => {};
  /** Nothing more comes. */
  onOver: () => void = () => {};
  readonly #facts: LargeRequestFacts;
  readonly #head = Promise.withResolvers<Response>();
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  #pulled: (() => void) | null = null;
  #isList = false;

  constructor(facts: LargeRequestFacts) {
    const { id, inbound, credential, body } = facts;
    this.#facts = facts;
    this.id = id;
    this.accountId = credential.accountId;
    this.requestId = inbound.requestId;
    this.receivedAt = inbound.receivedAt;
    this.memory = inbound.memory;
    this.sentBytes = body.length;
    this.response = this.#head.promise;
    this.response.catch(() => {}); // Whoever asked hears of it.
  }

  /** The request as its thread gets it, and the buffer that moves. */
  takeMessage(): { readonly message: RequestMessage; readonly body: ArrayBuffer } {
    const { id, inbound, credential, body } = this.#facts;
    const { request, method, path, query, requestId, receivedAt, remote } = inbound;
    const buffer = body.byteLength === body.buffer.byteLength ? body.buffer : new Uint8Array(body).buffer;
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
      credential: { ...credential },
      body: buffer,
    };
    return { message, body: buffer };
  }

  /** Status and headers are there, and the body or its beginning. */
  head({ status, headers, body }: FromThread & { readonly type: "head" }): void {
    const init = { status, headers: headers as [string, string][] };
    if (body !== null) {
      this.answeredBytes = body.byteLength;
      return this.#head.resolve(new Response(body.byteLength === 0 && status === 204 ? null : body, init));
    }
    this.#isList = !headers.some(([name, value]) => name === "content-type" && value === "text/event-stream");
    this.#head.resolve(new Response(this.#stream(), init));
  }

  /** The next piece of the body; null at its end. */
  piece(buffer: ArrayBuffer | null): void {
    if (buffer === null) this.#close();
    else {
      this.answeredBytes += buffer.byteLength;
      this.#controller?.enqueue(new Uint8Array(buffer));
    }
    this.#pulled?.();
  }

  /** The request fails before its head. Does nothing afterwards. */
  fail(error: Error): void {
    this.#head.reject(error);
  }

  /** The thread is gone: the request fails, or its stream ends with an error event of its protocol. */
  breakOff(error: GatewayError): void {
    this.fail(error);
    if (this.#controller === null) return;
    this.#controller.enqueue(this.#failurePiece(error));
    this.#close();
    this.#pulled?.();
  }

  /** What takes the stream out of the register of open streams; called when it is over. */
  onShutdown(forget: () => void): void {
    const { onOver } = this;
    this.onOver = () => {
      forget();
      onOver();
    };
  }

  #stream(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>({
      start: (controller) => void (this.#controller = controller),
      pull: () => {
        const { promise, resolve } = Promise.withResolvers<void>();
        this.#pulled = resolve;
        this.onPull();
        return promise;
      },
      cancel: () => {
        this.#controller = null;
        this.#pulled?.();
        this.onCancel();
      },
    }, { highWaterMark: 0 });
  }

  #close(): void {
    const controller = this.#controller;
    this.#controller = null;
    controller?.close();
  }

  #failurePiece(error: GatewayError): Uint8Array {
    const { format } = this.#facts;
    const frames = format.eventWriter({
      model: "",
      requestId: this.requestId,
      createdAt: Math.floor(this.receivedAt / 1000),
      conversation: null,
      includeUsage: true,
    }).fail(gatewayErrorOf(error));
    if (!this.#isList) return Buffer.concat([Buffer.from("\n\n"), encodeFrames(frames)]);
    const elements = frames.map(({ data }) => data).join(",\n");
    return Buffer.from(`${this.answeredBytes === 0 ? "[" : ",\n"}${elements}]`);
  }
}

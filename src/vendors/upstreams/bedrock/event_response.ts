import { Buffer } from "node:buffer";
import type { Frame } from "../../../platform/lib/streams/frame.ts";
import type { JoinedBytes } from "../../../platform/lib/bytes/joined_bytes.ts";
import { writeFrame } from "../../../platform/lib/streams/sse.ts";
import { readAll, readBody, type ReadCallbacks, readOnce } from "../../../platform/net/http1/response.ts";
import { TurnPace } from "../../../platform/lib/streams/turn_pace.ts";
import type { OutboundResponse } from "../call/outbound_call.ts";
import { type EventMessage, EventMessageReader } from "./event_messages.ts";

/** The media type of Amazon's event streams. */
const EVENT_STREAM_TYPE = "application/vnd.amazon.eventstream";

/** Returns the event of one message; null for a message without meaning. Throws if it is not valid. */
export type FrameOf = (message: EventMessage) => Frame | null;

/**
 * A response with an event stream as one with server-sent events. Messages before an invalid one are given. A message
 * that was cut off is not.
 *
 * @param onHeldBytes Called with the number of bytes of an unfinished message; an exception ends the reading.
 */
export function eventResponse(
  response: OutboundResponse,
  frameOf: FrameOf,
  onHeldBytes: (bytes: number) => void,
): OutboundResponse {
  return response.mediaType === EVENT_STREAM_TYPE ? new EventResponse(response, frameOf, onHeldBytes) : response;
}

class EventResponse implements OutboundResponse, ReadCallbacks {
  readonly status: number;
  readonly mediaType = "text/event-stream";
  readonly #response: OutboundResponse;
  readonly #frameOf: FrameOf;
  readonly #messages: EventMessageReader;
  readonly #onHeldBytes: (bytes: number) => void;
  readonly #pace = new TurnPace();
  #callbacks: ReadCallbacks | null = null;
  /** Why the messages after those that were given cannot be read; null if they can. */
  #failure: { readonly error: unknown } | null = null;

  constructor(response: OutboundResponse, frameOf: FrameOf, onHeldBytes: (bytes: number) => void) {
    this.status = response.status;
    this.#response = response;
    this.#frameOf = frameOf;
    this.#onHeldBytes = onHeldBytes;
    this.#messages = new EventMessageReader(onHeldBytes);
  }

  header(name: string): string | null {
    return this.#response.header(name);
  }

  read(): Promise<Uint8Array<ArrayBuffer> | null> {
    return readOnce(this, this.#pace);
  }

  readNext(callbacks: ReadCallbacks): void {
    const failure = this.#failure;
    if (failure !== null) return queueMicrotask(() => callbacks.onError(failure.error));
    this.#callbacks = callbacks;
    this.#response.readNext(this);
  }

  onChunk(bytes: Uint8Array<ArrayBuffer>): void {
    const text = this.#textOf(bytes);
    if (text !== "") this.#callbacks?.onChunk(Buffer.from(text) as Uint8Array<ArrayBuffer>);
    else if (this.#failure !== null) this.#callbacks?.onError(this.#failure.error);
    else this.#response.readNext(this);
  }

  onEnd(): void {
    this.#onHeldBytes(0);
    this.#callbacks?.onEnd();
  }

  onError(error: unknown): void {
    this.#onHeldBytes(0);
    this.#callbacks?.onError(error);
  }

  /** A stream has not arrived as a whole. */
  takeArrived(): null {
    return null;
  }

  readAll(capBytes: number, reserve?: (bytes: number) => void): Promise<Uint8Array<ArrayBuffer>> {
    return readAll(this, capBytes, reserve);
  }

  readBody(capBytes: number, reserve?: (bytes: number) => void): Promise<JoinedBytes> {
    return readBody(this, capBytes, reserve);
  }

  cancel(): void {
    this.#onHeldBytes(0);
    this.#response.cancel();
  }

  #textOf(bytes: Uint8Array): string {
    let text = "";
    try {
      this.#messages.push(bytes, (message) => {
        const frame = this.#frameOf(message);
        if (frame !== null) text += writeFrame(frame);
      });
    } catch (error) {
      this.#failure = { error };
      this.cancel();
    }
    return text;
  }
}

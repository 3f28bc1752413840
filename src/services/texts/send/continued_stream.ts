import type { StreamSource } from "../../calls/stream_relay.ts";
import { isObject, parsedOrNull } from "../../../conversation/neutral/wire_value.ts";
import type { Clock } from "../../../platform/lib/basics/clock.ts";
import type { Frame } from "../../../platform/lib/streams/frame.ts";
import { holdWork } from "../../../platform/lib/basics/held.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { textHasMoreValuesThan } from "../../../platform/lib/json/json_values.ts";
import {
  createFrameReader,
  encodeFrames,
  type FrameReader,
  MAX_IMAGE_FRAME_BYTES,
} from "../../../platform/lib/streams/sse.ts";
import type { ReadCallbacks } from "../../../platform/net/http1/response.ts";
import type { OutboundResponse } from "../../../vendors/upstreams/call/outbound_call.ts";
import { FrameMemory } from "../memory/frame_memory.ts";
import type { LongAttempt, SendHop } from "./long_attempt.ts";
import { unreadableReply } from "../relay/stream_errors.ts";
import { vendorEvents, vendorStream } from "./vendor_stream.ts";

/** Frames with more values are not read here. Whoever reads them later refuses them. */
const MAX_FRAME_VALUES = 50_000;

/** What a frame has that is read here: usage, a token or an end. */
const RELEVANT = /"(?:usageMetadata|continuationToken|finishReason)"/;

/** A vendor's stream in which the chunks of further requests for the same reply follow those of the first. */
export class ContinuedStream implements StreamSource, ReadCallbacks {
  #source: StreamSource;
  #frames: FrameReader = newFrames();
  #callbacks: ReadCallbacks | null = null;
  /** The chunk at which the reply pauses. */
  #paused: { readonly frame: Frame; readonly body: JsonObject } | null = null;
  /** The request that is under way, whose chunks are read next. */
  #next: Promise<OutboundResponse> | null = null;
  #isOver = false;
  #isCancelled = false;
  #bufferedBytes = 0;
  readonly #memory: FrameMemory;

  /** @param first The response to the first request, as server-sent events. */
  constructor(
    first: OutboundResponse,
    readonly attempt: LongAttempt,
    readonly parts: { readonly clock: Clock; readonly send: SendHop },
  ) {
    this.#source = vendorStream(first, parts.clock);
    this.#memory = new FrameMemory(attempt.request.memory);
  }

  readNext(callbacks: ReadCallbacks): void {
    this.#callbacks = callbacks;
    if (this.#isOver) return callbacks.onEnd();
    if (this.#next === null) return this.#source.readNext(this);
    holdWork(this.#readAfter(this.#next, callbacks));
  }

  cancel(): void {
    this.#isCancelled = true;
    this.#source.cancel();
  }

  abandon(): void {
    this.cancel();
  }

  finish(): void {
    this.#source.finish();
  }

  onChunk(bytes: Uint8Array<ArrayBuffer>): void {
    let out: Uint8Array<ArrayBuffer>;
    try {
      this.#bufferedBytes += bytes.length;
      this.#memory.hold(this.#bufferedBytes);
      const frames = this.#frames.push(bytes);
      if (frames.length > 0) this.#bufferedBytes = 0;
      out = encodeFrames(frames.flatMap((frame) => this.#read(frame)));
    } catch (error) {
      return this.onError(error);
    }
    // An empty chunk too: whoever reads then reads on, with turns for others.
    this.#callbacks?.onChunk(out);
  }

  onEnd(): void {
    try {
      const frames = this.#frames.end().flatMap((frame) => this.#read(frame));
      this.#callbacks?.onChunk(encodeFrames([...frames, ...this.#atEnd()]));
    } catch (error) {
      this.onError(error);
    }
  }

  onError(error: unknown): void {
    this.#callbacks?.onError(error);
  }

  /** Returns the frames for the caller. The one at which the reply pauses is held until the end of the response. */
  #read(frame: Frame): Frame[] {
    const { hops } = this.attempt;
    if (!RELEVANT.test(frame.data) || textHasMoreValuesThan(frame.data, MAX_FRAME_VALUES)) return [frame];
    const body = parsedOrNull(frame.data);
    if (!isObject(body)) return [frame];
    const whole = hops.observe(body);
    if (hops.isPaused) {
      this.#paused = { frame, body: whole };
      return [];
    }
    return [whole === body ? frame : { ...frame, data: JSON.stringify(whole) }];
  }

  /** Begins the next request if the reply goes on, and returns the frame that was held. */
  #atEnd(): Frame[] {
    const paused = this.#paused;
    this.#paused = null;
    const { attempt, attempt: { hops } } = this;
    if (paused === null || this.#isCancelled || !hops.canGoOn(attempt)) {
      this.#isOver = true;
      return paused === null ? [] : [{ ...paused.frame, data: JSON.stringify(hops.ended(paused.body)) }];
    }
    this.#next = this.parts.send(hops.next());
    this.#next.catch(() => {}); // whoever reads next gets it
    return [{ ...paused.frame, data: JSON.stringify(hops.continuation.resumed(paused.body)) }];
  }

  async #readAfter(sent: Promise<OutboundResponse>, callbacks: ReadCallbacks): Promise<void> {
    try {
      const response = vendorEvents(await sent, this.attempt);
      this.#next = null;
      if (response.mediaType !== "text/event-stream") {
        response.cancel();
        throw unreadableReply(this.attempt);
      }
      this.#source = vendorStream(response, this.parts.clock);
      this.#frames = newFrames();
      if (this.#isCancelled) this.#source.cancel();
    } catch (error) {
      return callbacks.onError(error);
    }
    this.#source.readNext(this);
  }
}

function newFrames(): FrameReader {
  return createFrameReader({ maxFrameCharacters: MAX_IMAGE_FRAME_BYTES });
}

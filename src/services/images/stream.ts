import {
  type Bytes,
  type RelayParts,
  relayStream,
  type StreamSource,
  type StreamTransform,
} from "../calls/stream_relay.ts";
import type { EndState } from "../calls/settlement.ts";
import type { Clock } from "../../platform/lib/basics/clock.ts";
import { UNBUFFERED } from "../../platform/http/request/headers.ts";
import { type GatewayError, gatewayErrorOf } from "../../platform/lib/basics/gateway_error.ts";
import { gatewayErrorFor, UpstreamFailure } from "../../vendors/upstreams/call/failure.ts";
import type { HeldMemory } from "../../platform/lib/process/memory_budget.ts";
import type { ReadCallbacks } from "../../platform/net/http1/response.ts";
import type { ImageEvent } from "../../vendors/upstreams/contract/image_upstream.ts";
import { type FinishedImages, imageResponseHeaders } from "./image_response.ts";
import { chargeImages, type ImageBill } from "./bill.ts";
import type { CallerLink } from "./caller_link.ts";
import { estimatedConsumption, PARTIAL_TOKENS } from "./consumption.ts";
import type { ImageRequest } from "./request/image_request.ts";
import { completedFrames, errorFrame, HEARTBEAT, partialFrame } from "./stream_frames.ts";

/** A step of a streamed response: a partial picture, or all finished ones. */
export type ImageStep =
  | Extract<ImageEvent, { type: "partial" }>
  | { readonly type: "completed"; readonly work: FinishedImages };

/** A stream whose first step has arrived, so its provider is decided. */
export interface OpenedStream {
  readonly request: ImageRequest;
  readonly provider: string;
  readonly first: ImageStep;
  /** The steps after the first. */
  readonly rest: AsyncIterator<ImageStep, unknown>;
  readonly bill: ImageBill;
  readonly link: CallerLink;
  /** The memory of the request. */
  readonly memory: HeldMemory;
  /** Called at least once when nothing more is read from the vendor. */
  readonly onEnd: () => void;
  /** Renders a failure in the caller's protocol. */
  readonly writeError: (error: GatewayError) => unknown;
}

const MAX_DRAIN_MS = 30_000;

/** The response as server-sent events. The last one is sent after the charge is durable. */
export function imageStreamResponse(opened: OpenedStream, parts: RelayParts): Response {
  const headers = imageResponseHeaders(opened.provider, "text/event-stream", opened.request);
  const stream = new ImageStream(opened, parts.clock);
  return new Response(relayStream(stream, stream, opened.bill.settlement, parts), {
    headers: [...headers, ["cache-control", "no-cache"], ...Object.entries(UNBUFFERED)],
  });
}

/** The steps of one response as chunks of events. The last step is charged before any chunk of it is sent. */
class ImageStream implements StreamSource, StreamTransform {
  readonly finished = false;
  readonly #opened: OpenedStream;
  readonly #clock: Clock;
  #first: ImageStep | null;
  #pieces: Iterator<Uint8Array<ArrayBuffer>> | null = null;
  #partials = 0;
  #isOver = false;
  #hasLeft = false;

  constructor(opened: OpenedStream, clock: Clock) {
    this.#opened = opened;
    this.#clock = clock;
    this.#first = opened.first;
    opened.link.detach();
  }

  /** Reads the next chunk of an event. */
  readNext(callbacks: ReadCallbacks): void {
    this.#read().then(
      (piece) => piece === null ? callbacks.onEnd() : callbacks.onChunk(piece),
      (error) => callbacks.onError(error),
    );
  }

  async #read(): Promise<Uint8Array<ArrayBuffer> | null> {
    // Ends with the vendor's stream, which each step reads.
    for (;;) {
      const piece = this.#pieces?.next();
      if (piece && !piece.done) return piece.value;
      this.#pieces = null;
      if (this.#isOver) {
        this.#opened.onEnd();
        return null;
      }
      this.#pieces = this.#framesOf(await this.#step());
    }
  }

  get memory(): HeldMemory {
    return this.#opened.memory;
  }

  cancel(): void {
    this.#opened.link.end();
  }

  finish(): void {}

  take(piece: Uint8Array<ArrayBuffer>): Bytes {
    return piece;
  }

  end(): Promise<Bytes> {
    return Promise.resolve(null);
  }

  async fail(thrown: unknown): Promise<Bytes> {
    this.#isOver = true;
    this.#opened.onEnd();
    const error = errorFor(thrown);
    // A stream that ends for lack of credit is charged for what was shown. So is one whose caller has disconnected: see
    // `leave`.
    if (error.code === "insufficient_credits") await this.#chargeShown("cut");
    else if (!this.#hasLeft) this.#opened.bill.settlement.release();
    return errorFrame(this.#opened.writeError(error));
  }

  onDisconnect(): void {
    // The vendor's call found that the caller has disconnected: `leave` was not called, and nothing more is read.
    if (!this.#hasLeft) this.#opened.onEnd();
  }

  /** Only between events: a heartbeat within an event would break it. */
  heartbeat(): Bytes {
    return this.#pieces === null ? HEARTBEAT : null;
  }

  /**
   * The caller disconnected. The vendor's stream is read for some time, so that the reported consumption can be
   * charged.
   */
  async abandon(): Promise<void> {
    this.#hasLeft = true;
    const stopTimer = this.#clock.after(MAX_DRAIN_MS, () => this.#opened.link.end());
    try {
      // Ends with the vendor's stream, which each step reads.
      while (!this.#isOver && await this.#step() !== null);
    } catch {
      // Ended by the timer or by the vendor; what was shown is charged below.
    } finally {
      stopTimer();
      this.#opened.onEnd();
    }
    // No effect if everything was charged above.
    await this.#chargeShown("left");
  }

  async #chargeShown(state: EndState): Promise<void> {
    const { bill, provider } = this.#opened;
    // The meter logs the failure.
    await chargeImages(bill, { provider, made: 0, consumption: this.#shown(), state }).catch(() => {});
  }

  /** The next step; the last one is charged before it is returned. Null if none is left. */
  async #step(): Promise<ImageStep | null> {
    const { bill, provider, rest } = this.#opened;
    const first = this.#first;
    this.#first = null;
    const { done, value } = first ? { done: false, value: first } : await rest.next();
    if (done) return null;
    const step = value as ImageStep;
    if (step.type === "partial") {
      this.#partials++;
      return step;
    }
    this.#isOver = true;
    const { outcome: { consumption }, charged: made, look, svg } = step.work;
    const state = this.#hasLeft ? "left" : "completed";
    await chargeImages(bill, { provider, made, look, consumption, svg, state });
    return step;
  }

  #framesOf(step: ImageStep | null): Iterator<Uint8Array<ArrayBuffer>> {
    const { request, provider, bill } = this.#opened;
    if (step === null) {
      throw new UpstreamFailure(provider, "broken", `Provider "${provider}" ended its stream without an image`, {
        status: 200,
        accepted: "unknown",
      });
    }
    if (step.type === "partial") return partialFrame(request, step, this.#clock.now());
    const { cost } = bill.settlement.facts.record; // `#step` has charged it
    return completedFrames(request, step.work, { cost, now: this.#clock.now() });
  }

  /** The estimated consumption of the partial pictures that were shown, but for those that nobody has ordered. */
  #shown() {
    const { bill: { measure }, request: { partialImages, count } } = this.#opened;
    const estimate = estimatedConsumption({ ...measure, count: 0 });
    return { ...estimate, outputTokens: Math.min(this.#partials, partialImages * count) * PARTIAL_TOKENS };
  }
}

function errorFor(thrown: unknown): GatewayError {
  return thrown instanceof UpstreamFailure ? gatewayErrorFor(thrown) : gatewayErrorOf(thrown);
}

import type { Clock } from "../lib/clock.ts";
import { type GatewayError, gatewayErrorOf } from "../lib/gateway_error.ts";
import { gatewayErrorFor, UpstreamFailure } from "../upstreams/failure.ts";
import type { ImageEvent } from "../upstreams/image_upstream.ts";
import { answerHeaders, type FinishedWork } from "./answer.ts";
import type { ImageBill } from "./bill.ts";
import type { CallerLink } from "./caller_link.ts";
import { estimatedConsumption } from "./consumption.ts";
import type { ImageRequest } from "./image_request.ts";
import { completedFrames, errorFrame, HEARTBEAT, partialFrame } from "./stream_frames.ts";

/** A step of a streamed answer: an unfinished picture, or all that were made. */
export type ImageStep =
  | Extract<ImageEvent, { type: "partial" }>
  | { readonly type: "completed"; readonly work: FinishedWork };

/** Streams under way, so that a shutdown can end them with a word. */
export interface LiveStreams {
  /** Adds one; gives the way to take it out. */
  add(abort: (error: GatewayError) => void): () => void;
}

/** A stream whose first step has come, so that its provider stands. */
export interface OpenedStream {
  readonly request: ImageRequest;
  readonly provider: string;
  readonly first: ImageStep;
  /** The steps behind the first. */
  readonly rest: AsyncIterator<ImageStep, unknown>;
  readonly bill: ImageBill;
  readonly link: CallerLink;
  /** A failure in the caller's protocol. */
  readonly writeError: (error: GatewayError) => unknown;
}

/** What streams are made with. */
export interface StreamParts {
  readonly clock: Clock;
  readonly live: LiveStreams;
}

const HEARTBEAT_MS = 15_000;
const LONGEST_AFTERMATH_MS = 30_000;
/** Source: OpenAI API reference, "Image generation": each unfinished picture takes 100 more output tokens. */
const PARTIAL_TOKENS = 100;

/** The answer as server-sent events. The last one leaves after the charge is durable. */
export function streamedAnswer(opened: OpenedStream, parts: StreamParts): Response {
  const headers = answerHeaders(opened.provider, "text/event-stream", opened.request.losses);
  const relay = new ImageRelay(opened, parts);
  return new Response(relay.readable(), { headers: [...headers, ["cache-control", "no-cache"]] });
}

class ImageRelay {
  readonly #opened: OpenedStream;
  readonly #clock: Clock;
  readonly #forget: () => void;
  #first: ImageStep | null;
  #pieces: Iterator<Uint8Array<ArrayBuffer>> = [].values();
  #partials = 0;
  #isOver = false;
  #hasLeft = false;
  #aborted: GatewayError | null = null;

  constructor(opened: OpenedStream, { clock, live }: StreamParts) {
    this.#opened = opened;
    this.#clock = clock;
    this.#first = opened.first;
    opened.link.loosen();
    this.#forget = live.add((error) => {
      this.#aborted = error;
      opened.link.end();
    });
  }

  /** Pulled, so that a slow reader slows only itself. */
  readable(): ReadableStream<Uint8Array<ArrayBuffer>> {
    return new ReadableStream({
      pull: async (controller) => {
        const bytes = await this.#next(() => controller.enqueue(HEARTBEAT));
        if (this.#hasLeft) return;
        if (bytes !== null) return controller.enqueue(bytes);
        this.#forget();
        controller.close();
      },
      cancel: () => {
        this.#hasLeft = true;
        void this.#hearOut();
      },
    }, { highWaterMark: 0 });
  }

  async #next(beat: () => void): Promise<Uint8Array<ArrayBuffer> | null> {
    for (;;) {
      const piece = this.#pieces.next();
      if (!piece.done) return piece.value;
      if (this.#isOver) return null;
      const stopBeating = this.#beating(beat);
      try {
        this.#pieces = this.#framesOf(await this.#step());
      } catch (thrown) {
        this.#isOver = true;
        this.#opened.bill.release();
        this.#pieces = [errorFrame(this.#opened.writeError(this.#aborted ?? errorFor(thrown)))].values();
      } finally {
        stopBeating();
      }
    }
  }

  /** The next step; the last one is charged before anyone sees it. Null when none is left. */
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
    const { outcome, images } = step.work;
    const state = this.#hasLeft ? "left" : "completed";
    await bill.charge({ provider, made: images.length, consumption: outcome.consumption, state });
    return step;
  }

  #framesOf(step: ImageStep | null): Iterator<Uint8Array<ArrayBuffer>> {
    const { request, provider } = this.#opened;
    if (step === null) {
      throw new UpstreamFailure(provider, "broken", `Provider "${provider}" ended its stream without an image`, {
        status: null,
        accepted: "unknown",
      });
    }
    if (step.type === "partial") return partialFrame(request, step, this.#clock.now());
    return completedFrames(request, step.work, this.#clock.now());
  }

  /** Only while nothing of an event is under way: between two pieces of one, a heartbeat would break it. */
  #beating(beat: () => void): () => void {
    let stop = () => {};
    const next = () => {
      stop = this.#clock.after(HEARTBEAT_MS, () => {
        if (this.#hasLeft) return;
        beat();
        next();
      });
    };
    next();
    return () => stop();
  }

  /** The caller is gone: the vendor goes on for a while, so that what it made is charged as it reports it. */
  async #hearOut(): Promise<void> {
    const { bill, link, provider } = this.#opened;
    const stopTimer = this.#clock.after(LONGEST_AFTERMATH_MS, () => link.end());
    try {
      while (!this.#isOver && await this.#step() !== null);
    } catch {
      // Ended by the timer or by the vendor; what was shown is charged below.
    } finally {
      stopTimer();
      this.#forget();
    }
    // Without effect where the whole was charged above.
    await bill.charge({ provider, made: 0, consumption: this.#shown(), state: "left" }).catch(() => {});
  }

  /** What the unfinished pictures that were shown have taken, by estimate. */
  #shown() {
    const estimate = estimatedConsumption({ ...this.#opened.bill.facts.measure, count: 0 });
    return { ...estimate, outputTokens: this.#partials * PARTIAL_TOKENS };
  }
}

function errorFor(thrown: unknown): GatewayError {
  return thrown instanceof UpstreamFailure ? gatewayErrorFor(thrown) : gatewayErrorOf(thrown);
}

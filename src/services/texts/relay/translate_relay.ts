import type { EndState } from "../../calls/settlement.ts";
import type { Bytes, StreamTransform } from "../../calls/stream_relay.ts";
import { readModelName } from "../../../conversation/models/answering_models.ts";
import type { EventWriter } from "../../../conversation/contract/caller_format.ts";
import type { StreamReader } from "../../../conversation/contract/upstream_format.ts";
import { Buffer } from "node:buffer";
import type { Frame } from "../../../platform/lib/streams/frame.ts";
import { failureOfStop, type ReportedFailure } from "../../../conversation/parts/reply/failed_reply.ts";
import type { ReplyEvent } from "../../../conversation/neutral/events.ts";
import type { Usage } from "../../../conversation/neutral/usage.ts";
import { holdState } from "../../../platform/lib/basics/held.ts";
import type { MaybePromise } from "../../../platform/lib/basics/maybe_promise.ts";
import type { HeldMemory } from "../../../platform/lib/process/memory_budget.ts";
import { writeFrames } from "../../../platform/lib/streams/sse.ts";
import { countHostedCalls, plausibleUsage } from "../charge/plausible_usage.ts";
import { incompleteStream, reportedFailure, streamError } from "./stream_errors.ts";
import { withAnswer } from "./answering_model.ts";
import { eventWithCache } from "../plan/cached_request.ts";
import { chargeText } from "../charge/charge_text.ts";
import { FrameMemory, ReplyMemory } from "../memory/frame_memory.ts";
import { heartbeatOf } from "./heartbeat.ts";
import { toCallerEvents } from "./caller_reply.ts";
import { SignatureCollector } from "./signature_collector.ts";
import { framesWithCost } from "../charge/stream_cost.ts";
import { countTextTokens } from "../plan/token_estimate.ts";
import type { Translation } from "./translation.ts";
import type { TextAttempt, TextParts } from "../plan/attempt.ts";
import { anyFramingReader } from "./unexpected_framing.ts";
import { isUsageAwaited, usageSoFar } from "../charge/request_usage.ts";

const SAMPLE_CHARACTERS = 64_000;

/** Parses a vendor's stream into neutral events and writes them in the caller's format, event by event. */
export class TranslateRelay implements StreamTransform {
  finished = false;
  readonly #memory: FrameMemory;
  /** What the reader, the writer and the collector keep of the reply, as long as it may be. */
  readonly #kept: ReplyMemory;
  readonly #reader: StreamReader;
  readonly #writer: EventWriter;
  readonly #onEvent = (event: ReplyEvent) => this.#write(event);
  readonly #own: (event: ReplyEvent) => ReplyEvent[];
  readonly #emulate: (event: ReplyEvent) => ReplyEvent[];
  readonly #signatures = new SignatureCollector();
  readonly #keepsItems: boolean;
  readonly #keepsSignatures: boolean;
  /** Whether pieces of text reach the writer as the vendor sends them. */
  readonly #passesText: boolean;
  /** Frames that were written and not sent, as text. */
  #out = "";
  #finishEvent: ReplyEvent & { type: "finish" } | null = null;
  /** The beginning of the output, kept in case its tokens must be counted, and its total length. */
  #sample = "";
  #characters = 0;
  #hostedCalls = 0;
  /** The usage that the vendor reported for the prompt at the start of the stream. */
  #early: Usage | null = null;
  /** The vendor's name of the model that answers. */
  #model: string | null = null;

  /** @param isExpected Whether the response has the media type of its format's streams. Default: it has. */
  constructor(
    readonly attempt: TextAttempt,
    readonly translation: Translation,
    readonly parts: TextParts,
    isExpected = true,
  ) {
    const countsHosted = attempt.measure.hostedTools > 0;
    const held = (bytes: number) => this.#memory.hold(bytes);
    const seen = (data: string) => this.#seen(data);
    this.#memory = new FrameMemory(attempt.request.memory);
    this.#kept = new ReplyMemory(attempt.request.memory);
    const options = countsHosted ? { onData: seen, onBufferedBytes: held } : { onBufferedBytes: held };
    const { format } = attempt.endpoint;
    this.#reader = isExpected ? format.streamReader(options) : anyFramingReader(format, options);
    this.#writer = attempt.request.format.eventWriter(translation.context);
    this.#own = toCallerEvents(translation.names);
    this.#emulate = translation.emulation.events();
    this.#keepsItems = attempt.request.format.replay.items;
    this.#keepsSignatures = attempt.request.format.replay.signatures !== "none";
    this.#passesText = translation.emulation.keepsEvents && translation.names.customTools.size === 0 &&
      translation.names.properties.size === 0;
  }

  get awaitsUsage(): boolean {
    return !this.finished && isUsageAwaited(this.attempt, this.#early);
  }

  get memory(): HeldMemory {
    return this.attempt.request.memory;
  }

  take(bytes: Uint8Array<ArrayBuffer>): MaybePromise<Bytes> {
    try {
      this.#kept.add(bytes.length);
      this.#reader.push(bytes, this.#onEvent);
    } catch (thrown) {
      return this.#break(thrown);
    }
    return this.#finishEvent === null ? this.#takeOut() : this.#finish(this.#finishEvent);
  }

  async end(): Promise<Bytes> {
    try {
      this.#reader.end(this.#onEvent);
    } catch (thrown) {
      return await this.#break(thrown);
    }
    return await (this.#finishEvent === null
      ? this.#break(incompleteStream(this.attempt))
      : this.#finish(this.#finishEvent));
  }

  async fail(thrown: unknown): Promise<Bytes> {
    return this.finished ? null : await this.#break(thrown);
  }

  onDisconnect(): void {
    holdState(this.#settleCounted("left"), "charges");
  }

  heartbeat(silentMs: number): Bytes {
    return heartbeatOf(this.attempt.request.format, silentMs, () => this.#writer);
  }

  #seen(data: string): void {
    this.#hostedCalls += countHostedCalls(data);
  }

  /** Writes an event of the vendor as the caller's frames. The finish event is kept until the charge is durable. */
  #write(vendorEvent: ReplyEvent): void {
    if (vendorEvent.type === "part-delta" && this.#wroteText(vendorEvent)) return;
    for (const event of this.#own(eventWithCache(vendorEvent, this.attempt.request.cache)).flatMap(this.#emulate)) {
      if (this.#finishEvent !== null) return;
      const failure = this.#failureIn(event);
      if (failure !== null) throw reportedFailure(failure, this.attempt);
      if (event.type === "finish") this.#finishEvent = event;
      else {
        this.#note(event);
        this.#add(this.#writer.write(event));
      }
    }
  }

  /** The failure that an event reports, by itself or by an end that the caller's format has no word for. */
  #failureIn(event: ReplyEvent): ReportedFailure | null {
    if (event.type === "error") return event;
    const isNamed = event.type !== "finish" || this.attempt.request.format.reportsInvalidCalls;
    return isNamed ? null : failureOfStop(event.stop);
  }

  /** Writes a piece of text that needs nothing else, as most do. False if it must be written like other events. */
  #wroteText(event: ReplyEvent & { type: "part-delta" }): boolean {
    if (!this.#passesText || event.logprobs !== undefined) return false;
    const frame = this.#writer.writeText(event.index, event.text);
    if (frame === null) return false;
    this.#note(event);
    this.#out += frame;
    return true;
  }

  /** Sends the end marker after the charge is durable. */
  async #finish(event: ReplyEvent & { type: "finish" }): Promise<Bytes> {
    const { request } = this.attempt;
    const usage = await this.#believed(event.usage ?? await this.#counted());
    this.parts.reasoning.keep(request.accountId, this.#signatures.parts(), request.format.replay.signatures);
    try {
      await this.#settle(usage, "completed");
    } catch (thrown) {
      return await this.#break(thrown);
    }
    this.finished = true;
    this.#add(framesWithCost(this.#writer.write({ ...event, usage }), this.attempt));
    return this.#takeOut();
  }

  /** Ends the caller's stream with an error after the frames that were already written. */
  async #break(thrown: unknown): Promise<Bytes> {
    await this.#settleCounted("cut");
    this.finished = true;
    this.#add(this.#writer.fail(streamError(thrown, this.attempt)));
    return this.#takeOut();
  }

  /** Adds frames to what is sent next. Their items are kept if the caller may refer to them later. */
  #add(frames: readonly Frame[]): void {
    if (this.#keepsItems) {
      for (const frame of frames) {
        this.parts.items.keepFrame(this.attempt.request.accountId, frame);
      }
    }
    if (frames.length > 0) this.#out += writeFrames(frames);
  }

  /** Returns the frames that were written since the last call; null if there are none. */
  #takeOut(): Bytes {
    const text = this.#out;
    this.#out = "";
    return text === "" ? null : Buffer.from(text) as Uint8Array<ArrayBuffer>;
  }

  #note(event: ReplyEvent): void {
    if (this.#keepsSignatures) this.#signatures.add(event);
    if (event.type === "start") {
      this.#early = event.usage;
      this.#model = readModelName(event.model);
    }
    if (event.type !== "part-delta") return;
    this.#characters += event.text.length;
    if (this.#sample.length < SAMPLE_CHARACTERS) this.#sample += event.text;
  }

  /** Returns the usage so far: the vendor's report if there is one, else the gateway's own count. */
  async #counted(): Promise<Usage> {
    const reported = this.attempt.hops?.usageAt(this.attempt) ?? this.#early;
    return await usageSoFar(this.attempt.request, reported, await this.#countedOutput());
  }

  async #countedOutput(): Promise<number> {
    const sampled = this.#sample === "" ? 0 : await countTextTokens(this.#sample);
    return Math.ceil(sampled * (this.#characters / Math.max(this.#sample.length, 1)));
  }

  async #believed(reported: Usage): Promise<Usage> {
    const seen = { countOutput: () => this.#countedOutput(), hostedCalls: this.#hostedCalls };
    return await plausibleUsage(this.attempt, reported, seen);
  }

  /** Charges for the output so far. A failure is logged by the meter. */
  async #settleCounted(state: EndState): Promise<void> {
    try {
      await this.#settle(await this.#believed(await this.#counted()), state);
    } catch {
      // The caller has disconnected, or receives the first failure.
    }
  }

  async #settle(usage: Usage, state: EndState): Promise<void> {
    this.#memory.hold(0);
    this.#kept.release();
    await chargeText(await withAnswer(this.attempt, this.#model, usage), usage, state);
  }
}

import type { EventReader, EventWriter, Frame } from "../conversation/codec.ts";
import type { ReplyEvent } from "../conversation/events.ts";
import type { Usage } from "../conversation/usage.ts";
import { createFrameReader, encodeFrames } from "../http/sse.ts";
import { failureKindOf, UpstreamFailure } from "../upstreams/failure.ts";
import { cutShort, streamError } from "./broken_stream.ts";
import { heartbeatOf } from "./heartbeat.ts";
import { ownEvents } from "./own_reply.ts";
import type { Bytes, Relay } from "./relay.ts";
import { SealCollector } from "./seal_collector.ts";
import { countTextTokens, estimatedUsage } from "./token_estimate.ts";
import type { Translation } from "./translation.ts";
import type { TextAttempt, TextParts } from "./attempt.ts";
import { promptTokensOfTurn } from "./turn_usage.ts";

const SAMPLE_CHARACTERS = 64_000;

/** A vendor's stream read into neutral events and written in the caller's form, event by event as it comes. */
export class TranslateRelay implements Relay {
  finished = false;
  readonly #frames = createFrameReader();
  readonly #reader: EventReader;
  readonly #writer: EventWriter;
  readonly #own: (event: ReplyEvent) => ReplyEvent[];
  readonly #emulate: (event: ReplyEvent) => ReplyEvent[];
  readonly #seals = new SealCollector();
  readonly #keepsItems: boolean;
  /** The beginning of what was produced, for the case that it must be counted, and its whole length. */
  #sample = "";
  #characters = 0;
  /** What the vendor said of the prompt when the stream began. */
  #early: Usage | null = null;

  constructor(readonly attempt: TextAttempt, readonly translation: Translation, readonly parts: TextParts) {
    this.#reader = attempt.endpoint.codec.eventReader();
    this.#writer = attempt.turn.codec.eventWriter(translation.context);
    this.#own = ownEvents(translation.names);
    this.#emulate = translation.emulation.events();
    this.#keepsItems = attempt.turn.codec.name === "responses";
  }

  take(bytes: Uint8Array<ArrayBuffer>): Bytes | Promise<Bytes> {
    return this.#pass(this.#frames.push(bytes).flatMap((frame) => this.#reader.read(frame)));
  }

  async end(): Promise<Bytes> {
    const events = this.#frames.end().flatMap((frame) => this.#reader.read(frame));
    const bytes = await this.#pass([...events, ...this.#reader.end()]);
    if (this.finished) return bytes;
    await this.#settle(await this.#counted(), "cut");
    return joined(bytes, encodeFrames(this.#writer.fail(cutShort(this.attempt))));
  }

  async fail(thrown: unknown): Promise<Bytes> {
    if (this.finished) return null;
    await this.#settle(await this.#counted(), "cut");
    return encodeFrames(this.#writer.fail(streamError(thrown, this.attempt)));
  }

  left(): void {
    this.#counted().then((usage) => this.#settle(usage, "left")).catch(() => {}); // Logged by the meter.
  }

  heartbeat(): Bytes {
    return heartbeatOf(this.attempt.turn.codec);
  }

  #pass(events: readonly ReplyEvent[]): Bytes | Promise<Bytes> {
    const frames: Frame[] = [];
    for (const came of events) {
      for (const event of this.#own(came).flatMap(this.#emulate)) {
        if (event.type === "finish") return this.#finish(event, frames);
        if (event.type === "error") throw this.#failureOf(event);
        this.#note(event);
        const written = this.#writer.write(event);
        if (this.#keepsItems) {
          for (const frame of written) this.parts.items.keepFrame(this.attempt.turn.accountId, frame);
        }
        frames.push(...written);
      }
    }
    return frames.length === 0 ? null : encodeFrames(frames);
  }

  /** The end mark leaves once the charge is durable. */
  async #finish(event: ReplyEvent & { type: "finish" }, frames: Frame[]): Promise<Bytes> {
    const { turn } = this.attempt;
    this.finished = true;
    const usage = event.usage ?? await this.#counted();
    if (turn.codec.name === "chat") this.parts.memory.keep(turn.accountId, this.#seals.parts());
    await this.#settle(usage, "completed");
    return encodeFrames([...frames, ...this.#writer.write({ ...event, usage })]);
  }

  #note(event: ReplyEvent): void {
    if (this.attempt.turn.codec.name === "chat") this.#seals.take(event);
    if (event.type === "start") this.#early = event.usage;
    if (event.type !== "part-delta") return;
    this.#characters += event.text.length;
    if (this.#sample.length < SAMPLE_CHARACTERS) this.#sample += event.text;
  }

  /** What was consumed so far by the gateway's own count, or by the vendor's where it has told. */
  async #counted(): Promise<Usage> {
    const sampled = this.#sample === "" ? 0 : await countTextTokens(this.#sample);
    const output = Math.ceil(sampled * (this.#characters / Math.max(this.#sample.length, 1)));
    if (this.#early === null) return estimatedUsage(await promptTokensOfTurn(this.attempt.turn), output);
    return { ...this.#early, outputTokens: Math.max(this.#early.outputTokens, output), estimated: true };
  }

  async #settle(usage: Usage, state: "completed" | "cut" | "left"): Promise<void> {
    await this.attempt.settlement.charge(this.attempt.provider.name, usage, state);
  }

  #failureOf(event: ReplyEvent & { type: "error" }): UpstreamFailure {
    const { provider } = this.attempt;
    const kind = event.status === null ? "unavailable" : failureKindOf(event.status);
    const message = provider.redact(event.message) || `Provider "${provider.name}" reported a failure`;
    return new UpstreamFailure(provider.name, kind, message, {
      status: event.status,
      accepted: "unknown",
      vendorCode: event.vendorCode ?? undefined,
    });
  }
}

function joined(first: Bytes, second: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  if (first === null) return second;
  const whole = new Uint8Array(first.length + second.length);
  whole.set(first);
  whole.set(second, first.length);
  return whole;
}

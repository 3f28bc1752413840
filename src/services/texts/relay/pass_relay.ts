import { Buffer } from "node:buffer";
import type { EndState } from "../../calls/settlement.ts";
import type { Bytes, StreamTransform } from "../../calls/stream_relay.ts";
import type { EventWriter } from "../../../conversation/contract/caller_format.ts";
import type { PassThrough, StreamRestorer, StreamWatcher } from "../../../conversation/contract/pass_through.ts";
import type { Usage } from "../../../conversation/neutral/usage.ts";
import type { MaybePromise } from "../../../platform/lib/basics/maybe_promise.ts";
import type { HeldMemory } from "../../../platform/lib/process/memory_budget.ts";
import { returnBodyBuffer } from "../../../platform/lib/bytes/body_buffers.ts";
import { encodeFrames } from "../../../platform/lib/streams/sse.ts";
import { hasQuoted, WordSearch } from "../../../platform/lib/text/word_search.ts";
import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import { incompleteStream, reportedFailure, streamError } from "./stream_errors.ts";
import { countHostedCalls, plausibleUsage } from "../charge/plausible_usage.ts";
import { withAnswer } from "./answering_model.ts";
import { chargeText } from "../charge/charge_text.ts";
import { heartbeatOf } from "./heartbeat.ts";
import { FrameBuffer } from "./frame_buffer.ts";
import { HeldBytes } from "./held_bytes.ts";
import { FrameMemory } from "../memory/frame_memory.ts";
import { framesIn, isCompleteData, type RawFrame, rejectManyValues } from "./stream_frames.ts";
import { applyEdits, bytesOfLatin1, endsFrame, latin1Of, type LineEdit, textOfLatin1 } from "./stream_lines.ts";
import { dataWithCost } from "../charge/stream_cost.ts";
import { StreamSample } from "./stream_sample.ts";
import type { TextAttempt } from "../plan/attempt.ts";
import {
  CHARGED,
  hasVendorError,
  onChargeFailed,
  onEndMarker,
  onVendorError,
  type PassState,
  RELAYING,
} from "./pass_state.ts";
import { isUsageAwaited, usageSoFar } from "../charge/request_usage.ts";

/**
 * Relays a stream's bytes in whole frames and observes them. The text is searched for the few relevant names, which are
 * unbroken in any framing. Only text with a match is split into frames, and only frames with a match are parsed. Bytes
 * that are whole frames pass unchanged. The beginning of a frame is held until its end arrives, so that a stream that
 * breaks leaves no half of an event.
 *
 * The frame that reports usage last gets the cost, which is known after the charge. Where the end marker comes later,
 * the frame and what follows it are held until then.
 */
export class PassRelay implements StreamTransform {
  readonly finished = false;
  readonly #watcher: StreamWatcher;
  readonly #restorer: StreamRestorer | null;
  readonly #sample = new StreamSample();
  readonly #memory: FrameMemory;
  readonly #buffer: FrameBuffer;
  /** The bytes of the text that the buffer holds. */
  readonly #bytes = new HeldBytes();
  /** The last text that was sent, after the end of the one before if it was shorter than the end of a frame. */
  #last = "";
  /** The last text that was sent and may contain a frame. */
  #sent = "";
  #shown = "";
  /** Whether the empty line of a removed frame has not arrived yet. */
  #hidesBlankLine = false;
  #state: PassState = RELAYING;
  /** Whether the vendor has reported a failure. */
  #hasFailed = false;
  /** The frame that may report usage last: a range of the text that is sent next, after {@linkcode #held}. */
  #usageFrame: RawFrame | null = null;
  /** The text from that frame on, while the end marker is awaited; empty if none is held. */
  #held = "";
  /** Whether hosted tools were offered. Their calls raise the ceiling of a plausible usage. */
  readonly #countsHostedCalls: boolean;
  #hostedCalls = 0;

  /** @param restorer Restores names that the request has changed. */
  constructor(readonly attempt: TextAttempt, pass: PassThrough, restorer?: StreamRestorer) {
    this.#restorer = restorer ?? null;
    this.#countsHostedCalls = attempt.measure.hostedTools > 0;
    this.#memory = new FrameMemory(attempt.request.memory);
    this.#buffer = new FrameBuffer({ hold: (characters) => this.#memory.hold(characters * HELD_COPIES) });
    this.#watcher = pass.watch(attempt.request.body);
  }

  get awaitsUsage(): boolean {
    return this.#state.phase !== "charged" && isUsageAwaited(this.attempt, this.#watcher.usage());
  }

  take(bytes: Uint8Array<ArrayBuffer>): MaybePromise<Bytes> {
    this.#sample.add(bytes);
    const text = latin1Of(bytes);
    const frames = this.#buffer.push(text);
    const received = this.#bytes.takeWith(bytes, frames.length);
    if (received === null) return null;
    if (this.#countsHostedCalls) this.#hostedCalls += countHostedCalls(joinDataLines(frames));
    const edits = this.#inspect(frames);
    const shown = edits.length === 0 ? frames : applyEdits(frames, edits);
    if (this.#usageFrame !== null) return this.#takeUsage(shown);
    const out = edits.length === 0 ? received : bytesOfLatin1(shown);
    switch (this.#state.phase) {
      case "complete":
        return this.#chargeThenSend(shown, out);
      case "vendor_failed":
        return this.#chargeThenReport(shown, out);
      case "relaying":
      case "charge_failed":
      case "charged":
        return this.#send(shown, out);
    }
  }

  async end(): Promise<Bytes> {
    const rest = this.#buffer.end();
    const last = applyEdits(rest, [...this.#inspect(rest), ...incompleteFrameIn(rest)]);
    const shown = this.#withClosedFrame(this.#held + last);
    this.#held = "";
    if (this.#state.phase !== "charged" && !this.#watcher.isComplete()) {
      await this.#charge("cut");
      const sent = this.#sendText(shown);
      return hasVendorError(this.#state) ? sent : joined(sent, this.#failureBytes(incompleteStream(this.attempt)));
    }
    return await this.#chargeThenSend(shown);
  }

  async fail(thrown: unknown): Promise<Bytes> {
    const { phase } = this.#state;
    if (phase === "charged") return null;
    const isComplete = this.#watcher.isComplete() && phase !== "charge_failed" && !(thrown instanceof GatewayError);
    await this.#charge(isComplete ? "completed" : "cut").catch(() => {}); // Logged by the meter.
    const held = this.#held === "" ? null : this.#sendText(this.#withCost(this.#held));
    return isComplete || hasVendorError(this.#state)
      ? held
      : joined(held, this.#failureBytes(streamError(thrown, this.attempt)));
  }

  onDisconnect(): void {
    this.#charge("left").catch(() => {}); // Logged by the meter; the caller has disconnected.
  }

  get memory(): HeldMemory {
    return this.attempt.request.memory;
  }

  /** The text of the bytes that were returned last, as Latin-1. */
  get lastText(): string {
    return this.#shown;
  }

  heartbeat(silentMs: number): Bytes {
    if (!endsFrame(this.#tail())) return null;
    return heartbeatOf(this.attempt.request.format, silentMs, () => this.#ownWriter());
  }

  /** Handles text after which a frame with usage is held or can get the cost. */
  #takeUsage(shown: string): MaybePromise<Bytes> {
    const text = this.#held + shown;
    this.#held = "";
    switch (this.#state.phase) {
      case "complete":
        return this.#chargeThenSend(text);
      case "vendor_failed":
        return this.#chargeThenReport(text, bytesOfLatin1(text));
      case "relaying": {
        const { start } = this.#usageFrame!;
        const isHeld = text.length - start <= MAX_HELD_CHARACTERS;
        this.#held = isHeld ? text.slice(start) : "";
        this.#usageFrame = isHeld ? movedBy(this.#usageFrame!, -start) : null;
        return this.#sendText(isHeld ? text.slice(0, start) : text);
      }
      case "charge_failed":
      case "charged":
        this.#usageFrame = null;
        return this.#sendText(text);
    }
  }

  /** Returns text with the cost in its frame with usage. */
  #withCost(text: string): string {
    const usage = this.#usageFrame;
    this.#usageFrame = null;
    if (usage === null || usage.data === null || this.#state.phase === "charge_failed") return text;
    const data = dataWithCost(usage.data, this.attempt);
    // Data on several lines is not one part of the text, and has no cost.
    const at = data === null ? -1 : text.indexOf(usage.data, usage.start);
    if (data === null || at < 0 || at >= usage.end) return text;
    return text.slice(0, at) + data + text.slice(at + usage.data.length);
  }

  #sendText(shown: string): Bytes {
    return this.#send(shown, bytesOfLatin1(shown));
  }

  #send(shown: string, out: Uint8Array<ArrayBuffer>): Bytes {
    this.#shown = shown;
    this.#last = shown.length < FRAME_END_CHARACTERS ? this.#tail() + shown : shown;
    if (shown.length >= MIN_FRAME_CHARACTERS) this.#sent = shown;
    return out.length === 0 ? null : out;
  }

  /** The last characters that were sent. */
  #tail(): string {
    return this.#last.slice(-FRAME_END_CHARACTERS);
  }

  /**
   * Returns the end of the stream, with the empty line that its last frame may lack: clients drop a frame without one.
   */
  #withClosedFrame(shown: string): string {
    const sent = this.#tail() + shown;
    if (endsFrame(sent)) return shown;
    return shown + (/[\r\n]$/.test(sent) ? "\n" : "\n\n");
  }

  /** @param out The bytes of `shown`, if they are known. */
  async #chargeThenSend(shown: string, out?: Uint8Array<ArrayBuffer>): Promise<Bytes> {
    if (this.#state.phase !== "charged") await this.#charge("completed");
    this.#state = CHARGED;
    return out !== undefined && this.#usageFrame === null
      ? this.#send(shown, out)
      : this.#sendText(this.#withCost(shown));
  }

  /**
   * Clients stop reading at a reported failure, as they do at the end marker. They receive the report even if the
   * charge is lost.
   */
  async #chargeThenReport(shown: string, out: Uint8Array<ArrayBuffer>): Promise<Bytes> {
    await this.#charge("cut").catch(() => {}); // Logged by the meter.
    this.#state = CHARGED;
    return this.#send(shown, out);
  }

  /** Reads the relevant frames. Returns the edits of those that the caller must not receive unchanged. */
  #inspect(text: string): readonly LineEdit[] {
    const mayReport = hasQuoted(text, 'error"');
    const mayRestore = this.#restorer !== null && this.#restorer.isRelevant(text);
    if (!mayReport && !mayRestore && !this.#hidesBlankLine && !this.#watcher.isRelevant(text)) return NO_EDITS;
    const edits: LineEdit[] = [];
    /** How far the edits move what follows them. */
    let shift = this.#held.length;
    for (const { start, end, data } of framesIn(text)) {
      const replacement = data === null
        ? this.#replacementOfBlank(text.slice(start, end))
        : this.#replacementOf(data, text, start);
      if (replacement !== null) {
        edits.push({ start, end, text: replacement });
        shift += replacement.length - (end - start);
      } else if (data !== null && this.#watcher.mayEndUsage(data)) {
        this.#usageFrame = movedBy({ start, end, data }, shift);
      }
      this.#hidesBlankLine = replacement === "" && !endsFrame(text.slice(start, end));
    }
    return edits;
  }

  #replacementOfBlank(frame: string): string | null {
    return this.#hidesBlankLine && !/[^\r\n]/.test(frame) ? "" : null;
  }

  /** Returns the replacement of a frame with data, or null to keep the frame. */
  #replacementOf(data: string, text: string, start: number): string | null {
    rejectManyValues(data);
    if (this.#watcher.isRelevant(data)) this.#follow(data);
    const replacement = hasError(data) ? this.#readFailure(data, text.slice(0, start)) : null;
    return this.#watcher.isHidden(data) ? "" : replacement ?? this.#restored(data);
  }

  /** Returns the frames with the caller's names, or null to keep the frame. */
  #restored(data: string): string | null {
    if (this.#restorer === null || !this.#restorer.isRelevant(data)) return null;
    const frames = this.#restorer.restore(textOfLatin1(data));
    return frames === null ? null : latin1Of(encodeFrames(frames));
  }

  #follow(data: string): void {
    this.#watcher.observe(data);
    if (this.#watcher.isFinal()) this.#state = onEndMarker(this.#state);
  }

  /**
   * Records a failure that the vendor reports. Returns the gateway's own report if the vendor's contains a secret.
   *
   * @param before The text that is sent before it.
   */
  #readFailure(data: string, before: string): string | null {
    const text = textOfLatin1(data);
    const event = this.#watcher.failureIn(text);
    if (event === null) return null;
    this.#state = onVendorError(this.#state);
    this.#hasFailed = true;
    if (this.attempt.provider.redact(text) === text) return null;
    return latin1Of(this.#failureFrames(reportedFailure(event, this.attempt), before));
  }

  /** An end marker after a reported failure, and a failure in place of a reason to stop, do not complete a reply. */
  async #charge(end: EndState): Promise<void> {
    const state = this.#hasFailed && end === "completed" ? "cut" : end;
    this.#memory.hold(0);
    try {
      const usage = await this.#usage(state);
      const answered = await withAnswer(this.attempt, this.#watcher.model() ?? this.#sample.model, usage);
      await chargeText(answered, usage, state);
      returnBodyBuffer(this.attempt.request.bytes); // only the usage needed them after the vendor replied
    } catch (thrown) {
      this.#state = onChargeFailed(this.#state);
      throw thrown;
    }
  }

  /**
   * Returns the usage that the vendor reported. For an incomplete stream, it is the gateway's own count of the output.
   */
  async #usage(state: EndState): Promise<Usage> {
    const countOutput = () => this.#sample.outputTokens(this.attempt.endpoint.format);
    const seen = { countOutput, hostedCalls: this.#hostedCalls };
    return await plausibleUsage(this.attempt, await this.#reportedUsage(state), seen);
  }

  async #reportedUsage(state: EndState): Promise<Usage> {
    const reported = this.#watcher.usage();
    if (reported !== null && (state === "completed" || this.#watcher.isComplete())) return reported;
    return await usageSoFar(
      this.attempt.request,
      reported,
      await this.#sample.outputTokens(this.attempt.endpoint.format),
    );
  }

  #failureBytes(error: GatewayError): Bytes {
    // A frame that the vendor left open must not swallow the error.
    const gap = endsFrame(this.#tail()) ? "" : "\n\n";
    return Buffer.concat([Buffer.from(gap), this.#failureFrames(error)]) as Uint8Array<ArrayBuffer>;
  }

  #failureFrames(error: GatewayError, before = ""): Uint8Array<ArrayBuffer> {
    return encodeFrames(this.#ownWriter(before).fail(error));
  }

  /** The writer of the gateway's own frames, which continue the vendor's. */
  #ownWriter(before = ""): EventWriter {
    const { request } = this.attempt;
    return request.format.eventWriter({
      model: request.model,
      requestId: request.requestId,
      createdAt: Math.floor(request.receivedAt / 1000),
      conversation: null,
      includeUsage: true,
      startedStream: this.#watcher.startedStream?.(before.length < MIN_FRAME_CHARACTERS ? this.#sent : before) ?? null,
    });
  }
}

const NO_EDITS: readonly LineEdit[] = [];

/** A held frame is kept as text and as bytes. */
const HELD_COPIES = 2;

/** The most text that is held for the end marker. Some vendors may send none. */
const MAX_HELD_CHARACTERS = 16_384;

function movedBy({ start, end, data }: RawFrame, distance: number): RawFrame {
  return { start: start + distance, end: end + distance, data };
}

/** The longest end of a frame: CR LF CR LF. */
const FRAME_END_CHARACTERS = 4;

/** Shorter text contains no relevant frame, only a comment or an empty line. */
const MIN_FRAME_CHARACTERS = 40;

function joined(first: Bytes, second: Bytes): Bytes {
  return first === null || second === null
    ? first ?? second
    : Buffer.concat([first, second]) as Uint8Array<ArrayBuffer>;
}

/** Returns text whose frames have their data on one line each, for a search that must not stop at a line end. */
function joinDataLines(frames: string): string {
  return frames.replace(/(?:\r\n|\r|\n)data: ?/g, "\n");
}

/** The frame at which the stream broke. Half an event is useless. */
function incompleteFrameIn(rest: string): LineEdit[] {
  const last: RawFrame | undefined = framesIn(rest).at(-1);
  return last === undefined || last.data === null || isCompleteData(last.data) ? [] : [{ ...last, text: "" }];
}

/** Whether a frame may report a failure: its `error` is not null, or its type is `error`. */
function hasError(data: string): boolean {
  return ERROR.test(data);
}

const ERROR = new WordSearch(/"error"\s*:\s*[{"]|"type"\s*:\s*"error"/, ['"error"']);

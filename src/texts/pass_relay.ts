import { Buffer } from "node:buffer";
import type { EndState } from "../calls/settlement.ts";
import type { Bytes, Relay } from "../calls/stream_relay.ts";
import type { PassThrough, StreamWatcher } from "../conversation/pass_through.ts";
import type { Usage } from "../conversation/usage.ts";
import { encodeFrames } from "../lib/sse.ts";
import { GatewayError } from "../lib/gateway_error.ts";
import { cutShort, reportedFailure, streamError } from "./broken_stream.ts";
import { believedUsage, hostedCallsIn } from "./believed_usage.ts";
import { chargeText } from "./charge_text.ts";
import { heartbeatOf } from "./heartbeat.ts";
import {
  bytesOfLatin1,
  edited,
  endsFrame,
  lastLineEnd,
  latin1Of,
  type LineEdit,
  linesIn,
  textOfLatin1,
} from "./stream_lines.ts";
import { StreamSample } from "./stream_sample.ts";
import type { TextAttempt } from "./attempt.ts";
import { isUsageAwaited, usageSoFar } from "./turn_usage.ts";

const LINE_CAP_BYTES = 1024 * 1024;

/**
 * Watches a stream's bytes go by, whole lines at a time; only those that the follower is concerned with are parsed. Bytes
 * that are whole lines pass as they came. The beginning of a line waits for its end, so that a stream which breaks off
 * leaves no half of an event behind.
 */
export class PassRelay implements Relay {
  readonly finished = false;
  readonly #watcher: StreamWatcher;
  readonly #sample = new StreamSample();
  /** The beginning of a line whose end has not come. */
  #partial = "";
  /** The last signs that were sent. */
  #tail = "";
  /** The next line, if it is empty, ends a frame that was taken out. */
  #hidesBlank = false;
  /** The form's own end mark was seen, after which nothing is to be charged. */
  #sawMark = false;
  /** The vendor has told the caller of a failure itself. */
  #reported = false;
  /** Whether hosted tools were offered, whose calls raise the ceiling of a usage that is believed. */
  readonly #countsHostedCalls: boolean;
  #hostedCalls = 0;
  /** The charge is durable. */
  #charged = false;
  /** The charge could not be made durable. */
  #chargeLost = false;

  constructor(readonly attempt: TextAttempt, pass: PassThrough) {
    this.#countsHostedCalls = attempt.measure.hostedTools > 0;
    this.#watcher = pass.watch(attempt.turn.body);
  }

  get awaitsUsage(): boolean {
    return !this.#charged && isUsageAwaited(this.attempt, this.#watcher.usage());
  }

  take(bytes: Uint8Array<ArrayBuffer>): Bytes | Promise<Bytes> {
    const text = latin1Of(bytes);
    this.#sample.add(text);
    const end = lastLineEnd(text);
    const before = this.#partial;
    this.#partial = end === 0 ? before + text : text.slice(end);
    if (this.#partial.length > LINE_CAP_BYTES) throw new RangeError("Cannot read a stream line beyond 1 MB");
    if (end === 0) return null;
    const lines = before + text.slice(0, end);
    if (this.#countsHostedCalls) this.#hostedCalls += hostedCallsIn(lines);
    const edits = this.#look(lines);
    const shown = edits.length === 0 ? lines : edited(lines, edits);
    const asItCame = before === "" && edits.length === 0;
    const out = asItCame ? bytes.subarray(0, end) : bytesOfLatin1(shown);
    if (this.#sawMark && !this.#charged) return this.#chargeThenSend(shown, out);
    if (this.#reported && !this.#charged) return this.#chargeThenReport(shown, out);
    return this.#send(shown, out);
  }

  async end(): Promise<Bytes> {
    const rest = this.#partial;
    this.#partial = "";
    const shown = edited(rest, this.#look(rest));
    if (!this.#charged && !this.#watcher.ended()) {
      await this.#charge("cut");
      return this.#reported ? null : this.#failure(cutShort(this.attempt));
    }
    return await this.#chargeThenSend(shown, bytesOfLatin1(shown));
  }

  async fail(thrown: unknown): Promise<Bytes> {
    if (this.#charged) return null;
    const isComplete = this.#watcher.ended() && !this.#chargeLost && !(thrown instanceof GatewayError);
    await this.#charge(isComplete ? "completed" : "cut").catch(() => {}); // Logged by the meter.
    return isComplete || this.#reported ? null : this.#failure(streamError(thrown, this.attempt));
  }

  left(): void {
    this.#charge("left").catch(() => {}); // Logged by the meter; nobody is left to be told.
  }

  heartbeat(): Bytes {
    return endsFrame(this.#tail) ? heartbeatOf(this.attempt.turn.format) : null;
  }

  #send(shown: string, out: Uint8Array<ArrayBuffer>): Bytes {
    this.#tail = (this.#tail + shown.slice(-4)).slice(-4);
    return out.length === 0 ? null : out;
  }

  async #chargeThenSend(shown: string, out: Uint8Array<ArrayBuffer>): Promise<Bytes> {
    if (!this.#charged) await this.#charge("completed");
    this.#charged = true;
    return this.#send(shown, out);
  }

  /** Clients end at a reported failure as they do at the end mark. It reaches them also when the charge is lost. */
  async #chargeThenReport(shown: string, out: Uint8Array<ArrayBuffer>): Promise<Bytes> {
    await this.#charge("cut").catch(() => {}); // Logged by the meter.
    this.#charged = true;
    return this.#send(shown, out);
  }

  /** Reads the lines of concern; gives what of them the caller is not to see as it is. */
  #look(lines: string): LineEdit[] {
    const mayReport = lines.includes('"error"');
    if (!mayReport && !this.#hidesBlank && !this.#watcher.concerns(lines)) return [];
    const edits: LineEdit[] = [];
    for (const { start, end, text } of linesIn(lines)) {
      const data = text.startsWith("data:") ? text.slice("data:".length).trim() : "";
      if (data !== "" && this.#watcher.concerns(data)) this.#follow(data);
      const said = mayReport && hasError(data) ? this.#reportIn(data) : null;
      const instead = this.#isHidden(text, data) ? "" : said;
      if (instead !== null) edits.push({ start, end, text: instead });
    }
    return edits;
  }

  #isHidden(line: string, data: string): boolean {
    const isBlank = this.#hidesBlank && line === "";
    this.#hidesBlank = this.#watcher.isHidden(data);
    return isBlank || this.#hidesBlank;
  }

  #follow(data: string): void {
    this.#watcher.follow(data);
    this.#sawMark ||= this.#watcher.isFinal();
  }

  /** Notes a failure that the vendor reports; gives our words for it where the vendor's hold a secret. */
  #reportIn(data: string): string | null {
    const said = textOfLatin1(data);
    const event = this.#watcher.failureIn(said);
    if (event === null) return null;
    this.#reported = true;
    if (this.attempt.provider.redact(said) === said) return null;
    return latin1Of(this.#failureFrames(reportedFailure(event, this.attempt)));
  }

  async #charge(state: EndState): Promise<void> {
    try {
      await chargeText(this.attempt, await this.#usage(state), state);
    } catch (thrown) {
      this.#chargeLost = true;
      throw thrown;
    }
  }

  /** What the vendor said; of a stream that did not come to its end, what was produced by the gateway's own count. */
  async #usage(state: EndState): Promise<Usage> {
    const countOutput = () => this.#sample.outputTokens(this.attempt.endpoint.format);
    const seen = { countOutput, hostedCalls: this.#hostedCalls };
    return await believedUsage(this.attempt, await this.#reportedUsage(state), seen);
  }

  async #reportedUsage(state: EndState): Promise<Usage> {
    const said = this.#watcher.usage();
    if (said !== null && (state === "completed" || this.#watcher.ended())) return said;
    return await usageSoFar(this.attempt.turn, said, await this.#sample.outputTokens(this.attempt.endpoint.format));
  }

  #failure(error: GatewayError): Bytes {
    // A frame that the vendor left open must not swallow the error.
    const gap = endsFrame(this.#tail) ? "" : "\n\n";
    return Buffer.concat([Buffer.from(gap), this.#failureFrames(error)]) as Uint8Array<ArrayBuffer>;
  }

  #failureFrames(error: GatewayError): Uint8Array<ArrayBuffer> {
    const { turn } = this.attempt;
    const writer = turn.format.eventWriter({
      model: turn.model,
      requestId: turn.requestId,
      createdAt: Math.floor(turn.receivedAt / 1000),
      conversation: null,
      includeUsage: true,
    });
    return encodeFrames(writer.fail(error));
  }
}

/** Whether a frame may report a failure: its `error` is not null, or it is of that type. */
function hasError(data: string): boolean {
  return /"error":\s*[{"]|"type":\s*"error"/.test(data);
}

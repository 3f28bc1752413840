import { Buffer } from "node:buffer";
import type { Codec, UsageFollower } from "../conversation/codec.ts";
import type { Usage } from "../conversation/usage.ts";
import { encodeFrames } from "../http/sse.ts";
import type { GatewayError } from "../lib/gateway_error.ts";
import { cutShort, streamError } from "./broken_stream.ts";
import { heartbeatOf } from "./heartbeat.ts";
import type { Bytes, Relay } from "./relay.ts";
import type { Settlement } from "./settlement.ts";
import { StreamSample } from "./stream_sample.ts";
import { estimatedUsage } from "./token_estimate.ts";
import type { TextAttempt } from "./attempt.ts";
import { promptTokensOfTurn, wantsUsage } from "./turn_usage.ts";

const LINE_CAP_BYTES = 1024 * 1024;

/**
 * Watches a stream's bytes go by. Lines are looked at as Latin-1 text, in which one character is one byte, so that places in
 * the text are places in the bytes; only those that the follower is concerned with are parsed.
 */
export class PassRelay implements Relay {
  readonly finished = false;
  readonly #follower: UsageFollower;
  readonly #codec: Codec;
  readonly #settlement: Settlement;
  /** A caller of the chat form who did not ask for usage does not see the chunk that the gateway asked for. */
  readonly #hidesUsage: boolean;
  readonly #sample = new StreamSample();
  /** The beginning of a line whose end has not come. */
  #partial = "";
  #ended = false;

  constructor(readonly attempt: TextAttempt) {
    const { turn, endpoint, settlement } = attempt;
    this.#codec = endpoint.codec;
    this.#follower = endpoint.codec.usageFollower();
    this.#settlement = settlement;
    this.#hidesUsage = endpoint.codec.name === "chat" && !wantsUsage(turn);
  }

  take(bytes: Uint8Array<ArrayBuffer>): Bytes | Promise<Bytes> {
    const text = latin1(bytes);
    this.#sample.add(text);
    const newline = text.lastIndexOf("\n");
    const lines = newline === -1 ? "" : this.#partial + text.slice(0, newline + 1);
    this.#partial = newline === -1 ? this.#partial + text : text.slice(newline + 1);
    if (this.#partial.length > LINE_CAP_BYTES) throw new RangeError("Cannot read a stream line beyond 1 MB");
    const concerns = lines !== "" && this.#follower.concerns(lines);
    const hidden = concerns ? this.#follow(lines) : [];
    const out = this.#hidesUsage ? visible(lines, hidden) : bytes;
    // Some vendors tell the usage after the end of the reply; the charge waits for it, at most until the stream's end.
    const isComplete = concerns && !this.#ended && this.#follower.ended() && this.#follower.usage() !== null;
    if (isComplete) return this.#settleThen(out);
    return out?.length === 0 ? null : out;
  }

  async end(): Promise<Bytes> {
    if (this.#partial !== "" && this.#follower.concerns(this.#partial)) this.#follow(this.#partial);
    const rest = this.#hidesUsage ? bytesOf(this.#partial) : null;
    if (this.#ended) return rest;
    if (this.#follower.ended()) {
      await this.#settle("completed");
      return rest;
    }
    await this.#settle("cut");
    return this.#failure(cutShort(this.attempt));
  }

  async fail(thrown: unknown): Promise<Bytes> {
    if (this.#ended) return null;
    await this.#settle("cut");
    return this.#failure(streamError(thrown, this.attempt));
  }

  left(): void {
    this.#settle("left").catch(() => {}); // Logged by the meter; nobody is left to be told.
  }

  heartbeat(): Bytes {
    if (this.#partial !== "" || !this.#sample.atFrameEnd) return null;
    return heartbeatOf(this.#codec);
  }

  /** Reads lines of concern; gives the places of those that the caller is not to see. */
  #follow(lines: string): [number, number][] {
    const hidden: [number, number][] = [];
    for (let at = 0; at < lines.length;) {
      const end = lines.indexOf("\n", at) + 1 || lines.length;
      const line = lines.slice(at, end);
      const data = line.startsWith("data:") ? line.slice("data:".length).trim() : "";
      if (data !== "" && this.#follower.concerns(data)) {
        this.#follower.follow(data);
        if (this.#hidesUsage && isUsageChunk(data)) hidden.push([at, lines[end] === "\n" ? end + 1 : end]);
      }
      at = end;
    }
    return hidden;
  }

  async #settleThen(out: Bytes): Promise<Bytes> {
    this.#ended = true;
    await this.#settle("completed");
    return out;
  }

  async #settle(state: "completed" | "cut" | "left"): Promise<void> {
    const { provider } = this.attempt;
    await this.#settlement.charge(provider.name, await this.#usage(state), state);
  }

  /** What the vendor said; of a stream that did not come to its end, what was produced by the gateway's own count. */
  async #usage(state: "completed" | "cut" | "left"): Promise<Usage> {
    const said = this.#follower.usage();
    if (said !== null && state === "completed") return said;
    const counted = await this.#sample.outputTokens(this.#codec);
    if (said !== null) return { ...said, outputTokens: Math.max(said.outputTokens, counted), estimated: true };
    return estimatedUsage(await promptTokensOfTurn(this.attempt.turn), counted);
  }

  #failure(error: GatewayError): Bytes {
    const { turn } = this.attempt;
    const writer = this.#codec.eventWriter({
      model: turn.model,
      requestId: turn.requestId,
      createdAt: Math.floor(turn.receivedAt / 1000),
      conversation: null,
      includeUsage: true,
    });
    // An unfinished line or frame of the vendor's must not swallow the error.
    const gap = this.#sample.atFrameEnd ? "" : "\n\n";
    return Buffer.concat([Buffer.from(gap), encodeFrames(writer.fail(error))]) as Uint8Array<ArrayBuffer>;
  }
}

/** The chunk by which the chat form reports usage: no choices, and usage that is not null. */
function isUsageChunk(data: string): boolean {
  return /"choices":\s*\[\s*\]/.test(data) && /"usage":\s*\{/.test(data);
}

function visible(lines: string, hidden: readonly [number, number][]): Bytes {
  let shown = "";
  let from = 0;
  for (const [start, end] of hidden) {
    shown += lines.slice(from, start);
    from = end;
  }
  return bytesOf(shown + lines.slice(from));
}

function latin1(bytes: Uint8Array<ArrayBuffer>): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

function bytesOf(latin1Text: string): Uint8Array<ArrayBuffer> {
  return Buffer.from(latin1Text, "latin1") as Uint8Array<ArrayBuffer>;
}

import { Buffer } from "node:buffer";
import type { Codec } from "../conversation/codec.ts";
import { createFrameReader } from "../http/sse.ts";
import { countTextTokens } from "./token_estimate.ts";

const SAMPLE_BYTES = 32 * 1024;

/** The beginning of a stream, kept for the case that its tokens must be counted, and its whole length. */
export class StreamSample {
  readonly #kept: string[] = [];
  #keptBytes = 0;
  #bytes = 0;

  /** @param text One read of the stream as Latin-1. */
  add(text: string): void {
    this.#bytes += text.length;
    if (this.#keptBytes >= SAMPLE_BYTES) return;
    this.#kept.push(text);
    this.#keptBytes += text.length;
  }

  /** The tokens produced so far; beyond the sample in proportion to the bytes. */
  async outputTokens(codec: Codec): Promise<number> {
    if (this.#keptBytes === 0) return 0;
    const tokens = await countTextTokens(producedText(Buffer.from(this.#kept.join(""), "latin1"), codec));
    return Math.ceil(tokens * this.#bytes / this.#keptBytes);
  }
}

function producedText(bytes: Uint8Array, codec: Codec): string {
  const frames = createFrameReader();
  const reader = codec.eventReader();
  let text = "";
  for (const frame of frames.push(bytes)) {
    try {
      for (const event of reader.read(frame)) if (event.type === "part-delta") text += event.text;
    } catch {
      // A frame that cannot be read is not paid for.
    }
  }
  return text;
}

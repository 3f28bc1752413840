import { Buffer } from "node:buffer";
import type { ReplyEvent } from "../conversation/events.ts";
import type { UpstreamFormat } from "../conversation/upstream_format.ts";
import { countTextTokens } from "./token_estimate.ts";

const SAMPLE_BYTES = 32 * 1024;
const LINE_FEED = 0x0a;

/** The beginning of a stream, kept in case its tokens must be counted, and its total length. */
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

  /** Returns the number of tokens produced so far. It extrapolates the sample by bytes. */
  async outputTokens(format: UpstreamFormat): Promise<number> {
    if (this.#keptBytes === 0) return 0;
    const tokens = await countTextTokens(producedText(Buffer.from(this.#kept.join(""), "latin1"), format));
    return Math.ceil(tokens * this.#bytes / this.#keptBytes);
  }
}

function producedText(bytes: Uint8Array, format: UpstreamFormat): string {
  const reader = format.streamReader();
  let text = "";
  const onEvent = (event: ReplyEvent) => {
    if (event.type === "part-delta") text += event.text;
  };
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf(LINE_FEED, start) + 1 || bytes.length;
    try {
      reader.push(bytes.subarray(start, end), onEvent);
    } catch {
      // An unreadable frame is not charged; the frames after it are.
    }
    start = end;
  }
  return text;
}

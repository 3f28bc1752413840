import { readModelName } from "../../../conversation/models/answering_models.ts";
import type { ReplyEvent } from "../../../conversation/neutral/events.ts";
import type { UpstreamFormat } from "../../../conversation/contract/upstream_format.ts";
import { countTextTokens } from "../plan/token_estimate.ts";

const SAMPLE_BYTES = 32 * 1024;
const FIRST_BUFFER_BYTES = 4 * 1024;
const LINE_FEED = 0x0a;
const EMPTY = new Uint8Array(0);

/**
 * The beginning of a stream, kept in case its tokens must be counted, and its total length. It is copied to one buffer:
 * a list of its reads would survive many garbage collections.
 */
export class StreamSample {
  #kept = EMPTY;
  #keptBytes = 0;
  #bytes = 0;
  #model: string | null = null;

  /** @param bytes One read of the stream. */
  add(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    if (this.#keptBytes >= SAMPLE_BYTES) return;
    const end = this.#keptBytes + bytes.length;
    if (end > this.#kept.length) this.#grow(end);
    this.#kept.set(bytes, this.#keptBytes);
    this.#keptBytes = end;
  }

  #grow(bytes: number): void {
    let length = Math.max(this.#kept.length * 2, FIRST_BUFFER_BYTES);
    while (length < bytes) length *= 2;
    const longer = new Uint8Array(length);
    longer.set(this.#kept.subarray(0, this.#keptBytes));
    this.#kept = longer;
  }

  /** The model that the stream names; null before its tokens were counted. */
  get model(): string | null {
    return this.#model;
  }

  /** Returns the number of tokens produced so far. It extrapolates the sample by bytes. */
  async outputTokens(format: UpstreamFormat): Promise<number> {
    if (this.#keptBytes === 0) return 0;
    const { text, model } = producedText(this.#kept.subarray(0, this.#keptBytes), format);
    this.#model = model;
    const tokens = await countTextTokens(text);
    return Math.ceil(tokens * this.#bytes / this.#keptBytes);
  }
}

function producedText(
  bytes: Uint8Array,
  format: UpstreamFormat,
): { readonly text: string; readonly model: string | null } {
  const reader = format.streamReader();
  let text = "";
  let model: string | null = null;
  const onEvent = (event: ReplyEvent) => {
    if (event.type === "start") model = readModelName(event.model);
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
  return { text, model };
}

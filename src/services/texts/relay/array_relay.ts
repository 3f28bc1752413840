import { Buffer } from "node:buffer";
import type { HeldMemory } from "../../../platform/lib/process/memory_budget.ts";
import type { Bytes, StreamTransform } from "../../calls/stream_relay.ts";
import type { Frame } from "../../../platform/lib/streams/frame.ts";
import { createFrameReader, createListWriter, MAX_IMAGE_FRAME_BYTES } from "../../../platform/lib/streams/sse.ts";
import { isCompleteData, isEndMarker } from "./stream_frames.ts";

/** The second framing of the content format: the vendor streams events, the caller receives one growing JSON array. */
export class ArrayRelay implements StreamTransform {
  readonly #frames = createFrameReader({ maxFrameCharacters: MAX_IMAGE_FRAME_BYTES });
  readonly #list = createListWriter();

  /** @param inner The same stream as events. */
  constructor(readonly inner: StreamTransform) {}

  get finished(): boolean {
    return this.inner.finished;
  }

  get memory(): HeldMemory {
    return this.inner.memory;
  }

  get awaitsUsage(): boolean {
    return this.inner.awaitsUsage ?? false;
  }

  async take(bytes: Uint8Array<ArrayBuffer>): Promise<Bytes> {
    const taken = await this.inner.take(bytes);
    const text = taken === null ? "" : this.#elements(this.#frames.push(taken));
    // The reader of a finished stream closes it, so the array ends here.
    return bytesOf(this.finished ? text + this.#list.end() : text);
  }

  async end(): Promise<Bytes> {
    return this.#last(await this.inner.end());
  }

  async fail(thrown: unknown): Promise<Bytes> {
    return this.#last(await this.inner.fail(thrown));
  }

  onDisconnect(): void {
    this.inner.onDisconnect();
  }

  heartbeat(): Bytes {
    return null;
  }

  #last(bytes: Bytes): Bytes {
    return bytesOf(this.#elements(this.#lastFrames(bytes)) + this.#list.end());
  }

  #lastFrames(bytes: Bytes): Frame[] {
    try {
      return [...bytes === null ? [] : this.#frames.push(bytes), ...this.#frames.end()];
    } catch {
      // The reader rejected a frame without an end. What the relay sends last is complete by itself.
      return bytes === null ? [] : createFrameReader({ maxFrameCharacters: MAX_IMAGE_FRAME_BYTES }).push(bytes);
    }
  }

  /**
   * The list must stay valid JSON. Other data is left out, such as the end marker of another format or half a frame.
   *
   * @throws {RangeError} For data with too many values.
   */
  #elements(frames: readonly Frame[]): string {
    return this.#list.write(
      frames.map(({ data }) => data).filter((data) => !isEndMarker(data) && isCompleteData(data)),
    );
  }
}

function bytesOf(text: string): Bytes {
  return text === "" ? null : Buffer.from(text) as Uint8Array<ArrayBuffer>;
}

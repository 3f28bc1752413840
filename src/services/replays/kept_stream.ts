import type { Endpoint } from "../../platform/endpoints/endpoint.ts";
import { concatBytes } from "../../platform/lib/bytes/concat_bytes.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import type { HeldMemory } from "../../platform/lib/process/memory_budget.ts";
import { outputStream, type StreamOutput } from "../../platform/lib/streams/output_stream.ts";
import type { EventBlock } from "./event_splitter.ts";

/** Whose stream it is, and how its response began. */
export interface StreamFacts {
  readonly accountId: string;
  readonly requestId: string;
  /** The endpoint of its request. */
  readonly endpoint: Endpoint;
  /** The header fields that every response with its events has. */
  readonly headers: readonly (readonly [string, string])[];
}

/** The most bytes that a reader receives at once. */
const MAX_READ_BYTES = 65_536;
/** The memory is counted in steps. */
const STEP_BYTES = 65_536;
/** Dropped events are removed from the list when there are so many. */
const COMPACT_EVENTS = 1_024;

interface Reader {
  readonly output: StreamOutput<Uint8Array<ArrayBuffer>>;
  /** The id of the next event. */
  next: number;
  /** Ends the pull that waits for the next event; null if none waits. */
  wake: (() => void) | null;
}

/** The events of one stream. Several callers can read it, each at its own pace; none of them delays it. */
export class KeptStream {
  #events: Uint8Array<ArrayBuffer>[] = [];
  /** The number of events at the start of the list that were dropped. */
  #dropped = 0;
  /** The id of the first event of the list. */
  #firstId = 1;
  #bytes = 0;
  #reserved = 0;
  #state: "open" | "ended" | "broken" = "open";
  readonly #readers = new Set<Reader>();

  constructor(readonly facts: StreamFacts, private readonly memory: HeldMemory, private readonly maxBytes: number) {}

  /** The bytes of all events. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether no further event follows. */
  get isOver(): boolean {
    return this.#state !== "open";
  }

  /** The id of the last event so far; 0 before the first. */
  get lastId(): number {
    return this.#firstId + this.#events.length - 1;
  }

  /**
   * Adds a block. Comments reach those who wait, and are not kept. An event reaches them before old ones are dropped:
   * alone it can be above the limits.
   */
  add({ bytes, isEvent }: EventBlock): void {
    if (!isEvent) {
      for (const { wake, output } of [...this.#readers]) if (wake !== null) output.enqueue(bytes);
      return;
    }
    this.#events.push(bytes);
    this.#bytes += bytes.length;
    this.#wakeAll();
    if (bytes.length > this.maxBytes) this.#sendToThoseWhoRead();
    while (this.#bytes > this.maxBytes && this.#hasEvents) this.#dropFirst();
    while (this.#reserved < this.#bytes && this.#hasEvents) this.#reserveOrDrop();
  }

  /** Removes the oldest events until no more than so many bytes are left. */
  shrinkTo(bytes: number): void {
    while (this.#bytes > bytes && this.#hasEvents) this.#dropFirst();
  }

  /** The stream is complete. */
  end(): void {
    this.#state = "ended";
    this.#wakeAll();
  }

  /** The stream broke: its readers see a broken connection too. */
  break(): void {
    this.#state = "broken";
    this.#wakeAll();
  }

  /** Nobody can read the stream any more. Those who read it now see a broken connection. */
  remove(): void {
    this.#events = [];
    this.#bytes = 0;
    this.break();
    this.memory.end();
  }

  /**
   * Reads the events after one.
   *
   * @param lastId The id of the last event that the reader has; 0 for none.
   * @returns Null if no event follows.
   * @throws {GatewayError} `invalid_request` for an id that no event has; `not_found` if the next one was dropped.
   */
  read(lastId: number): ReadableStream<Uint8Array<ArrayBuffer>> | null {
    if (lastId > this.lastId) {
      throw new GatewayError(
        "invalid_request",
        `Cannot continue after event ${lastId}: expected an id up to ${this.lastId}`,
        { field: "Last-Event-ID" },
      );
    }
    if (lastId + 1 < this.#firstId + this.#dropped) throw tooLate(lastId);
    if (lastId === this.lastId && this.#state === "ended") return null;
    return this.#readFrom(lastId + 1);
  }

  #readFrom(next: number): ReadableStream<Uint8Array<ArrayBuffer>> {
    let reader: Reader | null = null;
    return outputStream({
      start: (output) => {
        reader = { output, next, wake: null };
        this.#readers.add(reader);
      },
      pull: () => reader === null ? undefined : this.#pull(reader),
      cancel: () => {
        if (reader !== null) this.#forget(reader);
      },
    }, { highWaterMark: 0 });
  }

  /** Sends what is there. Otherwise the pull waits for the next event. */
  #pull(reader: Reader): Promise<void> | void {
    if (this.#send(reader)) return;
    return new Promise((resolve) => reader.wake = resolve);
  }

  /** Returns whether something was sent, or the reader has all. */
  #send(reader: Reader): boolean {
    const { output } = reader;
    const index = reader.next - this.#firstId;
    if (index < this.#dropped || this.#state === "broken" && index >= this.#events.length) {
      this.#forget(reader);
      output.error(new Error("The events of the stream are no longer kept"));
      return true;
    }
    if (index < this.#events.length) {
      const events = this.#eventsFrom(index);
      reader.next += events.length;
      output.enqueue(concatBytes(events));
      return true;
    }
    if (this.#state === "open") return false;
    this.#forget(reader);
    output.close();
    return true;
  }

  #eventsFrom(index: number): Uint8Array<ArrayBuffer>[] {
    let end = index;
    for (let bytes = 0; end < this.#events.length && bytes < MAX_READ_BYTES; end++) bytes += this.#events[end]!.length;
    return this.#events.slice(index, end);
  }

  #wakeAll(): void {
    for (const reader of [...this.#readers]) {
      const { wake } = reader;
      if (wake === null || !this.#send(reader)) continue;
      reader.wake = null;
      wake();
    }
  }

  /** Sends an event that cannot be kept to readers that have taken what they were sent, and do not wait yet. */
  #sendToThoseWhoRead(): void {
    for (const reader of [...this.#readers]) {
      while (reader.next <= this.lastId && reader.output.desiredSize >= 0) this.#send(reader);
    }
  }

  #forget(reader: Reader): void {
    this.#readers.delete(reader);
    reader.wake?.();
    reader.wake = null;
  }

  get #hasEvents(): boolean {
    return this.#dropped < this.#events.length;
  }

  #dropFirst(): void {
    this.#bytes -= this.#events[this.#dropped]!.length;
    this.#events[this.#dropped] = NO_BYTES;
    this.#dropped++;
    if (this.#dropped < COMPACT_EVENTS) return;
    this.#events.splice(0, this.#dropped);
    this.#firstId += this.#dropped;
    this.#dropped = 0;
  }

  #reserveOrDrop(): void {
    try {
      this.memory.reserve(STEP_BYTES);
      this.#reserved += STEP_BYTES;
    } catch {
      this.#dropFirst(); // no memory is free
    }
  }
}

const NO_BYTES = new Uint8Array(0);

function tooLate(lastId: number): GatewayError {
  return new GatewayError("not_found", `Cannot continue after event ${lastId}: the next events are no longer kept`, {
    field: "Last-Event-ID",
  });
}

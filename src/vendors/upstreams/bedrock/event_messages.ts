import { crc32 } from "node:zlib";

/** One message of an event stream. */
export interface EventMessage {
  /** The headers whose values are text, such as `:event-type`. */
  readonly headers: ReadonlyMap<string, string>;
  /** A view of what was received, valid until the callback returns. */
  readonly payload: Uint8Array;
}

const PRELUDE_BYTES = 12;
const CHECKSUM_BYTES = 4;
/** Payloads of up to 16 MiB and headers of up to 128 KiB. Source: Smithy, "Amazon Event Stream specification". */
const MAX_PAYLOAD_BYTES = 16_777_216;
const MAX_HEADER_BYTES = 131_072;
const MIN_BUFFER_BYTES = 4_096;

/**
 * Reads messages in the encoding of Amazon's event streams from chunks with any boundaries. Source: Smithy, "Amazon
 * Event Stream specification".
 *
 * Lengths are believed only after their checksum was verified, and memory grows with what was received.
 */
export class EventMessageReader {
  /** The start of a message whose end has not arrived. */
  #held = new Uint8Array(0);
  #heldBytes = 0;
  readonly #onHeldBytes: (bytes: number) => void;

  /** @param onHeldBytes Called with the number of bytes of an unfinished message; an exception ends the reading. */
  constructor(onHeldBytes: (bytes: number) => void = () => {}) {
    this.#onHeldBytes = onHeldBytes;
  }

  /**
   * Gives the messages that these bytes complete, one by one, so that those before a failure are given.
   *
   * @throws {RangeError} If a message is too long, or its checksum or a length in it is wrong.
   */
  push(bytes: Uint8Array, onMessage: (message: EventMessage) => void): void {
    let rest = this.#heldBytes === 0 ? bytes : this.#joined(bytes);
    for (let length = lengthOf(rest); length !== null && length <= rest.length; length = lengthOf(rest)) {
      const message = rest.subarray(0, length);
      rest = rest.subarray(length);
      onMessage(messageIn(message));
    }
    this.#hold(rest);
  }

  #joined(bytes: Uint8Array): Uint8Array {
    const length = this.#heldBytes + bytes.length;
    if (length > this.#held.length) {
      this.#onHeldBytes(length);
      const larger = new Uint8Array(Math.max(length, this.#held.length * 2, MIN_BUFFER_BYTES));
      larger.set(this.#held.subarray(0, this.#heldBytes));
      this.#held = larger;
    }
    this.#held.set(bytes, this.#heldBytes);
    return this.#held.subarray(0, length);
  }

  /** @param rest At the end of what is held, or of a chunk that is not kept. */
  #hold(rest: Uint8Array): void {
    if (rest.length === 0) {
      this.#held = new Uint8Array(0);
    } else if (rest.buffer === this.#held.buffer) {
      // Most reads complete no message. Moving it to where it is would take a time by the square of its length.
      if (rest.byteOffset > 0) this.#held.copyWithin(0, rest.byteOffset, rest.byteOffset + rest.length);
    } else {
      this.#held = new Uint8Array(Math.max(rest.length, MIN_BUFFER_BYTES));
      this.#held.set(rest);
    }
    this.#heldBytes = rest.length;
    this.#onHeldBytes(rest.length);
  }
}

/** The length of the message that begins here; null until it is known. */
function lengthOf(bytes: Uint8Array): number | null {
  if (bytes.length < PRELUDE_BYTES) return null;
  const view = viewOf(bytes);
  if (crc32(bytes.subarray(0, 8)) !== view.getUint32(8)) throw invalid("the checksum of its lengths is wrong");
  const length = view.getUint32(0);
  const headerBytes = view.getUint32(4);
  if (headerBytes > MAX_HEADER_BYTES) throw invalid("its headers are too long");
  const payloadBytes = length - PRELUDE_BYTES - headerBytes - CHECKSUM_BYTES;
  if (payloadBytes < 0) throw invalid("its lengths contradict each other");
  if (payloadBytes > MAX_PAYLOAD_BYTES) throw invalid("it is too long");
  return length;
}

function messageIn(bytes: Uint8Array): EventMessage {
  const view = viewOf(bytes);
  const end = bytes.length - CHECKSUM_BYTES;
  if (crc32(bytes.subarray(0, end)) !== view.getUint32(end)) throw invalid("its checksum is wrong");
  const payloadStart = PRELUDE_BYTES + view.getUint32(4);
  return {
    headers: headersIn(bytes.subarray(PRELUDE_BYTES, payloadStart)),
    payload: bytes.subarray(payloadStart, end),
  };
}

const TEXT = 7;
/** The bytes of a header's value by its type; null for values with a length before them. */
const VALUE_BYTES: readonly (number | null)[] = [0, 0, 1, 2, 4, 8, null, null, 8, 16];

const decoder = new TextDecoder();

function headersIn(bytes: Uint8Array): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  const view = viewOf(bytes);
  let at = 0;
  const take = (count: number): Uint8Array => {
    if (count > bytes.length - at) throw invalid("a header is cut off");
    const taken = bytes.subarray(at, at + count);
    at += count;
    return taken;
  };
  const takeNumber = (count: 1 | 2): number => {
    const start = at;
    take(count);
    return count === 1 ? view.getUint8(start) : view.getUint16(start);
  };
  while (at < bytes.length) {
    const name = decoder.decode(take(takeNumber(1)));
    const type = takeNumber(1);
    const fixedBytes = VALUE_BYTES[type];
    if (fixedBytes === undefined) throw invalid("a header has an unknown type");
    const value = take(fixedBytes ?? takeNumber(2));
    if (type === TEXT) headers.set(name, decoder.decode(value));
  }
  return headers;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

function invalid(why: string): RangeError {
  return new RangeError(`Cannot read a message of the event stream: ${why}`);
}

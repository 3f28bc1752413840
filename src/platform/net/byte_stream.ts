import type { Duplex } from "node:stream";

/** A bidirectional byte stream with the interface of Deno's sockets. */
export interface ByteStream {
  /** Reads into the buffer and returns the number of bytes; null at the end. Only one read may be pending. */
  read(buffer: Uint8Array): Promise<number | null>;
  /** Writes at least one byte and returns the number of bytes written. */
  write(bytes: Uint8Array): Promise<number>;
  /** Closes the stream at once; a pending read fails. May be called twice. */
  close(): void;
}

/** What can be held below a socket, so that nothing more arrives there. */
export interface Gate {
  /** Stops reading. At most one chunk that was read before arrives later. */
  hold(): void;
  /** Reads on. */
  release(): void;
}

/**
 * Adapts a Node.js socket to a {@linkcode ByteStream}. Data that arrives without a pending read stays in the socket.
 *
 * @param gate The socket below, if the socket is one of TLS: it is held and released with it.
 */
export function byteStreamOf(socket: Duplex, gate: Gate | null = null): ByteStream {
  return new SocketBytes(socket, gate);
}

interface Reader {
  readonly buffer: Uint8Array;
  readonly resolve: (count: number | null) => void;
  readonly reject: (error: unknown) => void;
}

class SocketBytes implements ByteStream {
  readonly #socket: Duplex;
  readonly #gate: Gate | null;
  /** Data that arrived before it was requested. */
  #ahead: Uint8Array | null = null;
  #reader: Reader | null = null;
  #isEnded = false;
  #failure: unknown = null;

  constructor(socket: Duplex, gate: Gate | null) {
    this.#socket = socket;
    this.#gate = gate;
    socket.on("data", (bytes: Uint8Array) => this.#take(bytes));
    socket.on("end", () => {
      this.#isEnded = true;
      this.#reader?.resolve(null);
      this.#reader = null;
    });
    socket.on("error", (error) => this.#fail(error));
    socket.on("close", () => this.#fail(new Error("The socket was closed")));
  }

  read(buffer: Uint8Array): Promise<number | null> {
    const ahead = this.#ahead;
    if (ahead !== null) {
      const count = fill(buffer, ahead);
      this.#ahead = count < ahead.length ? ahead.subarray(count) : null;
      if (this.#ahead === null) this.#resume();
      return Promise.resolve(count);
    }
    if (this.#isEnded) return Promise.resolve(null);
    if (this.#failure !== null) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => this.#reader = { buffer, resolve, reject });
  }

  write(bytes: Uint8Array): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#socket.write(bytes, (error) => error ? reject(error) : resolve(bytes.length));
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(bytes: Uint8Array): void {
    const reader = this.#reader;
    this.#reader = null;
    const count = reader === null ? 0 : fill(reader.buffer, bytes);
    if (count < bytes.length) {
      this.#ahead = bytes.subarray(count);
      this.#socket.pause();
      this.#gate?.hold();
    }
    reader?.resolve(count);
  }

  #resume(): void {
    this.#gate?.release();
    this.#socket.resume();
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    this.#reader?.reject(this.#failure);
    this.#reader = null;
  }
}

function fill(buffer: Uint8Array, bytes: Uint8Array): number {
  const count = Math.min(buffer.length, bytes.length);
  buffer.set(count < bytes.length ? bytes.subarray(0, count) : bytes);
  return count;
}

import type { Duplex } from "node:stream";

/** Bytes both ways, as the sockets of Deno give them. */
export interface ByteStream {
  /** Fills a part of the buffer and tells how much; null at the end. One read at a time. */
  read(buffer: Uint8Array): Promise<number | null>;
  /** Writes a part, at least one byte, and tells how much. */
  write(bytes: Uint8Array): Promise<number>;
  /** Lets go of it at once; a read under way fails. May be called twice. */
  close(): void;
}

/** A socket of Node as a {@linkcode ByteStream}. What comes while nobody reads is held back in the socket. */
export function byteStreamOf(socket: Duplex): ByteStream {
  return new SocketBytes(socket);
}

interface Reader {
  readonly buffer: Uint8Array;
  readonly resolve: (count: number | null) => void;
  readonly reject: (error: unknown) => void;
}

class SocketBytes implements ByteStream {
  readonly #socket: Duplex;
  /** Came before it was asked for. */
  #ahead: Uint8Array | null = null;
  #reader: Reader | null = null;
  #isEnded = false;
  #failure: unknown = null;

  constructor(socket: Duplex) {
    this.#socket = socket;
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
      if (this.#ahead === null) this.#socket.resume();
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
    }
    reader?.resolve(count);
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

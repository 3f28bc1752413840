import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import type { Gate } from "./byte_stream.ts";

/**
 * A socket below TLS that can be held: nothing is read from it until it is released.
 *
 * Deno's TLS over Node.js sockets reads on when its own stream is paused, and keeps in memory whatever the peer sends.
 * What is read below it can be limited only here.
 */
export class GatedSocket extends Duplex implements Gate {
  readonly #socket: Socket;
  #isHeld = false;
  #isWanted = false;

  /** @param socket A socket to the peer, open or being opened. It ends with this stream. */
  constructor(socket: Socket) {
    super();
    this.#socket = socket;
    socket.on("data", (bytes: Uint8Array) => {
      this.#isWanted = this.push(bytes);
      this.#flow();
    });
    socket.on("end", () => this.push(null));
    socket.on("error", (error) => this.destroy(error));
    socket.on("close", () => this.destroy());
  }

  /** As in {@linkcode Gate}. */
  hold(): void {
    this.#isHeld = true;
    this.#flow();
  }

  /** As in {@linkcode Gate}. */
  release(): void {
    this.#isHeld = false;
    this.#flow();
  }

  /** Called by the stream when it has room. */
  override _read(): void {
    this.#isWanted = true;
    this.#flow();
  }

  /** Called by the stream for each chunk that is written. */
  override _write(chunk: Uint8Array, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done);
  }

  /** Called by the stream after the last chunk was written. */
  override _final(done: (error?: Error | null) => void): void {
    this.#socket.end(done);
  }

  /** Called by the stream when it is destroyed. */
  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }

  #flow(): void {
    if (this.#isWanted && !this.#isHeld) this.#socket.resume();
    else this.#socket.pause();
  }
}

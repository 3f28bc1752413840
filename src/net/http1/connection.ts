import { type BodyDecoder, bodyDecoder } from "./body_decoder.ts";
import { bodyStartIn, HEAD_LIMIT_BYTES, ResponseHead } from "./response_head.ts";

/** Where a connection goes. */
export interface Origin {
  readonly tls: boolean;
  readonly hostname: string;
  readonly port: number;
}

/** One request, ready for the wire. */
export interface WireRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** Header lines, each ended by CR LF, without length or host. */
  readonly headerLines: string;
  readonly body: Uint8Array | null;
}

/** A failure of the connection itself. `answered` tells whether any byte of the response was seen. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";

  constructor(
    message: string,
    /** `connect`: never reached; `closed`: ended early; `cancelled`: by us; `protocol`: not HTTP/1.1. */
    readonly kind: "connect" | "closed" | "cancelled" | "protocol",
    readonly answered: boolean,
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}

const FIRST_BUFFER_BYTES = 16_384;
const LARGEST_BUFFER_BYTES = 65_536;
const ONE_WRITE_BYTES = 32_768;
const EMPTY = new Uint8Array(0);
const ENCODER = new TextEncoder();
const LATIN1 = new TextDecoder("latin1");

/** One socket that carries requests one after another. Not to be used by two at once. */
export class Connection {
  /** True once a response came over it: a failure before the first byte of the next is then likely a stale socket. */
  used = false;
  #buffer = new Uint8Array(FIRST_BUFFER_BYTES);
  #cancelled = false;

  constructor(readonly origin: Origin, readonly host: string, readonly socket: Deno.Conn) {}

  /** Sends a request and reads the head of its response. Informational responses (1xx) are skipped. */
  async exchange(request: WireRequest): Promise<{ head: ResponseHead; decoder: BodyDecoder; early: Uint8Array }> {
    try {
      await this.#send(request);
    } catch (error) {
      if (this.#cancelled) throw this.#failure(error, false);
      // A server may answer and close before it has read everything; its answer says more than the broken pipe.
    }
    const { head, early } = await this.#readHead();
    this.used = true;
    try {
      return { head, decoder: bodyDecoder(head.framingFor(request.method)), early };
    } catch (error) {
      throw new ConnectionError("Cannot read the response", "protocol", true, error);
    }
  }

  /** The next bytes of a body off the wire, valid until the next call; null when the peer closed. */
  async read(): Promise<Uint8Array | null> {
    try {
      const count = await this.socket.read(this.#buffer);
      if (count === null) return null;
      const view = this.#buffer.subarray(0, count);
      if (count === this.#buffer.length && count < LARGEST_BUFFER_BYTES) this.#buffer = new Uint8Array(count * 2);
      return view;
    } catch (error) {
      throw this.#failure(error, true);
    }
  }

  /** Ends the connection at once; a read under way fails as `cancelled`. */
  cancel(): void {
    this.#cancelled = true;
    this.close();
  }

  /** Lets go of the socket. */
  close(): void {
    try {
      this.socket.close();
    } catch {
      // Closed already.
    }
  }

  async #send(request: WireRequest): Promise<void> {
    const length = request.body === null ? "" : `content-length: ${request.body.length}\r\n`;
    const head = ENCODER.encode(
      `${request.method} ${request.path} HTTP/1.1\r\nhost: ${this.host}\r\n${length}${request.headerLines}\r\n`,
    );
    const body = request.body ?? EMPTY;
    if (head.length + body.length > ONE_WRITE_BYTES) {
      await this.#write(head);
      await this.#write(body);
      return;
    }
    const whole = new Uint8Array(head.length + body.length);
    whole.set(head);
    whole.set(body, head.length);
    await this.#write(whole);
  }

  async #write(bytes: Uint8Array): Promise<void> {
    let sent = 0;
    while (sent < bytes.length) sent += await this.socket.write(sent === 0 ? bytes : bytes.subarray(sent));
  }

  async #readHead(): Promise<{ head: ResponseHead; early: Uint8Array }> {
    let collected: Uint8Array = EMPTY;
    for (;;) {
      const start = bodyStartIn(collected, collected.length);
      if (start !== -1) {
        const head = this.#headOf(LATIN1.decode(collected.subarray(0, start)));
        const rest = collected.subarray(start);
        if (head.status >= 200) return { head, early: rest };
        collected = rest;
        continue;
      }
      if (collected.length > HEAD_LIMIT_BYTES) {
        throw new ConnectionError("Cannot read the response: its head is too long", "protocol", true);
      }
      // What was kept of the buffer is copied before the next read overwrites it.
      const kept = collected.length === 0 ? EMPTY : collected.slice();
      const bytes = await this.#readOfHead(kept.length > 0);
      collected = kept.length === 0 ? bytes : joined(kept, bytes);
    }
  }

  async #readOfHead(answered: boolean): Promise<Uint8Array> {
    let bytes: Uint8Array | null;
    try {
      const count = await this.socket.read(this.#buffer);
      bytes = count === null ? null : this.#buffer.subarray(0, count);
    } catch (error) {
      throw this.#failure(error, answered);
    }
    if (bytes === null) throw new ConnectionError("Connection closed before the response", "closed", answered);
    return bytes;
  }

  #headOf(text: string): ResponseHead {
    try {
      return new ResponseHead(text);
    } catch (error) {
      throw new ConnectionError("Cannot read the response", "protocol", true, error);
    }
  }

  #failure(error: unknown, answered: boolean): ConnectionError {
    return this.#cancelled
      ? new ConnectionError("Request cancelled", "cancelled", answered, error)
      : new ConnectionError("Connection lost", "closed", answered, error);
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const whole = new Uint8Array(first.length + second.length);
  whole.set(first);
  whole.set(second, first.length);
  return whole;
}

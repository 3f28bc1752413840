import type { ByteStream } from "../byte_stream.ts";
import { type BodyDecoder, bodyDecoder } from "./body_decoder.ts";
import { bodyStartIn, HEAD_LIMIT_BYTES, ResponseHead } from "./response_head.ts";

/** Where a connection goes. */
export interface Origin {
  /** True for https. */
  readonly tls: boolean;
  /** A name or an IP address, IPv6 without brackets. */
  readonly hostname: string;
  /** The TCP port, also where it is the usual one. */
  readonly port: number;
}

/** A request body that is read while it is sent, so that it never stands whole in memory. */
export interface StreamedBody {
  /** How many bytes there are; the request says so before the first is read. */
  readonly lengthBytes: number;
  /** The bytes from the start, each time it is called: a request may have to be sent once more. */
  open(): AsyncIterable<Uint8Array>;
}

/** One request, ready for the wire. */
export interface WireRequest {
  /** As it stands in the request line, such as `POST`. */
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** Header lines, each ended by CR LF, without length or host. */
  readonly headerLines: string;
  /** Null for a request without a body. */
  readonly body: Uint8Array | StreamedBody | null;
  /** True when it must not go over a kept connection, and so never twice. Default: false. */
  readonly freshConnection?: boolean;
}

/** A failure of the connection itself. `answered` tells whether any byte of the response was seen. */
export class ConnectionError extends Error {
  /** What stack traces call it. */
  override readonly name = "ConnectionError";

  /**
   * A failure with what is known of the exchange.
   *
   * @param message What happened, without anything that was sent or received.
   * @param kind The word to decide by.
   * @param answered True when a byte of the response was seen, so that the server had the request.
   * @param cause What was thrown below, if anything.
   */
  constructor(
    message: string,
    /**
     * `connect`: never reached; `closed`: ended early; `cancelled`: by us; `protocol`: not HTTP/1.1; `body`: our own
     * request body could not be read, or had another length than it said.
     */
    readonly kind: "connect" | "closed" | "cancelled" | "protocol" | "body",
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

/** The head of a response, and the first bytes of its body where they came with it. */
interface EarlyResponse {
  readonly head: ResponseHead;
  readonly early: Uint8Array;
}

/** One socket that carries requests one after another. Not to be used by two at once. */
export class Connection {
  /** True once a response came over it: a failure before the first byte of the next is then likely a stale socket. */
  used = false;
  /** True while a body is not sent to its end: such a connection cannot carry another request. */
  uploading = false;
  #buffer = new Uint8Array(FIRST_BUFFER_BYTES);
  /** The read that was begun while the connection rested: the first of the next response. */
  #ahead: Promise<number | null> | null = null;
  #resting = false;
  #cancelled = false;

  /**
   * Takes over a socket that is open already.
   *
   * @param origin Where the socket leads.
   * @param host The `host` field of every request.
   * @param socket Connected, after the TLS handshake where there is one; the connection closes it.
   */
  constructor(readonly origin: Origin, readonly host: string, readonly socket: ByteStream) {}

  /** Sends a request and reads the head of its response. Informational responses (1xx) are skipped. */
  async exchange(request: WireRequest): Promise<{ head: ResponseHead; decoder: BodyDecoder; early: Uint8Array }> {
    const { body } = request;
    this.#resting = false;
    const { head, early } = body === null || body instanceof Uint8Array
      ? await this.#sendThenListen(request, body)
      : await this.#sendAndListen(request, body);
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

  /**
   * Listens between two exchanges. Whatever comes now answers nothing (RFC 9112, 9.2), and the end tells that the peer
   * has closed: both end the rest. The read costs nothing, for the next response begins with it.
   *
   * @param onEnd Called once at most, and not any more when the next exchange has begun. Must not throw.
   */
  rest(onEnd: () => void): void {
    this.#resting = true;
    this.#ahead = this.socket.read(this.#buffer);
    const ended = () => {
      if (!this.#resting) return;
      this.#resting = false;
      onEnd();
    };
    this.#ahead.then(ended, ended);
  }

  /** Ends the connection at once; a read under way fails as `cancelled`. */
  cancel(): void {
    this.#cancelled = true;
    this.close();
  }

  /** Lets go of the socket. */
  close(): void {
    this.#resting = false;
    try {
      this.socket.close();
    } catch {
      // Closed already.
    }
  }

  async #sendThenListen(request: WireRequest, body: Uint8Array | null): Promise<EarlyResponse> {
    try {
      await this.#send(request, body);
    } catch (error) {
      if (this.#cancelled) throw this.#failure(error, false);
      this.uploading = true;
      // A server may answer and close before it has read everything; its answer says more than the broken pipe.
    }
    return await this.#readHead();
  }

  /** Listens while it sends: a server that refuses early is not sent the rest, and a lost connection shows at once. */
  async #sendAndListen(request: WireRequest, body: StreamedBody): Promise<EarlyResponse> {
    const sending = { stopped: false };
    this.uploading = true;
    const response = this.#readHead();
    const sent = this.#sendStreamed(request, body, sending);
    const badBody = new Promise<never>((_, reject) => {
      sent.catch((error) => {
        // A broken pipe says less than the answer, or the end of the connection, that is read.
        if (!(error instanceof ConnectionError)) return;
        this.close();
        reject(error);
      });
    });
    try {
      const answered = await Promise.race([badBody, response]);
      sending.stopped = answered.head.status >= 300;
      return answered;
    } catch (error) {
      sending.stopped = true;
      response.catch(() => {});
      throw error;
    }
  }

  async #sendStreamed(request: WireRequest, body: StreamedBody, sending: { readonly stopped: boolean }): Promise<void> {
    await this.#write(this.#headOfRequest(request, body.lengthBytes));
    for await (const bytes of exactly(body)) {
      if (sending.stopped) return;
      await this.#write(bytes);
    }
    this.uploading = false;
  }

  #headOfRequest(request: WireRequest, lengthBytes: number | null): Uint8Array {
    const length = lengthBytes === null ? "" : `content-length: ${lengthBytes}\r\n`;
    return ENCODER.encode(
      `${request.method} ${request.path} HTTP/1.1\r\nhost: ${this.host}\r\n${length}${request.headerLines}\r\n`,
    );
  }

  async #send(request: WireRequest, content: Uint8Array | null): Promise<void> {
    const head = this.#headOfRequest(request, content?.length ?? null);
    const body = content ?? EMPTY;
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

  async #readHead(): Promise<EarlyResponse> {
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
    const reading = this.#ahead ?? this.socket.read(this.#buffer);
    this.#ahead = null;
    let bytes: Uint8Array | null;
    try {
      const count = await reading;
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

/** The bytes of a body, held to the length that the request tells: another would shift everything behind it. */
async function* exactly(body: StreamedBody): AsyncGenerator<Uint8Array> {
  let left = body.lengthBytes;
  try {
    for await (const bytes of body.open()) {
      left -= bytes.length;
      if (left < 0) throw new RangeError("it is longer than it said");
      if (bytes.length > 0) yield bytes;
    }
    if (left > 0) throw new RangeError("it is shorter than it said");
  } catch (error) {
    throw new ConnectionError("Cannot read the request's body", "body", false, error);
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const whole = new Uint8Array(first.length + second.length);
  whole.set(first);
  whole.set(second, first.length);
  return whole;
}

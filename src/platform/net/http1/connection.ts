import { Buffer } from "node:buffer";
import { whileWritten } from "../../lib/bytes/body_buffers.ts";
import type { ByteStream } from "../byte_stream.ts";
import { type BodyDecoder, bodyDecoder } from "./body_decoder.ts";
import { ConnectionError, type ExchangeProgress, isOwnMistake } from "./connection_error.ts";
import { bodyStartIn, MAX_HEAD_BYTES, ResponseHead } from "./response_head.ts";
import { framed, framingLineOf, inPieces, partsOf, partsWithin, PIECE_BYTES, withoutShortRuns } from "./sent_body.ts";
import type { Origin, StreamedBody, WireRequest } from "./wire_request.ts";

const FIRST_BUFFER_BYTES = 16_384;
const MAX_BUFFER_BYTES = 65_536;
/** A buffer with less free space is replaced. */
const MIN_READ_BYTES = 4_096;
/** A request up to this size is sent with one write. */
const MAX_JOINED_BYTES = 32_768;
/** The maximum number of informational responses (1xx) before a response. Some vendors send one every few seconds. */
const MAX_INFORMATIONAL = 256;
const STATUS_LINE_START = "HTTP/1.";
/** The maximum number of bytes of one UTF-16 unit. */
const MAX_UTF8_BYTES = 3;
const ENCODER = new TextEncoder();

/** The head of a response, the decoder of its body, and the bytes of the body that arrived with the head. */
export interface ReceivedHead {
  /** The status and the header fields. */
  readonly head: ResponseHead;
  /** Reads the body; new for each response. */
  readonly decoder: BodyDecoder;
  /** In the connection's buffer, which is never written there again. */
  readonly early: Uint8Array<ArrayBuffer>;
}

/** The peer of a connection and its age. */
export interface ConnectionFacts {
  /** Scheme, host and port. */
  readonly origin: Origin;
  /** The `host` header of every request. */
  readonly host: string;
  /** The IP address of the peer; null if the operator configured the host and any of its addresses is accepted. */
  readonly address: string | null;
  /** Unix milliseconds. */
  readonly openedAt: number;
}

/** Receives what one read of a body returns. Exactly one of its functions is called, later and once. None may throw. */
export interface WireReceiver {
  /**
   * Bytes arrived. They are a part of the connection's buffer that is never written again.
   *
   * @param start Where they begin in the buffer.
   * @param end Where they end.
   */
  onWire(buffer: Uint8Array<ArrayBuffer>, start: number, end: number): void;
  /** The peer closed the connection. */
  onWireEnd(): void;
  /** Reading failed: {@linkcode ConnectionError} `closed`, or `cancelled` after {@linkcode Connection.cancel}. */
  onWireLost(error: unknown): void;
}

const NO_RECEIVER: WireReceiver = { onWire() {}, onWireEnd() {}, onWireLost() {} };

/** Receives the end of an idle connection. */
export interface IdleOwner {
  /** Called at most once, and never after the next request has started. Must not throw. */
  onIdleEnd(): void;
}

/** How far a response head was read and searched. */
class HeadSearch {
  /** Where the current head starts, after informational responses. */
  start: number;
  /** Where the bytes that were read end. */
  filled: number;
  /** The number of informational responses. */
  informational = 0;

  /**
   * @param method The method of the request.
   * @param first Where the response starts in the buffer.
   */
  constructor(readonly method: string, readonly first: number) {
    this.start = first;
    this.filled = first;
  }
}

/**
 * A socket that carries requests one after another. It serves one request at a time.
 *
 * HTTP/1.1 has no field that links a response to its request. Data that arrives while no request is in progress must
 * never be read as a response: see {@linkcode Connection.watchIdle}.
 */
export class Connection {
  /** True while a body is not fully sent. Such a connection cannot carry another request. */
  uploading = false;
  /**
   * Each read goes to the free space behind the last one, so that bytes can be handed on without a copy. A copy of a
   * small chunk costs more than all other work on it.
   */
  #buffer = new Uint8Array(FIRST_BUFFER_BYTES);
  /** The same bytes for reading text: making a `Buffer` for each head costs as much as reading it. */
  #text = textViewOf(this.#buffer);
  #used = 0;
  /** The size of the next buffer. */
  #bufferBytes = FIRST_BUFFER_BYTES;
  #sendBuffer = new Uint8Array(0);
  /** The read that started while the connection was idle; it returns the first bytes of the next response. */
  #ahead: Promise<number | null> | null = null;
  /** Of the read of a body. */
  #receiver = NO_RECEIVER;
  /** Set while the connection is idle. */
  #idleOwner: IdleOwner | null = null;
  #cancelled = false;
  #progress: ExchangeProgress = "unsent";

  /**
   * Wraps an open socket.
   *
   * @param facts The peer.
   * @param socket Connected, after the TLS handshake if there is one. The connection closes it.
   */
  constructor(readonly facts: ConnectionFacts, readonly socket: ByteStream) {}

  /**
   * Sends a request and reads the head of its response. Informational responses (1xx) are skipped.
   *
   * @throws {ConnectionError} The connection must be closed then.
   */
  exchange(request: WireRequest): Promise<ReceivedHead> {
    this.#progress = "unsent";
    if (this.#ahead !== null && this.#idleOwner === null) return Promise.reject(this.#lost(null));
    this.#idleOwner = null;
    return this.#send(request);
  }

  /**
   * Reads the next bytes of a body; null if the peer closed the connection. They are a part of the connection's buffer
   * that is never written again.
   *
   * @throws {ConnectionError} `closed`, or `cancelled` after {@linkcode Connection.cancel}.
   */
  read(): Promise<Uint8Array<ArrayBuffer> | null> {
    return new Promise((resolve, reject) => {
      this.readTo({
        onWire: (buffer, start, end) => resolve(buffer.subarray(start, end)),
        onWireEnd: () => resolve(null),
        onWireLost: reject,
      });
    });
  }

  /**
   * Like {@linkcode Connection.read}, without the promise and the view, and with callbacks that are created once:
   * streams read thousands of small chunks. Only one read may be pending.
   */
  readTo(receiver: WireReceiver): void {
    this.#receiver = receiver;
    // A failure is handled too, and a receiver does not throw.
    void this.socket.read(this.#freeSpace()).then(this.#onRead, this.#onBodyLost);
  }

  readonly #onRead = (count: number | null): void => {
    if (count === null) return this.#receiver.onWireEnd();
    const start = this.#used;
    this.#used += count;
    if (this.#used === this.#buffer.length && this.#bufferBytes < MAX_BUFFER_BYTES) this.#bufferBytes *= 2;
    this.#receiver.onWire(this.#buffer, start, this.#used);
  };

  readonly #onBodyLost = (error: unknown): void => this.#receiver.onWireLost(this.#readFailureOf(error));

  /** Returns the free space of the buffer, at least {@linkcode MIN_READ_BYTES}. */
  #freeSpace(): Uint8Array {
    if (this.#buffer.length - this.#used < MIN_READ_BYTES) {
      this.#replaceBuffer(new Uint8Array(this.#bufferBytes));
      this.#used = 0;
    }
    return this.#used === 0 ? this.#buffer : this.#buffer.subarray(this.#used);
  }

  #replaceBuffer(buffer: Uint8Array<ArrayBuffer>): void {
    this.#buffer = buffer;
    this.#text = textViewOf(buffer);
  }

  readonly #onReadFailed = (error: unknown): never => {
    throw this.#readFailureOf(error);
  };

  #readFailureOf(error: unknown): unknown {
    return isOwnMistake(error) ? error : this.#lost(error);
  }

  /**
   * Watches the connection between two requests. Data that arrives now belongs to no request (RFC 9112, 9.2), and end
   * of file means that the peer has closed. In both cases the connection must not be reused. The read is not wasted: it
   * becomes the first read of the next response.
   *
   * The next request must not start in the same turn of the event loop in which such data was delivered: see
   * `IoBarrier`.
   */
  watchIdle(owner: IdleOwner): void {
    this.#idleOwner = owner;
    this.#ahead = this.socket.read(this.#freeSpace());
    this.#ahead.then(this.#onIdleRead, this.#onIdleRead);
  }

  readonly #onIdleRead = (): void => {
    const owner = this.#idleOwner;
    this.#idleOwner = null;
    owner?.onIdleEnd();
  };

  /** Closes the connection at once; a pending read fails as `cancelled`. */
  cancel(): void {
    this.#cancelled = true;
    this.close();
  }

  /** Closes the connection if it is idle, and reports its end. */
  closeIdle(): void {
    if (this.#idleOwner !== null) this.#onIdleRead();
  }

  /** Closes the socket. */
  close(): void {
    this.#idleOwner = null;
    try {
      this.socket.close();
    } catch {
      // Already closed.
    }
  }

  #send(request: WireRequest): Promise<ReceivedHead> {
    const { method, body } = request;
    if (body !== null && "open" in body) {
      const head = this.#headOfRequest(request, framingLineOf(body.lengthBytes));
      return this.#sendAndListen(method, ENCODER.encode(head), body);
    }
    const parts = partsOf(body);
    const head = this.#headOfRequest(request, body === null ? "" : framingLineOf(body.length));
    const joinedParts = partsWithin(parts, MAX_JOINED_BYTES - head.length);
    const first = this.#joined(head, parts, joinedParts);
    const rest = joinedParts === parts.length ? [] : withoutShortRuns(parts.slice(joinedParts));
    return body === null || body.length <= PIECE_BYTES
      ? this.#sendThenListen(method, first, rest)
      : this.#sendAndListen(method, first, inPieces(rest));
  }

  async #sendThenListen(method: string, first: Uint8Array, rest: readonly Uint8Array[]): Promise<ReceivedHead> {
    try {
      const sent = await this.#startWrite(first);
      if (this.#progress === "unsent") this.#progress = "sent";
      if (sent < first.length) await this.#write(first.subarray(sent));
      for (const part of rest) await this.#write(part);
    } catch (error) {
      if (this.#cancelled) throw this.#lost(error);
      if (isOwnMistake(error)) throw error;
      this.uploading = true;
      // A server may respond and close before it has read everything. Its response is more useful than the broken pipe.
    }
    return await this.#readHead(method);
  }

  /**
   * Reads while it sends: a server that rejects early is not sent the rest, and a lost connection is detected at once.
   *
   * @param first The head, and the start of the body.
   */
  async #sendAndListen(method: string, first: Uint8Array, rest: StreamedBody): Promise<ReceivedHead> {
    const sending = { stopped: false };
    this.uploading = true;
    const response = this.#readHead(method);
    const sent = this.#sendStreamed(first, rest, sending);
    const badBody = new Promise<never>((_, reject) => {
      sent.catch((error) => {
        // The response, or the end of the connection, is more useful than a broken pipe.
        if (!(error instanceof ConnectionError || isOwnMistake(error))) return;
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

  async #sendStreamed(first: Uint8Array, rest: StreamedBody, sending: { readonly stopped: boolean }): Promise<void> {
    await this.#write(first);
    for await (const bytes of framed(rest, () => this.#progress)) {
      if (sending.stopped) return;
      await this.#write(bytes);
    }
    this.uploading = false;
  }

  #headOfRequest({ method, path, headerLines }: WireRequest, framingLine: string): string {
    return `${method} ${path} HTTP/1.1\r\nhost: ${this.facts.host}\r\n${framingLine}${headerLines}\r\n`;
  }

  /** A head and the first parts of its body, for one write. */
  #joined(head: string, parts: readonly Uint8Array[], count: number): Uint8Array {
    let bytes = MAX_UTF8_BYTES * head.length;
    for (let index = 0; index < count; index++) bytes += parts[index]?.length ?? 0;
    const buffer = this.#sendBufferFor(bytes);
    let { written: length } = ENCODER.encodeInto(head, buffer);
    for (let index = 0; index < count; index++) {
      const part = parts[index];
      if (part === undefined) break;
      buffer.set(part, length);
      length += part.length;
    }
    return buffer.subarray(0, length);
  }

  /** A buffer that is kept for the next request, since a new one costs more than filling it. */
  #sendBufferFor(bytes: number): Uint8Array {
    if (bytes > this.#sendBuffer.length) this.#sendBuffer = new Uint8Array(2 ** Math.ceil(Math.log2(bytes)));
    return this.#sendBuffer;
  }

  /** Writes at least one byte and resolves with the number of bytes written. */
  #startWrite(bytes: Uint8Array): Promise<number> {
    // A TCP socket whose first write fails has sent nothing. TLS may have sent part of the encrypted data.
    if (this.facts.origin.tls && this.#progress === "unsent") this.#progress = "sent";
    return whileWritten(bytes, this.socket.write(bytes));
  }

  async #write(bytes: Uint8Array): Promise<void> {
    // Ends with the bytes: a write takes at least one, or fails.
    for (let sent = 0; sent < bytes.length;) {
      sent += await this.#startWrite(sent === 0 ? bytes : bytes.subarray(sent));
      if (this.#progress === "unsent") this.#progress = "sent";
    }
  }

  /** @param method That of the request, which decides whether the response has a body. */
  #readHead(method: string): Promise<ReceivedHead> {
    if (this.#ahead === null) this.#freeSpace();
    return this.#continueHead(new HeadSearch(method, this.#used));
  }

  #continueHead(search: HeadSearch): Promise<ReceivedHead> {
    return this.#startReadOfHead(search.filled).then(
      (count) => this.#headAfter(search, count) ?? this.#continueHead(search),
      this.#onReadFailed,
    );
  }

  /** The head of the response, if it is complete after the next `count` bytes; null if more must be read. */
  #headAfter(search: HeadSearch, count: number | null): ReceivedHead | null {
    if (count === null) throw this.#lost(null);
    this.#progress = "answered";
    const before = search.filled;
    const filled = search.filled = before + count;
    for (let end = bodyStartIn(this.#buffer, search.start, before, filled); end !== -1;) {
      const head = this.#headOf(search.start, end);
      this.#used = filled;
      if (head.status >= 200) return this.#received(head, search.method, this.#buffer.subarray(end, filled));
      if (head.status === 101 || ++search.informational > MAX_INFORMATIONAL) {
        throw unreadable("it starts with unexpected informational responses");
      }
      search.start = end;
      end = bodyStartIn(this.#buffer, end, end, filled);
    }
    if (!this.#mayBeStatusLine(search.start, filled)) throw unreadable("it is not HTTP/1.1");
    if (filled - search.first >= MAX_HEAD_BYTES) throw unreadable("its head is too long");
    return null;
  }

  #received(head: ResponseHead, method: string, early: Uint8Array<ArrayBuffer>): ReceivedHead {
    try {
      return { head, decoder: bodyDecoder(head.framingFor(method)), early };
    } catch (error) {
      throw new ConnectionError("Cannot read the response", "protocol", "answered", error);
    }
  }

  #mayBeStatusLine(start: number, end: number): boolean {
    for (let i = 0; i < STATUS_LINE_START.length && start + i < end; i++) {
      if (this.#buffer[start + i] !== STATUS_LINE_START.charCodeAt(i)) return false;
    }
    return true;
  }

  /** Reads to the end of the data, and resolves with the number of bytes; null at the end of the connection. */
  #startReadOfHead(filled: number): Promise<number | null> {
    if (filled === this.#buffer.length) {
      const longer = new Uint8Array(filled * 2);
      longer.set(this.#buffer);
      this.#replaceBuffer(longer);
    }
    const reading = this.#ahead ?? this.socket.read(this.#buffer.subarray(filled));
    this.#ahead = null;
    return reading;
  }

  #headOf(start: number, end: number): ResponseHead {
    try {
      return new ResponseHead(this.#text.toString("latin1", start, end));
    } catch (error) {
      throw new ConnectionError("Cannot read the response", "protocol", "answered", error);
    }
  }

  #lost(cause: unknown): ConnectionError {
    return this.#cancelled
      ? new ConnectionError("Request cancelled", "cancelled", this.#progress, cause)
      : new ConnectionError("Connection closed early", "closed", this.#progress, cause);
  }
}

/** `TextDecoder` costs ten times as much for a text of this size. */
function textViewOf({ buffer }: Uint8Array<ArrayBuffer>): Buffer {
  return Buffer.from(buffer);
}

function unreadable(why: string): ConnectionError {
  return new ConnectionError(`Cannot read the response: ${why}`, "protocol", "answered");
}

import { holdRequest } from "../../lib/basics/held.ts";
import { JoinedBytes } from "../../lib/bytes/joined_bytes.ts";
import { TurnPace } from "../../lib/streams/turn_pace.ts";
import type { WireReceiver } from "./connection.ts";
import { ConnectionError } from "./connection_error.ts";
import type { ResponseHead } from "./response_head.ts";
import type { Exchanged } from "./resend.ts";

/** Receives the result of one read. Exactly one of its functions is called, later and once. None may throw. */
export interface ReadCallbacks<T = Uint8Array<ArrayBuffer>> {
  /** The next item was read. */
  onChunk(chunk: T): void;
  /** Nothing is left to read. */
  onEnd(): void;
  /** Reading failed. */
  onError(error: unknown): void;
}

/** A response whose body is read on demand. */
export interface HttpResponse {
  /** The status code, at least 200: informational responses are skipped. */
  readonly status: number;
  /** The header fields. */
  readonly head: ResponseHead;
  /**
   * The bytes that arrived since the last call: at least one, in a new buffer; null at the end.
   *
   * @throws {ConnectionError} `closed` if the body is incomplete, `cancelled` after {@linkcode HttpResponse.cancel}.
   */
  read(): Promise<Uint8Array<ArrayBuffer> | null>;
  /**
   * Like {@linkcode HttpResponse.read}, without a promise and a copy, for streams of small chunks. The bytes share a
   * buffer with others, so they must not be changed or transferred. Only one read may be pending.
   */
  readNext(callbacks: ReadCallbacks): void;
  /**
   * The whole body, if all of it has arrived with the head, as most short ones have; null otherwise. Only before the
   * first read. The bytes share a buffer with others, so they must not be changed or transferred.
   *
   * @throws {ConnectionError} `protocol` if its framing is invalid.
   */
  takeArrived(): Uint8Array<ArrayBuffer> | null;
  /**
   * Ends the exchange and closes its connection, also one that is idle by now. A connection that carries another
   * request already stays open. Never throws; may be called twice.
   */
  cancel(): void;
  /** The connection is closed after this response, since it is not what was asked for. */
  closeAfter(): void;
}

/**
 * Creates the response of an exchange.
 *
 * @param onReusable Called at most once, when the whole body was read and the connection can carry another request.
 * Otherwise the response closes it.
 */
export function responseOf(exchanged: Exchanged, onReusable: () => void): HttpResponse {
  return new ConnectionResponse(exchanged, onReusable);
}

const NO_CALLBACKS: ReadCallbacks = { onChunk() {}, onEnd() {}, onError() {} };

class ConnectionResponse implements HttpResponse, WireReceiver {
  readonly status: number;
  readonly head: ResponseHead;
  readonly #exchanged: Exchanged;
  readonly #onReusable: () => void;
  #early: Uint8Array<ArrayBuffer> | null;
  /** The part of the body that {@linkcode ConnectionResponse.takeArrived} found; null if there is none. */
  #arrived: Uint8Array<ArrayBuffer> | null = null;
  #callbacks: ReadCallbacks = NO_CALLBACKS;
  #isOver = false;
  #isUnexpected = false;
  #isCancelled = false;
  /** Of reads by promises. */
  #pace: TurnPace | null = null;

  constructor(exchanged: Exchanged, onReusable: () => void) {
    this.head = exchanged.head;
    this.status = exchanged.head.status;
    this.#exchanged = exchanged;
    this.#onReusable = onReusable;
    this.#early = exchanged.early.length > 0 ? exchanged.early : null;
    if (!exchanged.decoder.done) return;
    // There is no body; any bytes after the head are excess.
    if (this.#early !== null) exchanged.decoder.decode(this.#early);
    this.#finish();
  }

  read(): Promise<Uint8Array<ArrayBuffer> | null> {
    return readOnce(this, this.#pace ??= new TurnPace());
  }

  readNext(callbacks: ReadCallbacks): void {
    this.#callbacks = callbacks;
    const early = this.#early;
    const arrived = this.#arrived;
    if (arrived !== null) {
      this.#arrived = null;
      queueMicrotask(() => callbacks.onChunk(arrived));
    } else if (this.#isCancelled) {
      const error = new ConnectionError("Cannot read the response: it was cancelled", "cancelled", "answered");
      queueMicrotask(() => callbacks.onError(error));
    } else if (this.#isOver) queueMicrotask(() => callbacks.onEnd());
    else if (early === null) this.#readWire();
    else {
      this.#early = null;
      queueMicrotask(() => this.onWire(early, 0, early.length));
    }
  }

  takeArrived(): Uint8Array<ArrayBuffer> | null {
    if (this.#isOver) return new Uint8Array();
    const early = this.#early;
    if (early === null) return null;
    this.#early = null;
    const payload = this.#decode(early, 0, early.length);
    if (this.#exchanged.decoder.done) {
      this.#finish();
      return payload;
    }
    if (payload.length > 0) this.#arrived = payload;
    return null;
  }

  cancel(): void {
    if (this.#isOver) return this.#exchanged.connection.closeIdle();
    this.#isOver = true;
    this.#isCancelled = true;
    this.#exchanged.connection.cancel();
  }

  closeAfter(): void {
    this.#isUnexpected = true;
    if (this.#isOver) this.#exchanged.connection.closeIdle();
  }

  #readWire(): void {
    this.#exchanged.connection.readTo(this);
  }

  /** Called by the connection. */
  onWire(wire: Uint8Array<ArrayBuffer>, start: number, end: number): void {
    let payload: Uint8Array<ArrayBuffer>;
    try {
      payload = this.#decode(wire, start, end);
    } catch (error) {
      return this.#callbacks.onError(error);
    }
    if (this.#exchanged.decoder.done && !this.#isOver) this.#finish();
    if (payload.length > 0) this.#callbacks.onChunk(payload);
    else if (this.#isOver) this.#callbacks.onEnd();
    else this.#readWire();
  }

  /** Called by the connection. */
  onWireLost(error: unknown): void {
    this.#isOver = true;
    this.#exchanged.connection.close();
    this.#callbacks.onError(error);
  }

  #decode(wire: Uint8Array<ArrayBuffer>, start: number, end: number): Uint8Array<ArrayBuffer> {
    try {
      return this.#exchanged.decoder.decode(wire, start, end);
    } catch (error) {
      this.cancel();
      throw new ConnectionError("Cannot read the response", "protocol", "answered", error);
    }
  }

  /** Called by the connection. */
  onWireEnd(): void {
    const { connection, decoder } = this.#exchanged;
    this.#isOver = true;
    connection.close();
    if (decoder.endsByClose) return this.#callbacks.onEnd();
    const message = "Connection closed before the end of the response";
    this.#callbacks.onError(new ConnectionError(message, "closed", "answered"));
  }

  #finish(): void {
    const { connection, decoder, head } = this.#exchanged;
    this.#isOver = true;
    const isReusable = head.keepsAlive && !decoder.hasExcess && !connection.uploading && !this.#isUnexpected;
    if (isReusable) this.#onReusable();
    else connection.close();
  }
}

/**
 * Reads once and returns the bytes in a new buffer; null at the end.
 *
 * @param pace Of all reads of the source.
 */
export function readOnce(
  source: Pick<HttpResponse, "readNext">,
  pace: TurnPace,
): Promise<Uint8Array<ArrayBuffer> | null> {
  const turn = pace.note();
  return turn === null ? readNow(source) : turn.then(() => readNow(source));
}

function readNow(source: Pick<HttpResponse, "readNext">): Promise<Uint8Array<ArrayBuffer> | null> {
  return new Promise((resolve, reject) => {
    source.readNext({
      onChunk: (bytes) => resolve(bytes.slice()),
      onEnd: () => resolve(null),
      onError: reject,
    });
  });
}

/** Reads the whole body of a response, as {@linkcode readBody}, and joins it in one step. */
export async function readAll(...args: Parameters<typeof readBody>): Promise<Uint8Array<ArrayBuffer>> {
  return (await readBody(...args)).joined();
}

/**
 * Reads the whole body of a response.
 *
 * @param capBytes The maximum size.
 * @param reserve Called with the length of each chunk. An error that it throws ends the exchange and is rethrown.
 * @throws {ConnectionError} As {@linkcode HttpResponse.read}, and `protocol` above the maximum.
 */
export function readBody(
  source: Pick<HttpResponse, "readNext" | "cancel">,
  capBytes: number,
  reserve?: (bytes: number) => void,
): Promise<JoinedBytes> {
  return new Promise((resolve, reject) => {
    // Copies: a view would keep the framing between the chunks in memory too.
    const body = new JoinedBytes();
    const pace = new TurnPace();
    const next = () => {
      const turn = pace.note();
      if (turn === null) source.readNext(callbacks);
      else holdRequest(turn.then(() => source.readNext(callbacks)), (error) => callbacks.onError(error));
    };
    const callbacks: ReadCallbacks = {
      onChunk(bytes) {
        try {
          reserve?.(bytes.length);
          if (body.length + bytes.length > capBytes) throw tooLong();
        } catch (error) {
          source.cancel();
          return reject(error);
        }
        body.add(bytes);
        next();
      },
      onEnd: () => resolve(body),
      onError: reject,
    };
    next();
  });
}

function tooLong(): ConnectionError {
  return new ConnectionError("Cannot read the response: its body is too long", "protocol", "answered");
}

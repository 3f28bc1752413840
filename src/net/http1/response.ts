import { concatBytes } from "../../lib/concat_bytes.ts";
import { ConnectionError } from "./connection_error.ts";
import type { ResponseHead } from "./response_head.ts";
import type { Exchanged } from "./resend.ts";

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
  /** Ends the exchange. The socket is closed unless the whole body was read. Never throws; may be called twice. */
  cancel(): void;
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

class ConnectionResponse implements HttpResponse {
  readonly status: number;
  readonly head: ResponseHead;
  readonly #exchanged: Exchanged;
  readonly #onReusable: () => void;
  #early: Uint8Array | null;
  #isOver = false;

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

  async read(): Promise<Uint8Array<ArrayBuffer> | null> {
    const { decoder } = this.#exchanged;
    for (;;) {
      if (this.#isOver) return null;
      const wire = this.#early ?? await this.#wire();
      this.#early = null;
      if (wire === null) return this.#endOfInput();
      const payload = this.#decode(wire).slice();
      if (decoder.done) this.#finish();
      if (payload.length > 0) return payload;
    }
  }

  cancel(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#exchanged.connection.cancel();
  }

  async #wire(): Promise<Uint8Array | null> {
    const { connection } = this.#exchanged;
    try {
      return await connection.read();
    } catch (error) {
      this.#isOver = true;
      connection.close();
      throw error;
    }
  }

  #decode(wire: Uint8Array): Uint8Array {
    try {
      return this.#exchanged.decoder.decode(wire);
    } catch (error) {
      this.cancel();
      throw new ConnectionError("Cannot read the response", "protocol", "answered", error);
    }
  }

  #endOfInput(): null {
    const { connection, decoder } = this.#exchanged;
    this.#isOver = true;
    connection.close();
    if (decoder.endsByClose) return null;
    throw new ConnectionError("Connection closed before the end of the response", "closed", "answered");
  }

  #finish(): void {
    const { connection, decoder, head } = this.#exchanged;
    this.#isOver = true;
    if (head.keepsAlive && !decoder.hasExcess && !connection.uploading) this.#onReusable();
    else connection.close();
  }
}

/**
 * Reads the whole body of a response.
 *
 * @param capBytes The maximum size.
 * @throws {ConnectionError} As {@linkcode HttpResponse.read}, and `protocol` above the maximum.
 */
export async function readAll(response: HttpResponse, capBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let total = 0;
  for (let next = await response.read(); next !== null; next = await response.read()) {
    parts.push(next);
    total += next.length;
    if (total > capBytes) {
      response.cancel();
      throw new ConnectionError("Cannot read the response: its body is too long", "protocol", "answered");
    }
  }
  const [first] = parts;
  return first !== undefined && parts.length === 1 ? first : concatBytes(parts);
}

import { Buffer } from "node:buffer";

/** How a response's body ends. RFC 9112, 6.3. */
type Framing = { readonly kind: "length"; left: number } | { readonly kind: "chunked"; tail: string };

const LAST_CHUNK = "0\r\n\r\n";

/**
 * One connection that sends the same request repeatedly, reads each response to its end, and records when events
 * arrive.
 */
export class Exchanger {
  /** Milliseconds between two reads with events, for all streams so far. */
  readonly gapMs: number[] = [];
  readonly #buffer = new Uint8Array(64 * 1024);
  #connection: Deno.TcpConn | null = null;
  #closed = false;

  /** @param gapsFrom The time, by `performance.now()`, from which gaps are recorded. */
  constructor(
    readonly port: number,
    readonly request: Uint8Array<ArrayBuffer>,
    readonly gapsFrom: number,
  ) {}

  /** Sends one request and reads its response; true for status 200. Rejects when the connection fails. */
  async exchange(): Promise<boolean> {
    if (this.#closed) throw new Error("Cannot send on a closed exchanger");
    try {
      this.#connection ??= await connect(this.port);
      await writeAll(this.#connection, this.request);
      return await this.#readReply(this.#connection);
    } catch (error) {
      this.#hangUp();
      throw error;
    }
  }

  /** Closes the connection; a pending exchange rejects. */
  close(): void {
    this.#closed = true;
    this.#hangUp();
  }

  #hangUp(): void {
    try {
      this.#connection?.close();
    } catch {
      // Already closed.
    }
    this.#connection = null;
  }

  async #readReply(connection: Deno.TcpConn): Promise<boolean> {
    let head = "";
    let framing: Framing | null = null;
    let cameAt = 0;
    for (;;) {
      const count = await connection.read(this.#buffer);
      if (count === null) throw new Error("Cannot read the reply: the connection ended early");
      let body = Buffer.from(this.#buffer.buffer, 0, count);
      if (framing === null) {
        head += body.toString("latin1");
        const headEnd = head.indexOf("\r\n\r\n");
        if (headEnd === -1) continue;
        body = Buffer.from(head.slice(headEnd + 4), "latin1");
        head = head.slice(0, headEnd);
        framing = framingOf(head);
      }
      if (body.includes("data:")) cameAt = this.#note(cameAt);
      if (isOver(framing, body)) break;
    }
    if (/\r\nconnection: *close/i.test(head)) this.#hangUp();
    return head.startsWith("HTTP/1.1 200");
  }

  #note(cameAt: number): number {
    const now = performance.now();
    if (cameAt !== 0 && now >= this.gapsFrom) this.gapMs.push(now - cameAt);
    return now;
  }
}

function framingOf(head: string): Framing {
  const length = /\r\ncontent-length: *(\d+)/i.exec(head);
  return length === null ? { kind: "chunked", tail: "" } : { kind: "length", left: Number(length[1]) };
}

/** Counts a part of the body; true when it was the last. */
function isOver(framing: Framing, part: Buffer): boolean {
  if (framing.kind === "length") return (framing.left -= part.length) <= 0;
  // Events end in a line end and JSON in a brace, never in a zero. So these five bytes at the end of a read are the
  // empty chunk.
  const end = part.toString("latin1", Math.max(0, part.length - LAST_CHUNK.length));
  framing.tail = (framing.tail + end).slice(-LAST_CHUNK.length);
  return framing.tail === LAST_CHUNK;
}

async function connect(port: number): Promise<Deno.TcpConn> {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port });
  connection.setNoDelay(true);
  return connection;
}

async function writeAll(connection: Deno.TcpConn, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  for (let written = 0; written < bytes.length;) written += await connection.write(bytes.subarray(written));
}

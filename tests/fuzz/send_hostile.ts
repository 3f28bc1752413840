import type { HostileRequest } from "./hostile_request.ts";

/** How long a client waits for a response that does not come. */
const PATIENCE_MS = 1_500;
/** The start of a response that is kept. */
const KEPT_CHARACTERS = 400;
/** A client that reads slowly leaves after so many bytes. */
const MAX_READ_BYTES = 100_000;

/** Sends a request over a plain socket. Returns the start of the response; empty if none came. */
export async function sendHostile(port: number, request: HostileRequest): Promise<string> {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port });
  let isClosed = false;
  const close = () => {
    if (isClosed) return;
    isClosed = true;
    connection.close();
  };
  const leaving = setTimeout(close, request.leavesAfterMs ?? PATIENCE_MS);
  try {
    const [, start] = await Promise.all([write(connection, request), read(connection, request.readBytes)]);
    return start;
  } catch (error) {
    // The client has left, or the gateway has closed the connection.
    if (isClosed || error instanceof Deno.errors.ConnectionReset || error instanceof Deno.errors.BrokenPipe) return "";
    throw error;
  } finally {
    clearTimeout(leaving);
    close();
  }
}

async function write(connection: Deno.TcpConn, { parts, pauseMs, closesWriting }: HostileRequest): Promise<void> {
  try {
    for (const part of parts) {
      const bytes = Uint8Array.from(part, (character) => character.charCodeAt(0));
      for (let sent = 0; sent < bytes.length;) sent += await connection.write(bytes.subarray(sent));
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    if (closesWriting) await connection.closeWrite();
  } catch (error) {
    // The gateway answered and closed before all was written: the response may still be there.
    if (!(error instanceof Deno.errors.BrokenPipe || error instanceof Deno.errors.ConnectionReset)) throw error;
  }
}

async function read(connection: Deno.TcpConn, bytes: number): Promise<string> {
  const chunk = new Uint8Array(bytes);
  let start = "";
  let total = 0;
  for (;;) {
    const length = await connection.read(chunk).catch(() => null);
    if (length === null) return start;
    total += length;
    if (start.length < KEPT_CHARACTERS) start += new TextDecoder("latin1").decode(chunk.subarray(0, length));
    const isWhole = /\r\n\r\n/.test(start) && /connection: close/i.test(start) && total > MAX_READ_BYTES;
    if (isWhole || total > MAX_READ_BYTES) return start;
  }
}

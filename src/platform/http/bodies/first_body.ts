import { concatBytes } from "../../lib/bytes/concat_bytes.ts";
import { TurnPace } from "../../lib/streams/turn_pace.ts";

/**
 * The platform reads a connection into a buffer of 1 KiB, and lengthens it only for a read that requests more. A
 * request that fits into the buffer arrives with its body, which then costs 3 µs to read. Any other body costs 15 µs
 * more and a turn of the event loop. The first body of a connection is therefore read with this many bytes, so that all
 * later requests of up to this size arrive whole.
 */
const FIRST_READ_BYTES = 4_096;

/** More than one port each of most gateways' connections. */
const MAX_PORTS = 10_000;

/**
 * The ports of peers whose connections were read from. A port that another connection uses later costs that connection
 * time, and nothing else.
 */
const ports = new Set<number>();

/**
 * Reads a body that fits into memory, and prepares its connection for the requests that follow.
 *
 * @param peerPort Identifies the connection.
 */
export function readWithFirstBuffer(request: Request, peerPort: number): Promise<Uint8Array<ArrayBuffer>> {
  if (ports.has(peerPort)) return request.bytes();
  if (ports.size >= MAX_PORTS) ports.clear();
  ports.add(peerPort);
  const reader = request.body && byobReaderOf(request.body);
  return reader === null ? request.bytes() : readAll(reader);
}

/** A reader that fills the buffers of its caller; null if the platform has read the whole body already. */
export function byobReaderOf(body: ReadableStream<Uint8Array<ArrayBuffer>>): ReadableStreamBYOBReader | null {
  try {
    return body.getReader({ mode: "byob" });
  } catch {
    return null;
  }
}

async function readAll(reader: ReadableStreamBYOBReader): Promise<Uint8Array<ArrayBuffer>> {
  const full: Uint8Array<ArrayBuffer>[] = [];
  const pace = new TurnPace();
  let buffer = new ArrayBuffer(FIRST_READ_BYTES);
  let filled = 0;
  for (;;) {
    const turn = pace.note();
    if (turn !== null) await turn;
    // A read detaches the buffer and returns it with the same content in another object.
    const { done, value } = await reader.read(new Uint8Array(buffer, filled));
    const read = new Uint8Array(value?.buffer ?? buffer, 0, filled);
    if (done) return full.length === 0 ? read : concatBytes([...full, read]);
    buffer = value.buffer;
    filled += value.length;
    if (filled < FIRST_READ_BYTES) continue;
    full.push(new Uint8Array(buffer));
    buffer = new ArrayBuffer(FIRST_READ_BYTES);
    filled = 0;
  }
}

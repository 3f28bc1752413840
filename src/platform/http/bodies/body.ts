import { takeBodyBuffer } from "../../lib/bytes/body_buffers.ts";
import { GatewayError } from "../../lib/basics/gateway_error.ts";
import { GrowingBytes } from "../../lib/bytes/growing_bytes.ts";
import type { HeldMemory } from "../../lib/process/memory_budget.ts";
import { NO_SLOT } from "../../lib/collections/slot_set.ts";
import { TurnPace } from "../../lib/streams/turn_pace.ts";
import { ChunkReader } from "./chunk_reader.ts";
import { byobReaderOf, readWithFirstBuffer } from "./first_body.ts";
import { type DeadlineWheel, sharedWheel, type Watched } from "../../net/deadline.ts";
import type { HeaderReader } from "../request/headers.ts";
import type { ReceivedBody } from "../request/inbound.ts";

/** A request with a body and its memory lease. */
export interface BodySource {
  readonly request: Request;
  /** The header fields of `request`, if they were read before. */
  readonly headers?: HeaderReader;
  /** The body, if it was read before. */
  readonly received?: ReceivedBody;
  readonly memory: HeldMemory;
  /** The port of the peer, see {@linkcode readWithFirstBuffer}. Absent for a body that is in memory. */
  readonly peerPort?: number;
}

/** Limits of a body's size and time. */
export interface BodyLimits {
  /** The maximum size; a larger body is `request_too_large`. */
  readonly capBytes: number;
  /** The maximum number of values in a JSON body. Default: unlimited. */
  readonly maxValues?: number;
  /** The maximum wait for the next byte. Default 15 s. */
  readonly idleMs?: number;
  /** The maximum time for the whole body, plus one second for every 64 KiB received. Default 30 s. */
  readonly wholeMs?: number;
  /** Default: the wheel of the process. */
  readonly wheel?: DeadlineWheel;
}

const IDLE_MS = 15_000;
const WHOLE_MS = 30_000;
const BYTES_PER_SECOND = 65_536;
/** A body up to this size arrives at once in most cases: one read, one deadline. */
const SMALL_BYTES = 65_536;
/**
 * A body up to this size is read into its final buffer, which may be longer. The buffer of a failed read is freed at
 * the next garbage collection, so larger bodies are collected with {@linkcode GrowingBytes}, which frees it at once.
 */
const MAX_DIRECT_BYTES = 2_097_152;

/**
 * Reads a request's body. A body whose declared length exceeds the maximum is rejected unread. Memory is reserved
 * before bytes are read: at once for a known length, else in steps. It is released if the read fails.
 *
 * @param memoryFactor The bytes of memory per byte of the body until the request ends. Default 1.
 * @returns The body, empty if there is none.
 * @throws {GatewayError} `request_too_large`; `overloaded`; `invalid_request` with status 408 if it is too slow, with
 * 400 if it is incomplete.
 */
export function readBody(
  { request, headers = request.headers, memory, peerPort }: BodySource,
  limits: BodyLimits,
  memoryFactor = 1,
): Promise<Uint8Array<ArrayBuffer>> {
  const length = lengthOf(headers);
  if (length !== null && length > limits.capBytes) return Promise.reject(tooLarge(limits.capBytes));
  if (length === null || length > SMALL_BYTES) return readReserved(request, limits, { length, memory, memoryFactor });
  const before = memory.held;
  try {
    memory.reserve(length * memoryFactor);
  } catch (error) {
    return Promise.reject(error);
  }
  return readSmall(request, limits, peerPort, () => memory.releaseTo(before));
}

/** @throws {GatewayError} `request_too_large` for a body in memory that exceeds the maximum. */
export function refuseLongBody({ length }: Uint8Array, { capBytes }: Pick<BodyLimits, "capBytes">): void {
  if (length > capBytes) throw tooLarge(capBytes);
}

/** The memory of a large body. */
interface LargeBody {
  readonly length: number | null;
  readonly memory: HeldMemory;
  readonly memoryFactor: number;
}

async function readReserved(
  request: Request,
  limits: BodyLimits,
  { length, memory, memoryFactor }: LargeBody,
): Promise<Uint8Array<ArrayBuffer>> {
  const before = memory.held;
  try {
    const bytes = await readLarge(request, limits, length, (more) => memory.reserve(more * memoryFactor));
    memory.releaseTo(before + bytes.length * memoryFactor);
    return bytes;
  } catch (error) {
    memory.releaseTo(before);
    throw error;
  }
}

/** The declared length; null if it is missing or unreliable (a list of equal values). */
function lengthOf(headers: HeaderReader): number | null {
  const field = headers.get("content-length");
  return field !== null && /^[0-9]{1,15}$/.test(field) ? Number(field) : null;
}

function readSmall(
  request: Request,
  { idleMs = IDLE_MS, wheel = sharedWheel }: BodyLimits,
  peerPort: number | undefined,
  onFailure: () => void,
): Promise<Uint8Array<ArrayBuffer>> {
  return new Promise((resolve, reject) => {
    const fail = (error: GatewayError) => {
      onFailure();
      reject(error);
    };
    const watched: Watched = {
      deadlineAt: wheel.now() + idleMs,
      slot: NO_SLOT,
      onDeadline: () => fail(new GatewayError(...TOO_SLOW)),
    };
    wheel.watch(watched);
    const reading = peerPort === undefined ? request.bytes() : readWithFirstBuffer(request, peerPort);
    reading.then((bytes) => {
      wheel.unwatch(watched);
      resolve(bytes);
    }, (error) => {
      wheel.unwatch(watched);
      fail(brokenOff(error));
    });
  });
}

async function readLarge(
  request: Request,
  limits: BodyLimits,
  expectedBytes: number | null,
  reserve: (bytes: number) => void,
): Promise<Uint8Array<ArrayBuffer>> {
  const isDirect = expectedBytes !== null && expectedBytes <= MAX_DIRECT_BYTES;
  const reader = isDirect && request.body !== null ? byobReaderOf(request.body) : null;
  if (isDirect && reader !== null) {
    reserve(expectedBytes);
    return await readInto(takeBodyBuffer(expectedBytes), expectedBytes, { reader, limits });
  }
  const bytes = new GrowingBytes({ expectedBytes, reserve });
  try {
    for await (const chunk of chunksOf(request, limits)) bytes.add(chunk);
    return bytes.finish();
  } catch (error) {
    bytes.drop();
    throw error;
  }
}

/**
 * Fills the start of a buffer with a body of the declared length. Each read may return as much as has arrived, which
 * costs half of a stream of chunks, and a pending read can be cancelled, unlike `request.bytes()`.
 */
async function readInto(
  whole: ArrayBuffer,
  length: number,
  { reader, limits }: { readonly reader: ReadableStreamBYOBReader; readonly limits: BodyLimits },
): Promise<Uint8Array<ArrayBuffer>> {
  const watch = new BodyWatch(limits, () => reader.cancel());
  const pace = new TurnPace();
  try {
    let buffer = whole;
    for (let filled = 0; filled < length;) {
      const turn = pace.note();
      if (turn !== null) await turn;
      // A read detaches the buffer and returns it with the same content in another object.
      const { done, value } = await reader.read(new Uint8Array(buffer, filled, length - filled));
      if (watch.isOver) throw new BodyTimeout();
      if (done) throw new RangeError("The body is shorter than declared");
      buffer = value.buffer;
      filled += value.length;
      watch.touch(value.length);
    }
    // The end must be read too: the platform reports errors of the framing here.
    const { done } = await reader.read(new Uint8Array(1));
    if (watch.isOver) throw new BodyTimeout();
    if (!done) throw new RangeError("The body is longer than declared");
    return new Uint8Array(buffer, 0, length);
  } catch (error) {
    throw error instanceof GatewayError ? error : brokenOff(error);
  } finally {
    watch.stop();
    reader.cancel().catch(() => {}); // nothing to discard if all was read
  }
}

/**
 * Reads the body in chunks with the same limits, for readers that do not buffer it, such as the one for multipart
 * forms. Leaving the loop early discards the rest. Throws as {@linkcode readBody} does.
 */
export async function* chunksOf(request: Request, limits: BodyLimits): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  const length = lengthOf(request.headers);
  if (length !== null && length > limits.capBytes) throw tooLarge(limits.capBytes);
  if (request.body === null) return;
  let total = 0;
  const reader = new ChunkReader(request.body, (bytes) => {
    if (watch.isOver) throw new BodyTimeout();
    total += bytes;
    if (total > limits.capBytes) throw tooLarge(limits.capBytes);
    watch.touch(bytes);
  });
  const watch = new BodyWatch(limits, () => reader.cancel());
  try {
    for (let chunk = await reader.next(); chunk !== null; chunk = await reader.next()) yield chunk;
  } catch (error) {
    throw error instanceof GatewayError ? error : brokenOff(error);
  } finally {
    watch.stop();
    reader.cancel().catch(() => {}); // nothing to discard if all was read
  }
}

/** Watches a chunked body: the time since the last chunk and since the first. */
class BodyWatch implements Watched {
  deadlineAt: number;
  slot = NO_SLOT;
  isOver = false;
  #wholeDeadlineAt: number;
  readonly #idleMs: number;
  readonly #wheel: DeadlineWheel;

  constructor(limits: BodyLimits, readonly giveUp: () => Promise<void>) {
    this.#idleMs = limits.idleMs ?? IDLE_MS;
    this.#wheel = limits.wheel ?? sharedWheel;
    this.#wholeDeadlineAt = this.#wheel.now() + (limits.wholeMs ?? WHOLE_MS);
    this.deadlineAt = this.#wheel.now() + this.#idleMs;
    this.#wheel.watch(this);
  }

  touch(bytes: number): void {
    this.#wholeDeadlineAt += bytes / BYTES_PER_SECOND * 1000;
    this.deadlineAt = Math.min(this.#wheel.now() + this.#idleMs, this.#wholeDeadlineAt);
  }

  onDeadline(): void {
    this.isOver = true;
    this.giveUp().catch(() => {}); // the pending read receives the error
  }

  stop(): void {
    this.#wheel.unwatch(this);
  }
}

function tooLarge(capBytes: number): GatewayError {
  return new GatewayError("request_too_large", `Cannot read a body this large: expected at most ${capBytes} bytes`, {
    closeConnection: true,
  });
}

const TOO_SLOW = ["invalid_request", "Timed out waiting for the request body", {
  status: 408, // RFC 9110, 15.5.9
  closeConnection: true,
}] as const;

/** A chunked body stopped arriving. Its connection can and should be broken, see `abortAfter`. */
export class BodyTimeout extends GatewayError {
  constructor() {
    super(...TOO_SLOW);
  }
}

function brokenOff(cause: unknown): GatewayError {
  return new GatewayError("invalid_request", "Cannot read the body: it is incomplete or its framing is invalid", {
    closeConnection: true,
    cause,
  });
}

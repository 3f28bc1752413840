import { concatBytes } from "../../lib/bytes/concat_bytes.ts";

/** Which requests of a key or an account have their bodies kept: those that failed, or all. */
export type CaptureMode = "errors" | "all";

/** The bodies of one request as they are kept. */
export interface CapturedBodies {
  /** Null if the request had none, or none that is kept. */
  readonly request: Uint8Array<ArrayBuffer> | null;
  /** Null like `request`. */
  readonly response: Uint8Array<ArrayBuffer> | null;
  /** Whether a body was longer than the limit. */
  readonly isCut: boolean;
}

/** Bytes of bodies that requests under way hold. */
const MAX_HELD_BYTES = 33_554_432;

/**
 * Limits the memory of bodies until their requests end, which no memory budget counts: many long streams of an account
 * could hold any amount.
 */
export class CaptureMemory {
  #heldBytes = 0;

  /**
   * Creates memory of which nothing is taken.
   *
   * @param limitBytes Of all captures together. Default: 32 MiB.
   */
  constructor(readonly limitBytes: number = MAX_HELD_BYTES) {}

  /** Takes memory. Returns how many of the bytes may be kept. */
  take(bytes: number): number {
    const taken = Math.min(bytes, this.limitBytes - this.#heldBytes);
    this.#heldBytes += taken;
    return taken;
  }

  /** Returns memory. */
  release(bytes: number): void {
    this.#heldBytes -= bytes;
  }
}

/**
 * Copies the beginning of a request's body and of its response's, for the request log. Buffers of bodies are used again
 * by others, so the parts are copied when they pass.
 */
export class BodyCapture {
  #request: Uint8Array<ArrayBuffer> | null = null;
  readonly #response: Uint8Array<ArrayBuffer>[] = [];
  #responseBytes = 0;
  #heldBytes = 0;
  #isCut = false;
  #isEnded = false;

  /**
   * Creates a capture that holds nothing yet.
   *
   * @param maxBytes The most bytes of each body that are kept.
   * @param memory What all captures may hold. Default: as much as one may.
   */
  constructor(
    readonly mode: CaptureMode,
    readonly maxBytes: number,
    readonly memory: CaptureMemory = new CaptureMemory(2 * maxBytes),
  ) {}

  /**
   * Returns a capture of bodies that another thread has kept.
   *
   * @param kept Its buffers belong to the capture from then on.
   */
  static of(kept: CapturedBodies): BodyCapture {
    const capture = new BodyCapture("all", 0);
    capture.#request = kept.request;
    if (kept.response !== null) capture.#response.push(kept.response);
    capture.#isCut = kept.isCut;
    return capture;
  }

  /** Copies the body of the request. Only the first call has an effect. */
  takeRequest(body: Uint8Array): void {
    if (this.#request !== null) return;
    this.#request = this.#copy(body, this.maxBytes);
  }

  /** Copies what can be read of the body of a request, such as the texts of a form with files. */
  takePart(body: Uint8Array): void {
    this.takeRequest(body);
    this.#isCut = true;
  }

  /** Copies the next bytes of the response. */
  addResponse(bytes: Uint8Array): void {
    const part = this.#copy(bytes, this.maxBytes - this.#responseBytes);
    if (part.length === 0) return;
    this.#responseBytes += part.length;
    this.#response.push(part);
  }

  /** Returns the bodies, whose memory belongs to the caller from then on; null if there is nothing to keep. */
  take(isFailure: boolean): CapturedBodies | null {
    if (this.mode === "errors" && !isFailure) return null;
    const response = this.#response.length === 0 ? null : concatBytes(this.#response);
    return this.#request === null && response === null
      ? null
      : { request: this.#request, response, isCut: this.#isCut };
  }

  /** Ends the capture with its request. */
  release(): void {
    this.memory.release(this.#heldBytes);
    this.#heldBytes = 0;
    this.#isEnded = true;
  }

  /** Copies as much as there is room for. */
  #copy(bytes: Uint8Array, room: number): Uint8Array<ArrayBuffer> {
    const length = this.#isEnded ? 0 : this.memory.take(Math.min(bytes.length, room));
    this.#heldBytes += length;
    if (length < bytes.length) this.#isCut = true;
    return new Uint8Array(bytes.subarray(0, length)); // `slice` of a buffer of Node.js copies nothing
  }
}

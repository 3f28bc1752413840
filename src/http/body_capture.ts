import { concatBytes } from "../lib/concat_bytes.ts";

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

/**
 * Copies the beginning of a request's body and of its response's, for the request log. Buffers of bodies are used again
 * by others, so the parts are copied when they pass.
 */
export class BodyCapture {
  #request: Uint8Array<ArrayBuffer> | null = null;
  readonly #response: Uint8Array<ArrayBuffer>[] = [];
  #responseBytes = 0;
  #isCut = false;

  /**
   * Creates a capture that holds nothing yet.
   *
   * @param maxBytes The most bytes of each body that are kept.
   */
  constructor(readonly mode: CaptureMode, readonly maxBytes: number) {}

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
    this.#request = body.slice(0, this.maxBytes) as Uint8Array<ArrayBuffer>;
    if (body.length > this.maxBytes) this.#isCut = true;
  }

  /** Copies what can be read of the body of a request, such as the texts of a form with files. */
  takePart(body: Uint8Array): void {
    this.takeRequest(body);
    this.#isCut = true;
  }

  /** Copies the next bytes of the response. */
  addResponse(bytes: Uint8Array): void {
    const room = this.maxBytes - this.#responseBytes;
    if (bytes.length > room) this.#isCut = true;
    if (room <= 0) return;
    const part = bytes.slice(0, room) as Uint8Array<ArrayBuffer>;
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
}

/**
 * Links the caller's disconnection to a vendor's call. Before a request is sent to a vendor, a disconnection cancels
 * the work. Afterwards the vendor's response is read to its end, since the vendor makes the pictures and charges for
 * them.
 */
export class CallerLink {
  readonly #controller = new AbortController();
  #isTight = true;

  constructor(readonly callerSignal: AbortSignal) {
    if (callerSignal.aborted) this.end();
    callerSignal.addEventListener("abort", () => void (this.#isTight && this.end()), { once: true });
  }

  /** Whether the caller has disconnected. */
  get hasLeft(): boolean {
    return this.callerSignal.aborted;
  }

  /** Fires when the vendor's work must be cancelled. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** From now on a disconnection has no effect. */
  detach(): void {
    this.#isTight = false;
  }

  /** Cancels the vendor's work. */
  end(): void {
    this.#controller.abort();
  }
}

/**
 * The caller's leaving as a vendor's call sees it. Until a vendor is asked, leaving ends the work; from then on the
 * vendor is heard out: it makes the pictures and takes money for them whoever waits.
 */
export class CallerLink {
  readonly #controller = new AbortController();
  #isTight = true;

  constructor(readonly callerSignal: AbortSignal) {
    if (callerSignal.aborted) this.end();
    callerSignal.addEventListener("abort", () => void (this.#isTight && this.end()), { once: true });
  }

  /** Whether the caller is gone. */
  get hasLeft(): boolean {
    return this.callerSignal.aborted;
  }

  /** Fires when the vendor's work is to end. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** From now on the caller's leaving ends nothing. */
  detach(): void {
    this.#isTight = false;
  }

  /** Ends the vendor's work. */
  end(): void {
    this.#controller.abort();
  }
}

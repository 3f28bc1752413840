/**
 * The caller's leaving as a vendor's call sees it. Until the caller has got something, leaving ends the vendor's work; from
 * then on the vendor is heard out, because what was made must be counted.
 */
export class CallerLink {
  readonly #controller = new AbortController();
  #isTight = true;

  constructor(callerSignal: AbortSignal) {
    if (callerSignal.aborted) this.end();
    callerSignal.addEventListener("abort", () => void (this.#isTight && this.end()), { once: true });
  }

  /** Fires when the vendor's work is to end. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** From now on the caller's leaving ends nothing. */
  loosen(): void {
    this.#isTight = false;
  }

  /** Ends the vendor's work. */
  end(): void {
    this.#controller.abort();
  }
}

import type { Clock } from "../lib/clock.ts";
import { type DeadlineWheel, type Watched, wheelOf } from "../net/deadline.ts";

/** Most calls end before this time. Requesting the caller's signal costs more than the watch itself. */
const FIRST_CHECK_MS = 250;

/**
 * Cancels an exchange when no bytes arrive within a time limit, or when the caller disconnects. The shared deadline
 * wheel calls it when the limit may have passed. It then compares the actual waiting time and sets the next deadline.
 */
export class ExchangeWatch implements Watched {
  /** Why the exchange was cancelled; null if it was not. */
  verdict: "timeout" | "caller_left" | null = null;
  #cancel: () => void = () => {};
  #stopListening: () => void = () => {};
  readonly #wheel: DeadlineWheel;
  /** The time of the next check. */
  deadlineAt = 0;
  /**
   * When the wait for bytes began, in monotonic milliseconds; null while no read is pending. A slow caller does not
   * count as vendor silence.
   */
  #silentSince: number | null;

  /**
   * @param spanMs The maximum silence, from now on.
   * @param callerSignal See `OutboundCall`.
   */
  constructor(
    readonly clock: Clock,
    private spanMs: number,
    readonly callerSignal: (() => AbortSignal) | null,
  ) {
    this.#wheel = wheelOf(clock);
    this.#silentSince = clock.monotonicMs();
  }

  /** Starts watching. `cancel` ends the exchange. */
  start(cancel: () => void): void {
    this.#cancel = cancel;
    this.#sleep(Math.min(this.spanMs, FIRST_CHECK_MS));
  }

  /** Restarts the silence timer: a read is pending from now on. */
  onReadStart(): void {
    this.#silentSince = this.clock.monotonicMs();
  }

  /** Stops the silence timer: bytes arrived and no read is pending. */
  onReadEnd(): void {
    this.#silentSince = null;
  }

  /** Changes the maximum silence. */
  setLimit(spanMs: number): void {
    this.spanMs = spanMs;
    this.onReadStart();
    this.deadlineAt = Math.min(this.deadlineAt, this.clock.monotonicMs() + spanMs);
  }

  /** Stops watching, at the end of the exchange. */
  stop(): void {
    this.#wheel.unwatch(this);
    this.#stopListening();
  }

  #sleep(ms: number): void {
    this.deadlineAt = this.clock.monotonicMs() + ms;
    this.#wheel.watch(this);
  }

  /** Called by the deadline wheel. */
  onDeadline(): void {
    const remainingMs = this.#silentSince === null
      ? this.spanMs
      : this.#silentSince + this.spanMs - this.clock.monotonicMs();
    if (remainingMs <= 0) return this.#end("timeout");
    this.#listen();
    if (this.verdict === null) this.#sleep(remainingMs);
  }

  #listen(): void {
    const signal = this.callerSignal?.();
    if (!signal) return;
    if (signal.aborted) return this.#end("caller_left");
    this.#stopListening();
    const onAbort = () => this.#end("caller_left");
    signal.addEventListener("abort", onAbort);
    this.#stopListening = () => signal.removeEventListener("abort", onAbort);
  }

  #end(verdict: "timeout" | "caller_left"): void {
    this.verdict ??= verdict;
    this.stop();
    this.#cancel();
  }
}

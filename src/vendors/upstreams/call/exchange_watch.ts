import { NO_SLOT } from "../../../platform/lib/collections/slot_set.ts";
import type { DeadlineWheel, Watched } from "../../../platform/net/deadline.ts";

/** Most calls end before this time. Requesting the caller's signal costs more than the watch itself. */
const FIRST_CHECK_MS = 250;

/**
 * Cancels an exchange when no bytes arrive within a time limit, or when the caller disconnects. The shared deadline
 * wheel calls it when the limit may have passed. It then compares the actual waiting time and sets the next deadline.
 */
export class ExchangeWatch implements Watched {
  /** Why the exchange was cancelled; null if it was not. */
  verdict: "timeout" | "caller_left" | null = null;
  #cancel: (() => void) | null = null;
  #stopListening: (() => void) | null = null;
  /** The time of the next check. */
  deadlineAt = 0;
  /** Set by the wheel. */
  slot = NO_SLOT;
  /**
   * When the wait for bytes began, in monotonic milliseconds; null while no read is pending. A slow caller does not
   * count as vendor silence.
   */
  #silentSince: number | null = null;

  /**
   * @param wheel Calls it.
   * @param spanMs The maximum silence, from the start on.
   * @param callerSignal See `OutboundCall`.
   */
  constructor(
    readonly wheel: DeadlineWheel,
    private spanMs: number,
    readonly callerSignal: (() => AbortSignal) | null,
  ) {}

  /** Starts watching. `cancel` ends the exchange. */
  start(cancel: () => void): void {
    this.#cancel = cancel;
    const now = this.wheel.now();
    this.#silentSince = now;
    this.deadlineAt = now + Math.min(this.spanMs, FIRST_CHECK_MS);
    this.wheel.watch(this);
  }

  /** Restarts the silence timer: a read is pending from now on. */
  onReadStart(): void {
    const now = this.wheel.now();
    this.#silentSince = now;
    const deadlineAt = now + this.spanMs;
    if (deadlineAt < this.deadlineAt) this.deadlineAt = deadlineAt;
  }

  /** Stops the silence timer: bytes arrived and no read is pending. */
  onReadEnd(): void {
    this.#silentSince = null;
  }

  /** Changes the maximum silence, from the next read on. No read may be pending. */
  setLimit(spanMs: number): void {
    this.spanMs = spanMs;
    this.#silentSince = null;
  }

  /** Stops watching, at the end of the exchange. */
  stop(): void {
    this.wheel.unwatch(this);
    this.#stopListening?.();
  }

  /** Called by the deadline wheel. */
  onDeadline(): void {
    const now = this.wheel.now();
    const limitAt = (this.#silentSince ?? now) + this.spanMs;
    if (limitAt <= now) return this.#end("timeout");
    this.#listen();
    if (this.verdict !== null) return;
    this.deadlineAt = limitAt;
    this.wheel.watch(this);
  }

  #listen(): void {
    const signal = this.callerSignal?.();
    if (!signal) return;
    if (signal.aborted) return this.#end("caller_left");
    this.#stopListening?.();
    const onAbort = () => this.#end("caller_left");
    signal.addEventListener("abort", onAbort);
    this.#stopListening = () => signal.removeEventListener("abort", onAbort);
  }

  #end(verdict: "timeout" | "caller_left"): void {
    this.verdict ??= verdict;
    this.stop();
    this.#cancel?.();
  }
}

import type { Clock } from "../lib/clock.ts";
import { type DeadlineWheel, type Watched, wheelOf } from "../net/deadline.ts";

/** Most calls are over by then, and asking for a request's signal costs more than the watch itself. */
const PATIENCE_BEFORE_WATCHING_MS = 250;

/**
 * Watches one exchange: silence beyond a span while bytes are awaited, and the caller leaving. It is woken by the wheel
 * that all exchanges share when the span could be over, looks since when there is silence, and sleeps on.
 */
export class ExchangeWatch implements Watched {
  /** Why the exchange was cancelled, null if it was not. */
  verdict: "timeout" | "caller_left" | null = null;
  #cancel: () => void = () => {};
  #stopListening: () => void = () => {};
  readonly #wheel: DeadlineWheel;
  /** When to look next. */
  deadlineAt = 0;
  /**
   * Monotonic milliseconds; null while nobody awaits bytes: that a caller reads slowly is no silence of the vendor's.
   */
  #silentSince: number | null;

  /**
   * @param spanMs The longest silence, from now on.
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

  /** Begins; `cancel` ends the exchange. */
  start(cancel: () => void): void {
    this.#cancel = cancel;
    this.#sleep(Math.min(this.spanMs, PATIENCE_BEFORE_WATCHING_MS));
  }

  /** Bytes are awaited from now on: the silence counts anew. */
  awaits(): void {
    this.#silentSince = this.clock.monotonicMs();
  }

  /** Bytes came, and no more are awaited for now. */
  rests(): void {
    this.#silentSince = null;
  }

  /** From now on another span is the longest silence. */
  arm(spanMs: number): void {
    this.spanMs = spanMs;
    this.awaits();
    this.deadlineAt = Math.min(this.deadlineAt, this.clock.monotonicMs() + spanMs);
  }

  /** The exchange is over. */
  stop(): void {
    this.#wheel.unwatch(this);
    this.#stopListening();
  }

  #sleep(ms: number): void {
    this.deadlineAt = this.clock.monotonicMs() + ms;
    this.#wheel.watch(this);
  }

  /** For the wheel. */
  onDeadline(): void {
    const left = this.#silentSince === null ? this.spanMs : this.#silentSince + this.spanMs - this.clock.monotonicMs();
    if (left <= 0) return this.#end("timeout");
    this.#listen();
    if (this.verdict === null) this.#sleep(left);
  }

  #listen(): void {
    const signal = this.callerSignal?.();
    if (!signal) return;
    if (signal.aborted) return this.#end("caller_left");
    this.#stopListening();
    const leave = () => this.#end("caller_left");
    signal.addEventListener("abort", leave);
    this.#stopListening = () => signal.removeEventListener("abort", leave);
  }

  #end(verdict: "timeout" | "caller_left"): void {
    this.verdict ??= verdict;
    this.stop();
    this.#cancel();
  }
}

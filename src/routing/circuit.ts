import type { Clock } from "../lib/clock.ts";
import type { FailureScope } from "./failure_evidence.ts";

/** The states that a circuit can be in. */
export type CircuitState = "closed" | "open" | "half_open";

/** Settings of a circuit; times in milliseconds. */
export interface CircuitOptions {
  readonly clock: Clock;
  /** The first rest. */
  readonly restMs: number;
  /** The longest rest; each failed probe doubles the rest up to it. */
  readonly maxRestMs: number;
}

/** What a failure does to a circuit. */
export interface CircuitFailure {
  /** Whether the failed attempt was the probe. */
  readonly isProbe: boolean;
  /** Whom the circuit opens for; null when the failure does not suffice to open it. */
  readonly scope: FailureScope | null;
  /** The shortest rest, as the vendor asks for it, in milliseconds. */
  readonly minRestMs: number;
}

/**
 * One circuit: `closed` until it is opened, `open` for a rest, then `half_open`: one attempt is the probe, and the
 * circuit stays open for all others meanwhile. A success closes it; a failed probe opens it again for twice as long.
 * An open circuit can apply to one account alone: other accounts pass.
 */
export class Circuit {
  /** Failures since the last success. */
  failuresInARow = 0;
  /** When the rest ends, in monotonic milliseconds; null while closed. */
  #restEndsAt: number | null = null;
  #scope: FailureScope = { accountId: null };
  #restMs: number;
  #isProbing = false;

  /** @param options See {@linkcode CircuitOptions}. */
  constructor(readonly options: CircuitOptions) {
    this.#restMs = options.restMs;
  }

  /** Unix milliseconds when the rest ends; null while closed. */
  get restsUntil(): number | null {
    const { clock } = this.options;
    return this.#restEndsAt === null ? null : Math.round(clock.now() + this.#restEndsAt - clock.monotonicMs());
  }

  /** The state, as an operator is shown it. */
  get state(): CircuitState {
    if (this.#restEndsAt === null) return "closed";
    return this.#isProbing || this.options.clock.monotonicMs() >= this.#restEndsAt ? "half_open" : "open";
  }

  /** The one account that it is open for; null when it is closed or open for every account. */
  get accountId(): string | null {
    return this.#restEndsAt === null ? null : this.#scope.accountId;
  }

  /** Whether the account should be sent elsewhere. */
  isOpenFor(accountId: string): boolean {
    if (this.#restEndsAt === null || !this.#appliesTo(accountId)) return false;
    return this.#isProbing || this.options.clock.monotonicMs() < this.#restEndsAt;
  }

  /** An attempt starts; true when it is the probe. */
  onStart(accountId: string): boolean {
    if (this.#restEndsAt === null || this.isOpenFor(accountId) || !this.#appliesTo(accountId)) return false;
    this.#isProbing = true;
    return true;
  }

  /** An attempt succeeded. */
  onSuccess(): void {
    this.failuresInARow = 0;
    this.#restEndsAt = null;
    this.#restMs = this.options.restMs;
    this.#isProbing = false;
  }

  /** An attempt ended without a result that counts. */
  onNeutral(isProbe: boolean): void {
    if (isProbe) this.#isProbing = false;
  }

  /** An attempt failed. Attempts that began before the circuit opened do not lengthen its rest. */
  onFailure({ isProbe, scope, minRestMs }: CircuitFailure): void {
    this.failuresInARow++;
    const isWider = this.accountId !== null && scope?.accountId === null;
    // The rests that one account brought about are no measure for everybody.
    if (isWider) this.#restMs = this.options.restMs;
    if (scope !== null && (this.#restEndsAt === null || isProbe || isWider)) this.#open(scope, minRestMs);
    else if (isProbe) this.#isProbing = false;
  }

  #open(scope: FailureScope, minRestMs: number): void {
    const { clock, maxRestMs } = this.options;
    this.#scope = scope;
    this.#restEndsAt = clock.monotonicMs() + Math.min(Math.max(this.#restMs, minRestMs), maxRestMs);
    this.#restMs = Math.min(this.#restMs * 2, maxRestMs);
    this.#isProbing = false;
  }

  #appliesTo(accountId: string): boolean {
    return this.#scope.accountId === null || this.#scope.accountId === accountId;
  }
}

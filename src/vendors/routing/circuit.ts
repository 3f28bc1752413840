import type { Clock } from "../../platform/lib/basics/clock.ts";
import type { FailureScope } from "./failure_evidence.ts";

/** The states of a circuit. */
export type CircuitState = "closed" | "open" | "half_open";

/** Settings of a circuit; times in milliseconds. */
export interface CircuitOptions {
  readonly clock: Clock;
  /** How long the circuit stays open at first. */
  readonly restMs: number;
  /** The maximum open time; each failed probe doubles it up to this limit. */
  readonly maxRestMs: number;
}

/** How a failure affects a circuit. */
export interface CircuitFailure {
  /** Whether the failed attempt was the probe. */
  readonly isProbe: boolean;
  /** The accounts that the circuit opens for; null if the failure is not sufficient to open it. */
  readonly scope: FailureScope | null;
  /** The minimum open time that the vendor requests, in milliseconds. */
  readonly minRestMs: number;
}

/**
 * A circuit: `closed`; `open` for some time after it was opened; then `half_open`. One attempt is the probe, and the
 * circuit stays open for all others meanwhile. A success closes it. A failed probe opens it again for twice as long. An
 * open circuit can apply to one account only; other accounts are not affected.
 */
export class Circuit {
  /** Failures since the last success. */
  failuresInARow = 0;
  /** When the open time ends, in monotonic milliseconds; null while closed. */
  #restEndsAt: number | null = null;
  #scope: FailureScope = { accountId: null };
  #restMs: number;
  #isProbing = false;

  /** @param options See {@linkcode CircuitOptions}. */
  constructor(readonly options: CircuitOptions) {
    this.#restMs = options.restMs;
  }

  /** Unix milliseconds at which the open time ends; null while closed. */
  get restsUntil(): number | null {
    const { clock } = this.options;
    return this.#restEndsAt === null ? null : Math.round(clock.now() + this.#restEndsAt - clock.monotonicMs());
  }

  /** The state as shown to operators. */
  get state(): CircuitState {
    if (this.#restEndsAt === null) return "closed";
    return this.#isProbing || this.options.clock.monotonicMs() >= this.#restEndsAt ? "half_open" : "open";
  }

  /** The account that it is open for; null if it is closed or open for every account. */
  get accountId(): string | null {
    return this.#restEndsAt === null ? null : this.#scope.accountId;
  }

  /** Whether the account's requests should use another provider. */
  isOpenFor(accountId: string): boolean {
    if (this.#restEndsAt === null || !this.#appliesTo(accountId)) return false;
    return this.#isProbing || this.options.clock.monotonicMs() < this.#restEndsAt;
  }

  /** An attempt starts. Returns true if it is the probe. */
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

  /** An attempt ended without a relevant result. */
  onNeutral(isProbe: boolean): void {
    if (isProbe) this.#isProbing = false;
  }

  /** An attempt failed. Attempts that started before the circuit opened do not extend the open time. */
  onFailure({ isProbe, scope, minRestMs }: CircuitFailure): void {
    this.failuresInARow++;
    const isWider = this.accountId !== null && scope?.accountId === null;
    // The open time that one account caused does not apply to all accounts.
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

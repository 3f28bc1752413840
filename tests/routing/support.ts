import type { CircuitBreakerOptions, ProcessCircuitBreaker } from "../../src/vendors/routing/circuit_breaker.ts";
import { createCircuitBreaker } from "../../src/vendors/routing/circuit_breaker.ts";
import { type FailureFacts, type FailureKind, UpstreamFailure } from "../../src/vendors/upstreams/call/failure.ts";
import { ManualClock } from "../support/manual_clock.ts";

/** A failure of the provider `acme`. */
export function failureOf(kind: FailureKind, facts: Partial<FailureFacts> = {}): UpstreamFailure {
  return new UpstreamFailure("acme", kind, `Said the vendor: ${kind}`, { status: null, accepted: "no", ...facts });
}

/** Failures that a caller may have caused. */
export const SERVICE_FAILURES: Readonly<Record<string, UpstreamFailure>> = {
  "first-byte timeout": failureOf("timeout", { accepted: "unknown" }),
  "reset after the request": failureOf("unreachable", { accepted: "unknown" }),
  "429": failureOf("rate_limited", { status: 429 }),
  "503": failureOf("unavailable", { status: 503 }),
  "500": failureOf("unavailable", { status: 500 }),
  "401": failureOf("auth", { status: 401 }),
  "malformed head": failureOf("broken", { accepted: "unknown" }),
};

/** The connection failed. */
export const NO_CONNECTION = failureOf("unreachable");

/** A circuit breaker with short times, and ways to end attempts at the provider `acme`. */
export interface TestBreaker {
  readonly clock: ManualClock;
  readonly breaker: ProcessCircuitBreaker;
  /** One attempt that fails. */
  fail(accountId: string, error?: unknown, model?: string): void;
  /** One attempt that succeeds. */
  succeed(accountId: string, model?: string): void;
  isResting(accountId: string, model?: string): boolean;
}

/** Opens a breaker: three failures open a circuit, for 1 to 4 s, in a window of 60 s. */
export function openTestBreaker(options: Partial<CircuitBreakerOptions> = {}): TestBreaker {
  const clock = new ManualClock();
  const breaker = createCircuitBreaker({ clock, failuresToOpen: 3, restMs: 1000, maxRestMs: 4000, ...options });
  const target = (model: string) => ({ provider: "acme", model });
  return {
    clock,
    breaker,
    fail: (accountId, error = SERVICE_FAILURES["503"], model = "m") =>
      breaker.onStart(target(model), accountId).failed(error),
    succeed: (accountId, model = "m") => breaker.onStart(target(model), accountId).succeeded(),
    isResting: (accountId, model = "m") => breaker.availabilityOf(target(model), accountId) === "resting",
  };
}

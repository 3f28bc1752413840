import type { RecordedAttempt, RequestRecord } from "../../platform/http/request/request_record.ts";
import type { Clock } from "../../platform/lib/basics/clock.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import { markWork } from "../../platform/lib/process/own_heartbeat.ts";
import { traceHeaderLines } from "../../platform/lib/tracing/trace_context.ts";
import { withTraceLines } from "../../platform/lib/tracing/trace_scope.ts";
import { UpstreamFailure } from "../upstreams/call/failure.ts";
import type { Candidate } from "./candidates.ts";
import type { CircuitBreaker } from "./circuit_breaker.ts";
import { type FallbackRule, isFallbackAllowed } from "./fallback_rule.ts";
import { bestFailure } from "./helpful_failure.ts";

/** Limits when attempts may start. */
export interface AttemptGate {
  /**
   * Called before an attempt, which waits for the promise if there is one. If the promise rejects, the attempt is not
   * made and the next candidate is tried as after the same failure of a vendor.
   *
   * @param next The candidate that would be tried then.
   */
  enter(candidate: Candidate, next: Candidate | undefined): Promise<void> | void;
  /** Called after a failed attempt that was let in. */
  leave(): void;
}

/** Options of {@linkcode tryInOrder}. */
export interface FallbackOptions {
  readonly breaker: Pick<CircuitBreaker, "onStart">;
  /** The account that is charged. */
  readonly accountId: string;
  readonly rule: FallbackRule;
  /** Null if attempts may start at once. */
  readonly gate: AttemptGate | null;
  /** Called for every failure that is followed by another attempt. */
  readonly onFallback: (candidate: Candidate, error: unknown) => void;
  /** Collects the attempts. */
  readonly record: RequestRecord;
  readonly clock: Clock;
}

/**
 * Tries candidates in order, each once, until one succeeds. If all fail, the failure that is most helpful to the caller
 * is thrown. A failure that excludes further attempts is thrown at once. Source: docs/api/routing.md#fallback.
 *
 * @param candidates At least one.
 * @param attempt Resolves before the first byte is sent to the caller, so that another candidate can still be used.
 */
export function tryInOrder<T>(
  candidates: readonly Candidate[],
  options: FallbackOptions,
  attempt: (candidate: Candidate) => Promise<T>,
): Promise<T> {
  return tryAfter([], candidates, options, attempt);
}

function tryAfter<T>(
  failures: readonly unknown[],
  candidates: readonly Candidate[],
  options: FallbackOptions,
  attempt: (candidate: Candidate) => Promise<T>,
): Promise<T> {
  const candidate = candidates[failures.length];
  if (candidate === undefined) return Promise.reject(bestFailure(failures));
  const entering = options.gate?.enter(candidate, candidates[failures.length + 1]);
  if (!entering) return tryAt(candidate, failures, candidates, options, attempt);
  const waitedSince = options.clock.now();
  return entering.then(
    () => tryAt(candidate, failures, candidates, options, attempt),
    (error: unknown) => {
      // The provider was not called, so the circuit breaker gets no report.
      const recorded = options.record.beginAttempt(candidate.provider, candidate.model, waitedSince);
      recordFailure(recorded, error, options.clock);
      return afterFailure(error, failures, candidates, options, attempt);
    },
  );
}

function tryAt<T>(
  candidate: Candidate,
  failures: readonly unknown[],
  candidates: readonly Candidate[],
  options: FallbackOptions,
  attempt: (candidate: Candidate) => Promise<T>,
): Promise<T> {
  const { clock, record } = options;
  markWork("attempt", record.arrival.requestId, candidate.provider);
  const report = options.breaker.onStart(candidate, options.accountId);
  const recorded = record.beginAttempt(candidate.provider, candidate.model, clock.now());
  const { spanId } = recorded;
  const trying = record.trace === null || spanId === undefined
    ? started(attempt, candidate)
    : withTraceLines(traceHeaderLines(record.trace, spanId), () => started(attempt, candidate));
  return trying.then((result) => {
    report.succeeded();
    recorded.durationMs = clock.now() - recorded.startedAt;
    return result;
  }, (error: unknown) => {
    report.failed(error);
    options.gate?.leave();
    recordFailure(recorded, error, clock);
    return afterFailure(error, failures, candidates, options, attempt);
  });
}

function afterFailure<T>(
  error: unknown,
  failures: readonly unknown[],
  candidates: readonly Candidate[],
  options: FallbackOptions,
  attempt: (candidate: Candidate) => Promise<T>,
): Promise<T> {
  const candidate = candidates[failures.length]!;
  if (!isFallbackAllowed(error, options.rule)) return Promise.reject(error);
  if (failures.length + 1 < candidates.length) options.onFallback(candidate, error);
  return tryAfter([...failures, error], candidates, options, attempt);
}

/** An attempt that fails before it waits for anything fails like any other. */
function started<T>(attempt: (candidate: Candidate) => Promise<T>, candidate: Candidate): Promise<T> {
  try {
    return attempt(candidate);
  } catch (error) {
    return Promise.reject(error);
  }
}

/** Only messages of the gateway are recorded: any other can repeat the input. */
function recordFailure(recorded: RecordedAttempt, error: unknown, clock: Clock): void {
  recorded.durationMs = clock.now() - recorded.startedAt;
  if (error instanceof UpstreamFailure) {
    recorded.status = error.facts.status;
    recorded.vendorRequestId = error.facts.vendorRequestId ?? null;
    recorded.code = error.kind;
    recorded.message = error.loggedMessage;
  } else {
    recorded.code = error instanceof GatewayError ? error.code : "internal_error";
    recorded.message = error instanceof GatewayError ? error.details.loggedMessage ?? error.message : null;
  }
}

import { type ErrorCode, type FailureReason, GatewayError } from "../lib/gateway_error.ts";

/**
 * What went wrong between us and a vendor, as words to decide by. `unreachable`: no connection; `timeout`: no answer in
 * time; `broken`: an answer that is none (HTML, a redirect, cut short, another shape); `auth`: our key was refused;
 * `forbidden`: our key is good, but the model, the region or the content is not open to it; `rate_limited`; `invalid`:
 * the vendor refuses this request; `unavailable`: the vendor's own failure; `cancelled`: by us.
 */
export type FailureKind =
  | "unreachable"
  | "timeout"
  | "broken"
  | "auth"
  | "forbidden"
  | "rate_limited"
  | "invalid"
  | "unavailable"
  | "cancelled";

/**
 * What a failure says about the provider. `connection`: no connection came about, which no caller can cause; `service`:
 * a failure that a caller may have caused; `credential`: our key was refused, which a caller may have caused too;
 * `none`: nothing.
 */
export type FailureBlame = "connection" | "service" | "credential" | "none";

/** What is known of a failure beyond its kind. Undefined counts as absent. */
export interface FailureFacts {
  /** The vendor's HTTP status; null when there was none. */
  readonly status: number | null;
  /** Whether the vendor can have begun the work: `no` only when that is certain. */
  readonly accepted: "no" | "unknown";
  /** How long the vendor asks to be left alone; absent when it does not say. */
  readonly retryAfterSeconds?: number | undefined;
  /** The vendor's machine word. */
  readonly vendorCode?: string | undefined;
  /** The field that the vendor names. */
  readonly field?: string | undefined;
  /** By what clients tell failures of one code apart. */
  readonly reason?: FailureReason | undefined;
  /** True when the vendor's content rules forbid it, so that the same request fails there every time. */
  readonly isContentRefusal?: boolean | undefined;
  /** Decimal USD that the vendor takes although it failed; for the operator's log, never for the caller. */
  readonly costUsd?: string | undefined;
  /** What was thrown below, for the log. */
  readonly cause?: unknown;
}

/** A failure of an upstream. Its message is already free of secrets. */
export class UpstreamFailure extends Error {
  /** What stack traces call it. */
  override readonly name = "UpstreamFailure";

  /**
   * A failure with the facts to decide by.
   *
   * @param provider The name of the {@linkcode Provider} that failed.
   * @param kind The word to decide by.
   * @param message For people: the vendor's words or ours, free of secrets.
   * @param facts What is known beyond the kind; its `cause` becomes the error's.
   */
  constructor(
    readonly provider: string,
    readonly kind: FailureKind,
    message: string,
    readonly facts: FailureFacts,
  ) {
    super(message, { cause: facts.cause });
  }

  /** Whether another provider may succeed where this one failed. Source: docs/api/routing.md#fallback. */
  get isRetryable(): boolean {
    return this.kind !== "invalid" && this.kind !== "cancelled";
  }

  /** Whether the provider is at fault, and not this request. */
  get isProvidersFault(): boolean {
    return this.isRetryable && this.kind !== "forbidden";
  }

  /**
   * What it says about the provider's health. A 2xx that cannot be read says nothing: what was asked for may be
   * unreadable.
   */
  get blame(): FailureBlame {
    if (!this.isProvidersFault) return "none";
    if (this.kind === "auth") return "credential";
    const { status, accepted } = this.facts;
    const isUnsent = (this.kind === "unreachable" || this.kind === "timeout") && status === null && accepted === "no";
    if (isUnsent) return "connection";
    return this.kind === "broken" && isSuccess(status) ? "none" : "service";
  }
}

/** Kinds that no 5xx has by its status alone: the vendor's own code says that it refused. */
const REFUSALS: ReadonlySet<FailureKind> = new Set(["auth", "forbidden", "rate_limited", "invalid"]);

/**
 * The failure of a job's creation: a 5xx or a redirect may have come after the job began, unless its body refuses the
 * job.
 *
 * @param resentStatuses Statuses after which the vendor's own client creates the job again. Default: none.
 */
export function withDoubt(failure: UpstreamFailure, resentStatuses: readonly number[] = []): UpstreamFailure {
  const { provider, kind, message, facts } = failure;
  const { status } = facts;
  if (status === null || (status >= 400 && status < 500)) return failure;
  const isRefused = resentStatuses.includes(status) || (status >= 500 && REFUSALS.has(kind));
  return new UpstreamFailure(provider, kind, message, { ...facts, accepted: isRefused ? "no" : "unknown" });
}

function isSuccess(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300;
}

/**
 * The kind that a vendor's HTTP status means. A redirect is no answer: it is followed nowhere, as our key would go
 * along.
 */
export function failureKindOf(status: number): FailureKind {
  if (status < 400) return "broken";
  if (status === 401) return "auth";
  // Vendors forbid regions, models and contents with it; an error body that blames the key is read as `auth`.
  if (status === 403) return "forbidden";
  if (status === 429) return "rate_limited";
  if (status === 408 || status === 504) return "timeout";
  // Our own account with the vendor is empty: nothing that this caller could mend.
  if (status === 402) return "unavailable";
  return status < 500 ? "invalid" : "unavailable";
}

/** Statuses by which clients of a vendor's own format wait and try again. */
const RETRY_STATUSES: ReadonlySet<number | null> = new Set([503, 529]);

/**
 * The failure as the caller is told. Source: docs/api/errors.md#vendor-failures.
 *
 * @param isCallersFormat Whether the caller speaks the vendor's own format, so that its client knows a 503 or 529 of
 * it.
 */
export function gatewayErrorFor(failure: UpstreamFailure, isCallersFormat = false): GatewayError {
  const { status, retryAfterSeconds, vendorCode, field, reason } = failure.facts;
  const details = { retryAfterSeconds, vendorCode, field, reason, provider: failure.provider, cause: failure };
  const said = failure.message;
  switch (failure.kind) {
    case "auth":
      // The vendor's own words would send the caller looking for a fault in its own key.
      return new GatewayError(
        "upstream_auth_failed",
        `Provider "${failure.provider}" refused the gateway's credential`,
        { provider: failure.provider, cause: failure },
      );
    case "forbidden":
      return new GatewayError("permission_denied", said, details);
    case "rate_limited":
      return new GatewayError("rate_limited", said, details);
    case "invalid":
      return new GatewayError(codeOf(status), said, { ...details, status: status ?? undefined });
    case "timeout":
      return new GatewayError("upstream_timeout", said, details);
    default: {
      const kept = isCallersFormat && RETRY_STATUSES.has(status) ? status ?? undefined : undefined;
      return new GatewayError("upstream_error", said, { ...details, status: kept });
    }
  }
}

function codeOf(status: number | null): ErrorCode {
  if (status === 404) return "not_found";
  if (status === 413) return "request_too_large";
  return "invalid_request";
}

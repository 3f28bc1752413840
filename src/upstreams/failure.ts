import { type ErrorCode, GatewayError } from "../lib/gateway_error.ts";

/**
 * What went wrong between us and a vendor, as words to decide by. `unreachable`: no connection; `timeout`: no answer in
 * time; `broken`: an answer that is none (HTML, a redirect, cut short, another shape); `auth`: our key was refused; `rate_limited`;
 * `invalid`: the vendor refuses this request; `unavailable`: the vendor's own failure; `cancelled`: by us.
 */
export type FailureKind =
  | "unreachable"
  | "timeout"
  | "broken"
  | "auth"
  | "rate_limited"
  | "invalid"
  | "unavailable"
  | "cancelled";

/** What is known of a failure beyond its kind. */
export interface FailureFacts {
  /** The vendor's HTTP status; null when there was none. */
  readonly status: number | null;
  /** Whether the vendor can have begun the work: `no` only when that is certain. */
  readonly accepted: "no" | "unknown";
  /** How long the vendor asks to be left alone; absent when it does not say. */
  readonly retryAfterSeconds?: number;
  /** The vendor's machine word. */
  readonly vendorCode?: string;
  /** The field that the vendor names. */
  readonly field?: string;
  /** True when the vendor's content rules forbid it, so that the same request fails there every time. */
  readonly isContentRefusal?: boolean;
  /** Decimal USD that the vendor takes although it failed; for the operator's log, never for the caller. */
  readonly costUsd?: string;
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

  /** Whether another provider may succeed where this one failed. Source: DESIGN section 4, "Routing". */
  get isRetryable(): boolean {
    return this.kind !== "invalid" && this.kind !== "cancelled";
  }

  /** Whether it says something about the provider's health, and not about this request. */
  get isProvidersFault(): boolean {
    return this.isRetryable;
  }
}

/** The kind that a vendor's HTTP status means. A redirect is no answer: it is followed nowhere, as our key would go along. */
export function failureKindOf(status: number): FailureKind {
  if (status < 400) return "broken";
  if (status === 401 || status === 403) return "auth";
  if (status === 429) return "rate_limited";
  if (status === 408 || status === 504) return "timeout";
  // Our own account with the vendor is empty: nothing that this caller could mend.
  if (status === 402) return "unavailable";
  return status < 500 ? "invalid" : "unavailable";
}

/** The failure as the caller is told. Source: DESIGN section 4, "Errors". */
export function gatewayErrorFor(failure: UpstreamFailure): GatewayError {
  const { status, retryAfterSeconds, vendorCode, field } = failure.facts;
  const details = { retryAfterSeconds, vendorCode, field, provider: failure.provider, cause: failure };
  const said = failure.message;
  switch (failure.kind) {
    case "auth":
      // The vendor's own words would send the caller looking for a fault in its own key.
      return new GatewayError(
        "upstream_auth_failed",
        `Provider "${failure.provider}" refused the gateway's credential`,
        { provider: failure.provider, cause: failure },
      );
    case "rate_limited":
      return new GatewayError("rate_limited", said, details);
    case "invalid":
      return new GatewayError(codeOf(status), said, { ...details, status: status ?? undefined });
    case "timeout":
      return new GatewayError("upstream_timeout", said, details);
    default:
      return new GatewayError("upstream_error", said, details);
  }
}

function codeOf(status: number | null): ErrorCode {
  if (status === 404) return "not_found";
  if (status === 413) return "request_too_large";
  return "invalid_request";
}

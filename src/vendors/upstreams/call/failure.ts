import { type ErrorCode, type FailureReason, GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import type { ConnectionCause } from "../../../platform/net/http1/connection_error.ts";
import { ERROR_TEXTS } from "./error_texts.ts";

/**
 * The kind of a vendor failure, on which decisions are based.
 * - `unreachable`: no connection.
 * - `timeout`: no response in time.
 * - `broken`: not a valid response (HTML, a redirect, cut off, another shape).
 * - `auth`: the vendor rejects the gateway's key.
 * - `forbidden`: the key is valid, but the model, the region or the content is not permitted.
 * - `rate_limited`: the vendor's rate limit is exceeded.
 * - `invalid`: the vendor rejects this request.
 * - `unavailable`: a failure of the vendor.
 * - `cancelled`: cancelled by the gateway.
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
 * What a failure implies for the provider's health.
 * - `connection`: no connection was established, which no caller can cause.
 * - `service`: a failure that a caller may have caused.
 * - `credential`: the vendor rejected the gateway's key, which a caller may have caused too.
 * - `none`: nothing.
 */
export type FailureBlame = "connection" | "service" | "credential" | "none";

/** The facts of a failure in addition to its kind. Undefined means absent. */
export interface FailureFacts {
  /** The vendor's HTTP status; null without a response. */
  readonly status: number | null;
  /** Whether the vendor may have started the work. `no` only if that is certain. */
  readonly accepted: "no" | "unknown";
  /** The delay that the vendor requests before a retry; absent if it requests none. */
  readonly retryAfterSeconds?: number | undefined;
  /** The vendor's error code. */
  readonly vendorCode?: string | undefined;
  /** The field that the vendor names. */
  readonly field?: string | undefined;
  /** The reason code that distinguishes failures with the same code. */
  readonly reason?: FailureReason | undefined;
  /** The gateway's own sentence, if the message is the vendor's; absent if it is the gateway's. */
  readonly ownMessage?: string | undefined;
  /** True if the vendor's content rules forbid the request, so that a retry at this vendor fails again. */
  readonly isContentRefusal?: boolean | undefined;
  /** The vendor's id of the request, for its support. */
  readonly vendorRequestId?: string | undefined;
  /** The vendor's clock at its response, in Unix milliseconds; absent if a refusal does not state it. */
  readonly vendorTime?: number | undefined;
  /** Decimal USD that the vendor bills despite the failure. For the operator's log, never for the caller. */
  readonly costUsd?: string | undefined;
  /** The underlying error, for the log. */
  readonly cause?: unknown;
  /** Why no connection was established, for the operator; absent if one was, or the reason is unknown. */
  readonly connectionCause?: ConnectionCause | undefined;
  /** Whether the vendor no longer has the model. Default: false. */
  readonly isModelGone?: boolean;
  /** Whether the vendor says that the same request fails again. Default: false. */
  readonly isFinal?: boolean;
}

/** A failure of an upstream. Its message contains no secrets. */
export class UpstreamFailure extends Error {
  /** The name in stack traces. */
  override readonly name = "UpstreamFailure";

  /**
   * Creates a failure.
   *
   * @param provider The name of the failed {@linkcode Provider}.
   * @param kind The kind on which decisions are based.
   * @param message The vendor's or the gateway's message for people, without secrets.
   * @param facts Further facts. Its `cause` becomes the error's cause.
   */
  constructor(
    readonly provider: string,
    readonly kind: FailureKind,
    message: string,
    readonly facts: FailureFacts,
  ) {
    super(message, { cause: facts.cause });
  }

  /**
   * The message for logs: the gateway's own sentence and the vendor's code. A vendor's own text can quote the prompt.
   */
  get loggedMessage(): string {
    const { ownMessage, vendorCode } = this.facts;
    if (ownMessage === undefined) return this.message;
    return vendorCode !== undefined && CODE.test(vendorCode) ? `${ownMessage} (${vendorCode})` : ownMessage;
  }

  /** Whether another provider may succeed. Source: docs/api/routing.md#fallback. */
  get isRetryable(): boolean {
    return this.kind !== "invalid" && this.kind !== "cancelled";
  }

  /** Whether the provider caused the failure, and not this request. */
  get isProvidersFault(): boolean {
    return this.isRetryable && this.kind !== "forbidden";
  }

  /**
   * Whether it is a 403 that names neither the place nor the model, such as that of a key which the vendor blocks
   * without a word. It proves nothing alone.
   */
  get mayBlameCredential(): boolean {
    if (this.kind !== "forbidden" || this.facts.status !== 403) return false;
    return !ERROR_TEXTS.deniedPlaceOrModel.test(`${this.facts.vendorCode ?? ""} ${this.message}`);
  }

  /**
   * What the failure implies for the provider's health. An unreadable 2xx implies nothing, because the request may have
   * caused it.
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

/** A vendor's code that is a term and no sentence. */
const CODE = /^[\w.:/-]{1,64}$/;

/** Kinds that no 5xx has by status alone: the vendor's own error code reports the refusal. */
const REFUSALS: ReadonlySet<FailureKind> = new Set(["auth", "forbidden", "rate_limited", "invalid"]);

/**
 * Converts the failure of a job creation. After a 5xx or a redirect the job may exist, unless the body refuses it.
 *
 * @param resentStatuses Statuses after which the vendor's own client creates the job again. Default: none.
 */
export function creationFailureOf(failure: UpstreamFailure, resentStatuses: readonly number[] = []): UpstreamFailure {
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
 * Returns the failure kind of a vendor's HTTP status. A redirect is a failure: it is never followed, because the key
 * would be sent along.
 */
export function failureKindOf(status: number): FailureKind {
  if (status < 400) return "broken";
  if (status === 401) return "auth";
  // Vendors use it for regions, models and contents. An error body that reports the key is read as `auth`.
  if (status === 403) return "forbidden";
  if (status === 429) return "rate_limited";
  if (status === 408 || status === 504) return "timeout";
  // The gateway's account with the vendor has no balance. The caller cannot change that.
  if (status === 402) return "unavailable";
  return status < 500 ? "invalid" : "unavailable";
}

/**
 * Codes with the status 429 of accounts without a balance: no caller can wait for that. Source: OpenAI, guide Error
 * codes; Moonshot API reference, "Errors".
 */
const NO_BALANCE: ReadonlySet<string | null> = new Set([
  "insufficient_quota",
  "credit_balance_exhausted",
  "billing_hard_limit_reached",
  "billing_not_active",
  "exceeded_current_quota_error",
]);

/** Whether a vendor reports that the gateway's account has no balance left, with the status of a rate limit. */
export function isBalanceExhausted(
  { code, message }: { readonly code: string | null; readonly message: string },
): boolean {
  return NO_BALANCE.has(code) || ERROR_TEXTS.zaiBalanceExhausted.test(message);
}

/** Statuses after which clients of the vendor's own format wait and retry. */
const RETRY_STATUSES: ReadonlySet<number | null> = new Set([503, 529]);

/**
 * Converts a failure to the error for the caller. Source: docs/api/errors.md#vendor-failures.
 *
 * @param isCallersFormat Whether the caller uses the vendor's own format, so that its client handles a 503 or 529.
 */
export function gatewayErrorFor(failure: UpstreamFailure, isCallersFormat = false): GatewayError {
  const { status, retryAfterSeconds, vendorCode, field, reason, isFinal } = failure.facts;
  const { message, provider, loggedMessage } = failure;
  const details = { retryAfterSeconds, vendorCode, field, reason, provider, loggedMessage, isFinal, cause: failure };
  switch (failure.kind) {
    case "auth":
      // The vendor's message would suggest that the caller's own key is invalid.
      return new GatewayError(
        "upstream_auth_failed",
        `Provider "${failure.provider}" rejected the gateway's credential`,
        { provider: failure.provider, cause: failure },
      );
    case "forbidden":
      return new GatewayError("permission_denied", message, details);
    case "rate_limited":
      return new GatewayError("rate_limited", message, details);
    case "invalid":
      return new GatewayError(codeOf(failure.facts), message, { ...details, status: status ?? undefined });
    case "timeout":
      return new GatewayError("upstream_timeout", message, details);
    default: {
      const forwardedStatus = isCallersFormat && RETRY_STATUSES.has(status) ? status ?? undefined : undefined;
      return new GatewayError("upstream_error", message, { ...details, status: forwardedStatus });
    }
  }
}

function codeOf({ status, isModelGone }: FailureFacts): ErrorCode {
  if (status === 404) return isModelGone === true ? "model_not_found" : "not_found";
  if (status === 413) return "request_too_large";
  return "invalid_request";
}

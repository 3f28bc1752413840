/** The words that a failure is named by. Source: docs/api/errors.md#codes. */
export type ErrorCode =
  | "invalid_request"
  | "invalid_provider_type"
  | "provider_type_unavailable"
  | "unauthorized"
  | "invalid_api_key"
  | "upstream_auth_failed"
  | "insufficient_credits"
  | "permission_denied"
  | "not_found"
  | "model_not_found"
  | "method_not_allowed"
  | "conflict"
  | "request_too_large"
  | "rate_limited"
  /** The gateway has no capacity for the request at the moment. */
  | "overloaded"
  /** The gateway cannot write to its store at the moment. */
  | "storage_unavailable"
  | "upstream_error"
  | "route_error"
  | "upstream_timeout"
  | "internal_error";

/** What an error reports besides its code and message. Undefined counts as absent. */
export interface ErrorDetails {
  /** The field at fault, in the caller's spelling, as a path: `messages[2].content`. */
  readonly field?: string | undefined;
  /** Overrides the status of the code: an upstream's own 4xx keeps its number, 415 is an invalid request. */
  readonly status?: number | undefined;
  /** Whole seconds after which a retry can succeed; rendered as `Retry-After`. */
  readonly retryAfterSeconds?: number | undefined;
  /**
   * Whether the same request fails again, although clients retry the status. Rendered as `X-Should-Retry: false`.
   * Default: false.
   */
  readonly isFinal?: boolean | undefined;
  /** The methods that the path supports; rendered as `Allow` (RFC 9110, 15.5.6). */
  readonly allow?: readonly string[] | undefined;
  /** Header fields of the response, names in lower case. Only the video endpoints use them. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** What a video endpoint answers as `error.code` in place of the code. Source: docs/api/errors.md#video-codes. */
  readonly finerCode?: FinerCode | undefined;
  /**
   * The vendor's own error code (`context_length_exceeded`), returned where the caller's protocol has a field for it.
   */
  readonly vendorCode?: string | undefined;
  /** Distinguishes failures with the same code. The message protocol renders it as `error.details`. */
  readonly reason?: FailureReason | undefined;
  /** The limit that a request exceeds. The content protocol renders it as `QuotaFailure`. */
  readonly quota?: ExceededQuota | undefined;
  /** The name of the provider that failed, rendered as `X-Service-Provider`. */
  readonly provider?: string | undefined;
  /** True if the connection must not be reused. */
  readonly closeConnection?: boolean | undefined;
  /** The message for logs, if the message repeats a vendor's text, which can quote the prompt. Default: the message. */
  readonly loggedMessage?: string | undefined;
  /** For the log only. Never returned to the caller. */
  readonly cause?: unknown;
}

/** Why a request failed, for client code. Source: Messages API reference, "Errors", `error.details`. */
export interface FailureReason {
  /** `thread_not_found`. */
  readonly errorCode: string;
  /** The features that cannot be combined with the rest of the request. */
  readonly unsupported?: readonly string[];
}

/** The limit of a key or an account that a request exceeds. Source: docs/api/limits.md#rate-and-spending. */
export interface ExceededQuota {
  /** Whose limit it is. */
  readonly holder: "key" | "account";
  /** The limit, by the name that operators use. */
  readonly limit: "rpm" | "tpm" | "concurrency" | "budget";
  /** The value of the limit, for people. */
  readonly value: string;
  /** When a budget resets, in Unix milliseconds; null if it does not. Absent for other limits. */
  readonly resetAt?: number | null;
}

/**
 * Words that only the video endpoints have; each is an invalid request of its own kind. Source:
 * docs/api/errors.md#video-codes.
 */
export type FinerCode =
  | "invalid_callback_url"
  | "references_conflict"
  | "too_many_references"
  | "cancel_not_supported"
  | "cancel_failed";

const HTTP_STATUS: Readonly<Record<ErrorCode, number>> = {
  invalid_request: 400,
  invalid_provider_type: 400,
  provider_type_unavailable: 400,
  unauthorized: 401,
  invalid_api_key: 401,
  upstream_auth_failed: 401,
  insufficient_credits: 402,
  permission_denied: 403,
  not_found: 404,
  model_not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  request_too_large: 413,
  rate_limited: 429,
  overloaded: 503,
  storage_unavailable: 503,
  upstream_error: 502,
  route_error: 502,
  upstream_timeout: 504,
  internal_error: 500,
};

/**
 * An error that is returned to the caller. Any layer may throw it; the handler of the caller's protocol renders it.
 */
export class GatewayError extends Error {
  /** The name in stack traces. */
  override readonly name = "GatewayError";

  /**
   * Creates an error for the caller.
   *
   * @param code The stable code that clients branch on.
   * @param message For people: the failed action first, values in quotes, no full stop. Never a key, a prompt or an
   * output.
   * @param details See {@linkcode ErrorDetails}.
   */
  constructor(readonly code: ErrorCode, message: string, readonly details: ErrorDetails = {}) {
    super(message, { cause: details.cause });
  }

  /** The HTTP status of the response. */
  get status(): number {
    return this.details.status ?? HTTP_STATUS[this.code];
  }
}

/** Creates a 400 that names the field and the expected value: `Cannot read "n": expected 1 to 10, got 11`. */
export function invalidField(field: string, expected: string, details: ErrorDetails = {}): GatewayError {
  return new GatewayError("invalid_request", `Cannot read "${field}": ${expected}`, { ...details, field });
}

/**
 * Converts any thrown value to the error to return: a {@linkcode GatewayError} as it is, any other value as
 * `internal_error`.
 */
export function gatewayErrorOf(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  return new GatewayError("internal_error", "Unexpected internal error", { cause: thrown });
}

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
  /** The gateway itself has no room for the request now. */
  | "overloaded"
  /** The gateway cannot write to its store now. */
  | "storage_unavailable"
  | "upstream_error"
  | "route_error"
  | "upstream_timeout"
  | "internal_error";

/** What a caller can be told beyond code and message; `cause` is for the log alone. Undefined counts as absent. */
export interface ErrorDetails {
  /** The field at fault, in the caller's spelling, as a path: `messages[2].content`. */
  readonly field?: string | undefined;
  /** Overrides the status of the code: an upstream's own 4xx keeps its number, 415 is an invalid request. */
  readonly status?: number | undefined;
  /** Whole seconds until a retry can help; rendered as `Retry-After`. */
  readonly retryAfterSeconds?: number | undefined;
  /** Methods that the path has; rendered as `Allow` (RFC 9110, 15.5.6). */
  readonly allow?: readonly string[] | undefined;
  /** Header fields that the answer carries, names in lower case; only the video endpoints send them. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** What a video endpoint answers as `error.code` in place of the code. Source: docs/api/errors.md#video-codes. */
  readonly finerCode?: FinerCode | undefined;
  /** The vendor's own machine word (`context_length_exceeded`), kept where the caller's protocol has a place for it. */
  readonly vendorCode?: string | undefined;
  /** By what clients tell failures of one code apart, rendered as `error.details` by the message protocol alone. */
  readonly reason?: FailureReason | undefined;
  /** The name of the provider that failed, rendered as `X-Service-Provider`. */
  readonly provider?: string | undefined;
  /** True when the connection must not be used again. */
  readonly closeConnection?: boolean | undefined;
  /** For the log, never for the caller. */
  readonly cause?: unknown;
}

/** Why a request failed, for client code. Source: Messages API reference, "Errors", `error.details`. */
export interface FailureReason {
  /** `thread_not_found`. */
  readonly errorCode: string;
  /** The features that cannot be had together with the rest of the request. */
  readonly unsupported?: readonly string[];
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

/** The one failure a caller is meant to see. Thrown anywhere, rendered once, by the protocol the caller speaks. */
export class GatewayError extends Error {
  /** What stack traces call it. */
  override readonly name = "GatewayError";

  /**
   * A failure as the caller is to be told it.
   *
   * @param code The stable word to branch on.
   * @param message For people: the action first, values quoted, no full stop; never a key, a prompt or an output.
   * @param details See {@linkcode ErrorDetails}.
   */
  constructor(readonly code: ErrorCode, message: string, readonly details: ErrorDetails = {}) {
    super(message, { cause: details.cause });
  }

  /** The HTTP status of the answer. */
  get status(): number {
    return this.details.status ?? HTTP_STATUS[this.code];
  }
}

/** A 400 that names the field and says what was expected: `Cannot read "n": expected 1 to 10, got 11`. */
export function invalidField(field: string, expected: string, details: ErrorDetails = {}): GatewayError {
  return new GatewayError("invalid_request", `Cannot read "${field}": ${expected}`, { ...details, field });
}

/** Any thrown thing as the error to answer with: a {@linkcode GatewayError} itself, all else `internal_error`. */
export function gatewayErrorOf(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  return new GatewayError("internal_error", "Unexpected internal error", { cause: thrown });
}

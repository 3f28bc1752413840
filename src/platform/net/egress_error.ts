/**
 * Why a guarded request failed:
 * - `refused`: the address violates a rule; no connection was made.
 * - `unresolved`: the name has no address, or no resolver responded.
 * - `connect`: the connection timed out.
 * - `tls`: the certificate is invalid, or the server offers no accepted version of TLS.
 * - `broken`: the connection closed early, or the response is not valid HTTP or has an unrequested coding.
 * - `redirect`: the response is a redirect that is not followed.
 * - `timeout`: the total time limit was reached.
 * - `too_large`: the body exceeds the limit.
 * - `aborted`: the caller cancelled the request.
 */
export type EgressFailure =
  | "refused"
  | "unresolved"
  | "connect"
  | "tls"
  | "broken"
  | "redirect"
  | "timeout"
  | "too_large"
  | "aborted";

/** The rule that a refused address violates. */
export type EgressRule =
  | "syntax"
  | "length"
  | "scheme"
  | "userinfo"
  | "port"
  | "host"
  | "local_name"
  | "private_address"
  | "own_address";

/**
 * A guarded request that failed. The message may be returned to a caller: it states the rule, never what a name
 * resolves to.
 */
export class EgressError extends Error {
  override readonly name = "EgressError";

  /**
   * @param kind The code to branch on.
   * @param message Starts with "expected …" or "the connection …" and follows the name of the failed action.
   * @param details `rule` for `refused`; `verdict` and `cause` are for the log only.
   */
  constructor(
    readonly kind: EgressFailure,
    message: string,
    readonly details: { readonly rule?: EgressRule; readonly verdict?: string; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: details.cause });
  }
}

/** Creates the error for an address that violates a rule. */
export function refusal(rule: EgressRule, expected: string, verdict?: string): EgressError {
  return new EgressError("refused", expected, verdict === undefined ? { rule } : { rule, verdict });
}

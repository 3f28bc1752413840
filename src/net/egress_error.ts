/**
 * Why a guarded request failed:
 * - `refused`: the address breaks a rule; nothing was connected to.
 * - `unresolved`: its name has no address, or no resolver answered.
 * - `connect`: nobody accepted the connection in time.
 * - `tls`: the server could not prove who it is, or speaks no TLS that we accept.
 * - `broken`: the connection broke, or what came was no HTTP or coded in a way that was not asked for.
 * - `redirect`: the answer leads on where it is not followed.
 * - `timeout`: it took too long as a whole.
 * - `too_large`: the body is longer than the cap.
 * - `aborted`: whoever asked gave up.
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

/** The rule that a refused address breaks. */
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
 * A guarded request that failed. The message may be shown to a caller: it tells the rule, never what lies behind a
 * name.
 */
export class EgressError extends Error {
  override readonly name = "EgressError";

  /**
   * @param kind The word to branch on.
   * @param message Of the form "expected …" or "the connection …", to be read after what was attempted.
   * @param details `rule` for `refused`; `verdict` and `cause` for the log alone.
   */
  constructor(
    readonly kind: EgressFailure,
    message: string,
    readonly details: { readonly rule?: EgressRule; readonly verdict?: string; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: details.cause });
  }
}

/** An address that breaks a rule. */
export function refusal(rule: EgressRule, expected: string, verdict?: string): EgressError {
  return new EgressError("refused", expected, { rule, verdict });
}

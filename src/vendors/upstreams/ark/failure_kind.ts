import { chat } from "../../../conversation/codecs/chat/mod.ts";
import type { FailureKind } from "../call/failure.ts";
import type { VendorRefusal } from "../call/outbound_call.ts";

const CONTENT_RULES = /SensitiveContent|PolicyViolation|PrivacyInformation|RiskDetect/i;

/** The failure kinds of Ark's error codes. The first match applies. Source: Ark API reference, "Error codes". */
const FAILURE_KINDS: readonly (readonly [pattern: RegExp, kind: FailureKind])[] = [
  [CONTENT_RULES, "invalid"],
  [/^(?:Invalid|Missing)Parameter/, "invalid"],
  [/RateLimit|^QuotaExceeded|^ServerOverloaded|^SetLimitExceeded/, "rate_limited"],
  // The account has no balance. The caller cannot change that, and the key is valid.
  [/^AccountOverdue/, "unavailable"],
  [/^Authentication/, "auth"],
  [/^(?:AccessDenied|ModelNotOpen|InvalidEndpoint)/, "forbidden"],
  [/^InternalService/, "unavailable"],
];

/** Returns the failure kind of an Ark error code; null for an unknown code. */
export function arkFailureKindOf(code: string | null | undefined): FailureKind | null {
  return FAILURE_KINDS.find(([pattern]) => pattern.test(code ?? ""))?.[1] ?? null;
}

/** Whether the error code means that Ark's content rules forbid the request or its result. */
export function isArkRefusal(code: string | null | undefined): boolean {
  return CONTENT_RULES.test(code ?? "");
}

/** Reads an error body, `{error: {code, message}}`. */
export function readArkError(body: unknown): VendorRefusal {
  const error = chat.upstream.readError(body);
  return { ...error, kind: arkFailureKindOf(error.code) ?? undefined, isContentRefusal: isArkRefusal(error.code) };
}

import { chat } from "../../conversation/codecs/chat/mod.ts";
import type { FailureKind } from "../failure.ts";
import type { VendorRefusal } from "../outbound_call.ts";

const CONTENT_RULES = /SensitiveContent|PolicyViolation|PrivacyInformation|RiskDetect/i;

/** What Ark's words mean, the first that fits. Source: Ark API reference, "Error codes". */
const MEANINGS: readonly (readonly [words: RegExp, kind: FailureKind])[] = [
  [CONTENT_RULES, "invalid"],
  [/^(?:Invalid|Missing)Parameter/, "invalid"],
  [/RateLimit|^QuotaExceeded|^ServerOverloaded|^SetLimitExceeded/, "rate_limited"],
  // The account is empty: nothing that a caller could mend, and no doubt about the key.
  [/^AccountOverdue/, "unavailable"],
  [/^Authentication/, "auth"],
  [/^(?:AccessDenied|ModelNotOpen|InvalidEndpoint)/, "forbidden"],
  [/^InternalService/, "unavailable"],
];

/** The kind of failure that a word of Ark's means; null when it is not known. */
export function arkFailureKindOf(code: string | null | undefined): FailureKind | null {
  return MEANINGS.find(([words]) => words.test(code ?? ""))?.[1] ?? null;
}

/** Whether the word says that Ark's content rules forbid a request or its result. */
export function isArkRefusal(code: string | null | undefined): boolean {
  return CONTENT_RULES.test(code ?? "");
}

/** Reads an error body, `{error: {code, message}}`. */
export function readArkError(body: unknown): VendorRefusal {
  const said = chat.upstream.readError(body);
  return { ...said, kind: arkFailureKindOf(said.code) ?? undefined, isContentRefusal: isArkRefusal(said.code) };
}

import * as z from "zod";
import { chat } from "../../../conversation/codecs/chat/mod.ts";
import type { FailureKind } from "../call/failure.ts";
import type { VendorRefusal } from "../call/outbound_call.ts";

/** Error codes for requests or results that violate the vendor's content rules. */
const CONTENT_RULES = /^(?:DataInspection|IPInfringement|FaqRuleBlocked)/;

/**
 * The failure kinds of the vendor's error codes. The first match applies. Source: Model Studio API reference, "Error
 * codes".
 */
const FAILURE_KINDS: readonly (readonly [pattern: RegExp, kind: FailureKind])[] = [
  [CONTENT_RULES, "invalid"],
  [/^(?:InvalidApiKey|InvalidAccessKey)/, "auth"],
  [/^(?:AccessDenied|Model\.AccessDenied|ModelNotFound)/, "forbidden"],
  // The account has no balance, or its free allowance is used up. The caller cannot change that.
  [/^(?:Arrearage|AllocationQuota|PrepaidBillOverdue|PostpaidBillOverdue|CommodityNotPurchased)/, "unavailable"],
  [/^(?:Throttling|LimitRequests)/, "rate_limited"],
  [/^(?:InvalidParameter|BadRequest|UnsupportedOperation|InvalidURL)/, "invalid"],
  [/^(?:InternalError|SystemError|ServiceUnavailable)/, "unavailable"],
];

const ErrorBody = z.object({ code: z.string(), message: z.string().nullish() });

/** Returns the failure kind of a vendor's error code; undefined for an unknown code. */
export function alibabaFailureKindOf(code: string | null | undefined): FailureKind | undefined {
  return FAILURE_KINDS.find(([pattern]) => pattern.test(code ?? ""))?.[1];
}

/** Whether the error code means that the vendor's content rules forbid the request or its result. */
export function isAlibabaRefusal(code: string | null | undefined): boolean {
  return CONTENT_RULES.test(code ?? "");
}

/** Reads an error body: `{code, message}`, or the error format of the default protocol. */
export function readAlibabaError(body: unknown): VendorRefusal {
  const own = ErrorBody.safeParse(body).data;
  const error = own
    ? { message: own.message ?? "", code: own.code, field: null, retryAfterSeconds: null }
    : chat.upstream.readError(body);
  return { ...error, kind: alibabaFailureKindOf(error.code), isContentRefusal: isAlibabaRefusal(error.code) };
}

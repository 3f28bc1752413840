import * as z from "zod";
import { chat } from "../../conversation/codecs/chat/mod.ts";
import type { FailureKind } from "../failure.ts";
import type { VendorRefusal } from "../outbound_call.ts";

/** Codes by which the vendor's content rules forbid a request or its result. */
const CONTENT_RULES = /^(?:DataInspection|IPInfringement|FaqRuleBlocked)/;

/** What the vendor's words mean, the first that fits. Source: Model Studio API reference, "Error codes". */
const MEANINGS: readonly (readonly [words: RegExp, kind: FailureKind])[] = [
  [CONTENT_RULES, "invalid"],
  [/^(?:InvalidApiKey|InvalidAccessKey)/, "auth"],
  [/^(?:AccessDenied|Model\.AccessDenied|ModelNotFound)/, "forbidden"],
  // The account is empty, or its free allowance is used up: nothing that a caller could mend.
  [/^(?:Arrearage|AllocationQuota|PrepaidBillOverdue|PostpaidBillOverdue|CommodityNotPurchased)/, "unavailable"],
  [/^(?:Throttling|LimitRequests)/, "rate_limited"],
  [/^(?:InvalidParameter|BadRequest|UnsupportedOperation|InvalidURL)/, "invalid"],
  [/^(?:InternalError|SystemError|ServiceUnavailable)/, "unavailable"],
];

const Told = z.object({ code: z.string(), message: z.string().nullish() });

/** The kind of failure that a word of the vendor's means; undefined when it is not known. */
export function alibabaFailureKindOf(code: string | null | undefined): FailureKind | undefined {
  return MEANINGS.find(([words]) => words.test(code ?? ""))?.[1];
}

/** Whether the word says that the vendor's content rules forbid a request or its result. */
export function isAlibabaRefusal(code: string | null | undefined): boolean {
  return CONTENT_RULES.test(code ?? "");
}

/** Reads an error body: `{code, message}`, or as the default protocol spells errors. */
export function readAlibabaError(body: unknown): VendorRefusal {
  const told = Told.safeParse(body).data;
  const said = told
    ? { message: told.message ?? "", code: told.code, field: null, retryAfterSeconds: null }
    : chat.upstream.readError(body);
  return { ...said, kind: alibabaFailureKindOf(said.code), isContentRefusal: isAlibabaRefusal(said.code) };
}

import * as z from "zod";
import type { FailureKind } from "../call/failure.ts";
import type { VendorRefusal } from "../call/outbound_call.ts";
import { ownValue } from "../../../platform/lib/collections/own_value.ts";

/** Vidu's error codes: `reason` of an error body, `err_code` of a failed job. */

/** The content rules forbid the input or the result. Source: Vidu API documentation, "Error Code". */
const CONTENT_CODES: ReadonlySet<string> = new Set([
  "AuditSubmitIllegal",
  "CreationPolicyViolation",
  "TaskPromptPolicyViolation",
]);

/** Codes with the status 400 that are no fault of the request. Source: as above. */
const FAILURE_KINDS: Readonly<Record<string, FailureKind>> = {
  // The gateway's account has no credits.
  CreditInsufficient: "unavailable",
  ModelUnavailable: "unavailable",
  OperationInProcess: "rate_limited",
};

const text = z.string().nullish().catch(null);
const ErrorBody = z.object({ reason: text, message: text });

/** Whether the code means that the vendor's content rules forbid the request or its result. */
export function isViduRefusal(code: string | null | undefined): boolean {
  return CONTENT_CODES.has(code ?? "");
}

/** Reads an error body: `{code, reason, message, metadata}`, in which `code` is the HTTP status. */
export function readViduError(body: unknown): VendorRefusal {
  const { reason = null, message = null } = ErrorBody.safeParse(body).data ?? {};
  return {
    message: message ?? "",
    code: reason ?? null,
    field: null,
    retryAfterSeconds: null,
    kind: ownValue(FAILURE_KINDS, reason ?? ""),
    isContentRefusal: isViduRefusal(reason) ? true : undefined,
  };
}

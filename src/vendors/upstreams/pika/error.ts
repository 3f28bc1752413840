import { chat } from "../../../conversation/codecs/chat/mod.ts";
import { ownValue } from "../../../platform/lib/collections/own_value.ts";
import type { FailureKind } from "../call/failure.ts";
import type { VendorRefusal } from "../call/outbound_call.ts";

/**
 * Pika's error codes: `error.code` of a refused request and of a failed job. A refusal can contain the job that it
 * ended. Source: Pika API documentation, the schema of a job, as Comfy Router publishes it (autumn 2026).
 */

/** The content rules forbid the input or the result. */
const CONTENT_CODE = "content_moderation";

/** Codes whose status would blame the request or the key. */
const FAILURE_KINDS: Readonly<Record<string, FailureKind>> = {
  // The gateway's account has no money left, has reached its own limit, or lacks the membership.
  insufficient_balance: "unavailable",
  cycle_limit_exceeded: "unavailable",
  usage_limit_exceeded: "unavailable",
  membership_required: "unavailable",
  admission_suspended: "unavailable",
  rate_limited: "rate_limited",
  invalid_input: "invalid",
  [CONTENT_CODE]: "invalid",
};

/** Reads an error body: `{message}`, or a job with `error: {code, message}`. */
export function readPikaError(body: unknown): VendorRefusal {
  const error = chat.upstream.readError(body);
  return { ...error, kind: kindOf(error.code), isContentRefusal: isPikaRefusal(error.code) ? true : undefined };
}

/** The failure kind of an error code; undefined if the status decides. */
export function kindOf(code: string | null): FailureKind | undefined {
  return ownValue(FAILURE_KINDS, code ?? "");
}

/** Whether the code means that the vendor's content rules forbid the request or its result. */
export function isPikaRefusal(code: string | null | undefined): boolean {
  return code === CONTENT_CODE;
}

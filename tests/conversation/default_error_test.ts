import { assertEquals } from "@std/assert";
import { writeDefaultError } from "../../src/conversation/parts/reply/default_error.ts";
import { type ErrorCode, GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";

/** The code that callers receive for a vendor's failure. */
function shown(code: ErrorCode, vendorCode?: string): unknown {
  const error = new GatewayError(code, "no", { provider: "some", ...(vendorCode === undefined ? {} : { vendorCode }) });
  return (writeDefaultError(error).error as { code: string }).code;
}

Deno.test("a vendor's code is kept when it belongs to this protocol or a compatible vendor", () => {
  for (const word of ["context_length_exceeded", "insufficient_quota", "InvalidParameter", "respect_moderation"]) {
    assertEquals(shown("invalid_request", word), word);
  }
});

Deno.test("codes of other protocols are converted", () => {
  for (const word of ["RESOURCE_EXHAUSTED", "RATE_LIMIT_EXCEEDED", "rate_limit_error", undefined]) {
    assertEquals(shown("rate_limited", word), "rate_limit_exceeded");
  }
  for (const word of ["PERMISSION_DENIED", "permission_error", "forbidden"]) {
    assertEquals(shown("permission_denied", word), "permission_denied");
  }
  assertEquals(shown("not_found", "NOT_FOUND"), "not_found");
  assertEquals(shown("invalid_request", "SAFETY"), "content_policy_violation");
  assertEquals(shown("upstream_error", "server_error"), "upstream_error");
});

Deno.test("the gateway's own rate limit keeps the gateway's code", () => {
  const { error } = writeDefaultError(new GatewayError("rate_limited", "no"));
  assertEquals((error as { code: string }).code, "rate_limited");
});

import { assertEquals } from "@std/assert";
import { chat } from "../../../../src/conversation/codecs/chat/mod.ts";
import { GatewayError } from "../../../../src/platform/lib/basics/gateway_error.ts";
import type { ErrorCode, ErrorDetails } from "../../../../src/platform/lib/basics/gateway_error.ts";

const NOTHING = { message: "", code: null, field: null, retryAfterSeconds: null };

function write(code: ErrorCode, details: ErrorDetails = {}) {
  return chat.caller.writeError(new GatewayError(code, "Because", details), "req_1").error;
}

Deno.test("chat error body has message, type, code and field", () => {
  assertEquals(write("invalid_request", { field: "n" }), {
    message: "Because",
    type: "invalid_request_error",
    code: "invalid_request",
    param: "n",
  });
});

for (
  const [code, type] of [
    ["invalid_provider_type", "invalid_provider_type"],
    ["provider_type_unavailable", "provider_type_unavailable"],
    ["unauthorized", "authentication_error"],
    ["invalid_api_key", "authentication_error"],
    ["upstream_auth_failed", "upstream_auth_failed"],
    ["insufficient_credits", "insufficient_credits"],
    ["permission_denied", "permission_error"],
    ["model_not_found", "not_found_error"],
    ["method_not_allowed", "invalid_request_error"],
    ["request_too_large", "invalid_request_error"],
    ["rate_limited", "rate_limit_error"],
    ["upstream_error", "upstream_error"],
    ["upstream_timeout", "upstream_error"],
    ["internal_error", "api_error"],
  ] as const
) {
  Deno.test(`chat error body has the type ${type} for ${code}`, () => {
    assertEquals(write(code), { message: "Because", type, code, param: null });
  });
}

Deno.test("chat error body keeps a vendor's code for rejected requests, not for the vendor's own failures", () => {
  const details = { vendorCode: "context_length_exceeded" };
  assertEquals((write("invalid_request", details) as { code: string }).code, "context_length_exceeded");
  assertEquals((write("upstream_error", details) as { code: string }).code, "upstream_error");
});

Deno.test("chat error reader finds message and code in every vendor's shape", () => {
  const read = chat.upstream.readError;
  const plain = { message: "No", code: "bad", field: "n", retryAfterSeconds: null };
  assertEquals(read({ error: { message: "No", type: "t", code: "bad", param: "n" } }), plain);
  assertEquals(read([{ error: { message: "No", code: 400, status: "INVALID_ARGUMENT" } }]).code, "INVALID_ARGUMENT");
  assertEquals(read({ error: "No" }).message, "No");
  assertEquals(read({ object: "error", message: "No", type: "invalid_request_error" }), {
    ...NOTHING,
    message: "No",
    code: "invalid_request_error",
  });
  assertEquals(read({ detail: [{ loc: ["body"], msg: "No" }] }).message, "No");
  assertEquals(read({ detail: "No" }).message, "No");
  assertEquals(read({ message: { detail: [{ msg: "No" }] } }).message, "No");
  assertEquals(read({ error: { message: "No", code: 429 } }).code, null);
  assertEquals(read({ error: { message: "x", details: [{ retryDelay: "1.5s" }] } }).retryAfterSeconds, 2);
});

Deno.test("chat error reader finds nothing in other bodies", () => {
  for (const junk of [null, undefined, "<html>", 5, [], {}, { error: null }, { error: [] }]) {
    assertEquals(chat.upstream.readError(junk), NOTHING);
  }
});

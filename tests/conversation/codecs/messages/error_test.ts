import { assertEquals } from "@std/assert";
import { type ErrorCode, GatewayError } from "../../../../src/platform/lib/basics/gateway_error.ts";
import { messages } from "../../../../src/conversation/codecs/messages/mod.ts";

function typeFor(code: ErrorCode, details = {}): unknown {
  const { error } = messages.caller.writeError(new GatewayError(code, "x", details), "req_1");
  return (error as { type: unknown }).type;
}

function messageFor(message: string, details = {}): unknown {
  const { error } = messages.caller.writeError(new GatewayError("invalid_request", message, details), "req_1");
  return (error as { message: unknown }).message;
}

Deno.test("messages error has the format's body", () => {
  assertEquals(messages.caller.writeError(new GatewayError("model_not_found", "No such model"), "req_1"), {
    type: "error",
    error: { type: "not_found_error", message: "No such model" },
    request_id: "req_1",
  });
});

Deno.test("messages error has the format's type for each failure", () => {
  const words: [code: ErrorCode, type: string][] = [
    ["invalid_request", "invalid_request_error"],
    ["invalid_provider_type", "invalid_provider_type"],
    ["provider_type_unavailable", "provider_type_unavailable"],
    ["unauthorized", "authentication_error"],
    ["upstream_auth_failed", "authentication_error"],
    ["insufficient_credits", "billing_error"],
    ["permission_denied", "permission_error"],
    ["not_found", "not_found_error"],
    ["method_not_allowed", "invalid_request_error"],
    ["conflict", "conflict_error"],
    ["request_too_large", "request_too_large"],
    ["rate_limited", "rate_limit_error"],
    ["upstream_error", "api_error"],
    ["upstream_timeout", "timeout_error"],
    ["internal_error", "api_error"],
  ];
  for (const [code, type] of words) assertEquals(typeFor(code), type);
  assertEquals(typeFor("invalid_request", { status: 413 }), "request_too_large");
  for (const vendorCode of ["overloaded_error", "server_is_overloaded", "UNAVAILABLE"]) {
    assertEquals(typeFor("upstream_error", { vendorCode }), "overloaded_error");
  }
  assertEquals(typeFor("upstream_error", { status: 529 }), "overloaded_error");
});

Deno.test("messages error reports a prompt that is too long in the words that tools search for", () => {
  const overflows: [message: string, told: string][] = [
    ["prompt is too long: 201 tokens > 200 maximum", "prompt is too long: 201 tokens > 200 maximum"],
    [
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 130001 tokens.",
      "prompt is too long: 130001 tokens > 128000 maximum",
    ],
    [
      "The input token count (1200000) exceeds the maximum number of tokens allowed (1000000).",
      "prompt is too long: 1200000 tokens > 1000000 maximum",
    ],
    [
      "Your input exceeds the context window of gpt-4-0613.",
      "prompt is too long: Your input exceeds the context window of gpt-4-0613.",
    ],
  ];
  for (const [message, told] of overflows) assertEquals(messageFor(message), told);
  assertEquals(messageFor("Too much", { vendorCode: "context_length_exceeded" }), "prompt is too long: Too much");
  assertEquals(messageFor('Cannot read "n"', { field: "n" }), 'Cannot read "n"');
});

Deno.test("messages error reads a vendor's error in any shape", () => {
  const read = (body: unknown) => {
    const { message, code, field } = messages.upstream.readError(body);
    return [message, code, field];
  };
  const body = (type: string, message: string) => ({ type: "error", error: { type, message } });
  assertEquals(read(body("overloaded_error", "Overloaded")), ["Overloaded", "overloaded_error", null]);
  assertEquals(read(body("invalid_request_error", "max_tokens: 9 > 8, which is the maximum")), [
    "max_tokens: 9 > 8, which is the maximum",
    "invalid_request_error",
    "max_tokens",
  ]);
  assertEquals(
    read(body("invalid_request_error", "messages.1.content.0.text: Field required"))[2],
    "messages.1.content.0.text",
  );
  assertEquals(
    read(body("invalid_request_error", "prompt is too long: 9 tokens > 8 maximum"))[1],
    "context_length_exceeded",
  );
  assertEquals(read({ error: "plain" }), ["plain", null, null]);
  assertEquals(read({ message: "flat" }), ["flat", null, null]);
  assertEquals(read({ detail: "fast" }), ["fast", null, null]);
  assertEquals(read(" words "), ["words", null, null]);
  for (const junk of ["<html><body>502</body></html>", null, undefined, 5, [], {}, { error: null }, { error: [] }]) {
    assertEquals(read(junk), ["", null, null]);
  }
});

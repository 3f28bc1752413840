import { assertEquals } from "@std/assert";
import { content } from "../../../../src/conversation/codecs/content/mod.ts";
import { type ErrorCode, GatewayError } from "../../../../src/platform/lib/basics/gateway_error.ts";

const STATUSES: readonly (readonly [code: ErrorCode, http: number, status: string])[] = [
  ["invalid_request", 400, "INVALID_ARGUMENT"],
  ["unauthorized", 401, "UNAUTHENTICATED"],
  ["upstream_auth_failed", 401, "UNAUTHENTICATED"],
  ["insufficient_credits", 402, "FAILED_PRECONDITION"],
  ["permission_denied", 403, "PERMISSION_DENIED"],
  ["model_not_found", 404, "NOT_FOUND"],
  ["method_not_allowed", 405, "UNIMPLEMENTED"],
  ["conflict", 409, "ABORTED"],
  ["request_too_large", 413, "INVALID_ARGUMENT"],
  ["rate_limited", 429, "RESOURCE_EXHAUSTED"],
  ["upstream_error", 502, "UNAVAILABLE"],
  ["route_error", 502, "UNAVAILABLE"],
  ["upstream_timeout", 504, "DEADLINE_EXCEEDED"],
  ["internal_error", 500, "INTERNAL"],
];

for (const [code, http, status] of STATUSES) {
  Deno.test(`writeError writes ${code} as ${http} ${status}`, () => {
    const body = content.caller.writeError(new GatewayError(code, "No"), "req_1");
    assertEquals(body, { error: { code: http, message: "No", status } });
  });
}

for (const code of ["invalid_provider_type", "provider_type_unavailable"] as const) {
  Deno.test(`writeError sets error.type to ${code}`, () => {
    assertEquals(content.caller.writeError(new GatewayError(code, "No"), "req_1"), {
      error: { code: 400, message: "No", status: "INVALID_ARGUMENT", type: code },
    });
  });
}

Deno.test("writeError keeps a vendor's status, and writes field and delay as details", () => {
  const details = { status: 415, field: "contents", retryAfterSeconds: 3 };
  assertEquals(content.caller.writeError(new GatewayError("invalid_request", "No", details), "req_1"), {
    error: {
      code: 415,
      message: "No",
      status: "INVALID_ARGUMENT",
      details: [
        {
          "@type": "type.googleapis.com/google.rpc.BadRequest",
          fieldViolations: [{ field: "contents", description: "No" }],
        },
        { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "3s" },
      ],
    },
  });
});

Deno.test("readError finds message, code, field and delay", () => {
  const body = {
    error: {
      code: 429,
      message: "Quota",
      status: "RESOURCE_EXHAUSTED",
      details: [
        { "@type": "…QuotaFailure", violations: [] },
        { "@type": "…RetryInfo", retryDelay: "34.4s" },
        { "@type": "…BadRequest", fieldViolations: [{ field: "contents[0]" }] },
      ],
    },
  };
  const expected = { message: "Quota", code: "RESOURCE_EXHAUSTED", field: "contents[0]", retryAfterSeconds: 35 };
  assertEquals(content.upstream.readError(body), expected);
  assertEquals(content.upstream.readError([body]), expected);
  assertEquals(content.upstream.readError(JSON.stringify([body])), expected);
});

Deno.test("readError prefers the reason in ErrorInfo, and looks into a message that is an error itself", () => {
  const details = [{ "@type": "…ErrorInfo", reason: "API_KEY_INVALID" }];
  const bad = { code: 400, message: "API key not valid", status: "INVALID_ARGUMENT", details };
  assertEquals(content.upstream.readError({ error: bad }).code, "API_KEY_INVALID");
  const nested = content.upstream.readError({ error: { code: 400, message: JSON.stringify({ error: bad }) } });
  assertEquals([nested.message, nested.code], ["API key not valid", "API_KEY_INVALID"]);
});

Deno.test("readError detects a prompt that is too long", () => {
  const message = "The input token count (1049000) exceeds the maximum number of tokens allowed (1048576).";
  assertEquals(
    content.upstream.readError({ error: { message, status: "INVALID_ARGUMENT" } }).code,
    "context_length_exceeded",
  );
});

const JUNK: readonly (readonly [body: unknown, message: string])[] = [
  [null, ""],
  [{}, ""],
  [[], ""],
  [5, ""],
  ["<html><h1>502</h1></html>", ""],
  ["upstream connect error", "upstream connect error"],
  [{ error: "broken" }, "broken"],
  [{ error: { message: { a: 1 } } }, ""],
];

for (const [body, message] of JUNK) {
  Deno.test(`readError reads ${JSON.stringify(body)}`, () => {
    assertEquals(content.upstream.readError(body), { message, code: null, field: null, retryAfterSeconds: null });
  });
}

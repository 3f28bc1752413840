import { assertEquals } from "@std/assert";
import { failureOf } from "../../src/conversation/parts/reply/stream_failure.ts";

const FAILURES: readonly (readonly [status: number | null, code: string, told: number])[] = [
  [null, "upstream_error", 502],
  [400, "invalid_request", 400],
  [422, "invalid_request", 422],
  [401, "upstream_error", 502],
  [403, "permission_denied", 403],
  [429, "rate_limited", 429],
  [500, "upstream_error", 502],
  [504, "upstream_timeout", 504],
  [529, "upstream_error", 502],
];

for (const [status, code, told] of FAILURES) {
  Deno.test(`failureOf() converts a failure of status ${status} to ${code} with ${told}`, () => {
    const error = failureOf({ type: "error", message: "no", vendorCode: "word", status });
    assertEquals([error.code, error.status, error.message, error.details.vendorCode], [code, told, "no", "word"]);
  });
}

Deno.test("failureOf() has a message when the vendor sent none", () => {
  const { message, details } = failureOf({ type: "error", message: "", vendorCode: null, status: null });
  assertEquals([message, details], ["The provider reported a failure without a message", {}]);
});

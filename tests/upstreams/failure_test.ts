import { assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  type FailureFacts,
  type FailureKind,
  failureKindOf,
  gatewayErrorFor,
  UpstreamFailure,
} from "../../src/vendors/upstreams/call/failure.ts";

function failureWith(kind: FailureKind, facts: Partial<FailureFacts> = {}): UpstreamFailure {
  return new UpstreamFailure("acme", kind, "Said the vendor", { status: null, accepted: "no", ...facts });
}

Deno.test("failureKindOf() has a kind for every status, and is invalid only for a 4xx", () => {
  fc.assert(
    fc.property(fc.integer({ min: 100, max: 999 }), (status) => {
      const isRequests = failureKindOf(status) === "invalid";
      if (isRequests) assertEquals(status >= 400 && status < 500, true);
      if (status < 400) assertEquals(failureKindOf(status), "broken");
    }),
  );
});

for (
  const [kind, isRetryable] of [
    ["unreachable", true],
    ["timeout", true],
    ["broken", true],
    ["auth", true],
    ["forbidden", true],
    ["rate_limited", true],
    ["unavailable", true],
    ["invalid", false],
    ["cancelled", false],
  ] as const
) {
  Deno.test(`UpstreamFailure "${kind}" is ${isRetryable ? "" : "not "}retried at another provider`, () => {
    const failure = failureWith(kind);
    assertEquals(failure.isRetryable, isRetryable);
    assertEquals(failure.isProvidersFault, isRetryable && kind !== "forbidden");
  });
}

for (
  const [name, kind, facts, blame] of [
    ["no connection", "unreachable", {}, "connection"],
    ["no connection in time", "timeout", {}, "connection"],
    ["a reset after the request was written", "unreachable", { accepted: "unknown" }, "service"],
    ["a reset within the answer", "unreachable", { accepted: "unknown", status: 200 }, "service"],
    ["a time-out", "timeout", { accepted: "unknown" }, "service"],
    ["429", "rate_limited", { status: 429 }, "service"],
    ["500", "unavailable", { status: 500 }, "service"],
    ["a redirect", "broken", { status: 302 }, "service"],
    ["no HTTP", "broken", { accepted: "unknown" }, "service"],
    ["a 2xx that cannot be read", "broken", { accepted: "unknown", status: 200 }, "none"],
    ["401", "auth", { status: 401 }, "credential"],
    ["403 about a model", "forbidden", { status: 403 }, "none"],
    ["400", "invalid", { status: 400 }, "none"],
    ["a caller that left", "cancelled", { accepted: "unknown" }, "none"],
  ] as const
) {
  Deno.test(`UpstreamFailure blames "${blame}" for ${name}`, () => {
    assertEquals(failureWith(kind, facts).blame, blame);
  });
}

Deno.test("a 403 may blame the credential unless it names a model or a region", () => {
  const mayBlame = (status: number, message: string, vendorCode?: string) =>
    new UpstreamFailure("acme", "forbidden", message, { accepted: "no", status, vendorCode }).mayBlameCredential;
  assertEquals(mayBlame(403, "Forbidden"), true);
  assertEquals(mayBlame(403, "Request not allowed", "forbidden"), true);
  assertEquals(mayBlame(403, "Country, region, or territory not supported"), false);
  assertEquals(mayBlame(403, "Forbidden", "unsupported_country_region_territory"), false);
  assertEquals(mayBlame(403, "No access", "model_not_found"), false);
  assertEquals(mayBlame(403, "Your account does not have access to this model"), false);
  assertEquals(mayBlame(404, "Forbidden"), false);
});

Deno.test("gatewayErrorFor() keeps a vendor's 503 and 529 for callers of its own format only", () => {
  for (const status of [500, 502, 503, 529]) {
    const failure = failureWith("unavailable", { status });
    assertEquals(gatewayErrorFor(failure).status, 502);
    assertEquals(gatewayErrorFor(failure, true).status, status === 503 || status === 529 ? status : 502);
  }
});

Deno.test("gatewayErrorFor() converts a vendor's 403 for model, region or content to a 403", () => {
  const error = gatewayErrorFor(failureWith("forbidden", { status: 403 }));
  assertEquals([error.code, error.status, error.message], ["permission_denied", 403, "Said the vendor"]);
});

Deno.test("gatewayErrorFor() never contains a vendor's message about the gateway's key", () => {
  const error = gatewayErrorFor(failureWith("auth", { status: 401, vendorCode: "invalid_api_key" }));
  assertEquals(error.message, `Provider "acme" rejected the gateway's credential`);
  assertEquals([error.code, error.status, error.details.vendorCode], ["upstream_auth_failed", 401, undefined]);
});

Deno.test("gatewayErrorFor() keeps the vendor's message, field, code and retry delay", () => {
  const facts = { status: 400, vendorCode: "context_length_exceeded", field: "messages" };
  const invalid = gatewayErrorFor(failureWith("invalid", facts));
  assertEquals([invalid.message, invalid.status], ["Said the vendor", 400]);
  assertEquals([invalid.details.vendorCode, invalid.details.field], ["context_length_exceeded", "messages"]);
  const busy = gatewayErrorFor(failureWith("rate_limited", { status: 429, retryAfterSeconds: 7 }));
  assertEquals([busy.status, busy.details.retryAfterSeconds, busy.details.provider], [429, 7, "acme"]);
});

Deno.test("gatewayErrorFor() returns 502 without a vendor response, and 504 for a timeout", () => {
  for (const kind of ["unreachable", "broken", "unavailable"] as const) {
    assertEquals(gatewayErrorFor(failureWith(kind)).status, 502);
  }
  assertEquals(gatewayErrorFor(failureWith("timeout")).status, 504);
});

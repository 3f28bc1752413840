import type { CallerFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";
import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { addReportedHeaders, HeaderFields, requestHeadersOf } from "../../src/platform/http/request/headers.ts";
import { CODECS, FORMATS } from "../support/formats.ts";

/** All response headers that vendors of all formats send, and those that a proxy may add. */
const ANSWER = new Headers({
  "content-type": "application/json",
  "retry-after": "3",
  "retry-after-ms": "2500",
  "x-ratelimit-limit-requests": "100",
  "x-ratelimit-remaining-tokens": "10",
  "x-ratelimit-reset-tokens": "1m30.5s",
  "openai-processing-ms": "12",
  "openai-version": "2020-10-01",
  "anthropic-ratelimit-requests-reset": "2026-11-21T00:00:00Z",
  "anthropic-ratelimit-input-tokens-remaining": "40000",
  // Headers for the operator only.
  "openai-organization": "org-x",
  "openai-project": "proj_x",
  "x-ratelimit-limit-project-tokens": "5",
  "anthropic-organization-id": "x",
  "anthropic-ratelimit-unified-overage-status": "rejected",
  "anthropic-priority-input-tokens-limit": "7",
  "x-api-key": "k",
  authorization: "Bearer k",
  "set-cookie": "a=b",
  // Hosts between gateway and vendor.
  "cf-ray": "1-FRA",
  server: "x",
  via: "1.1 inner-host",
  "x-served-by": "inner-host",
  "x-envoy-upstream-service-time": "5",
  "server-timing": "gfet4t7; dur=5",
  "alt-svc": 'h3=":443"',
  location: "https://inner-host/",
  "access-control-allow-origin": "*",
  // Headers that a caller would take for the gateway's own.
  ratelimit: '"a";r=1;t=2',
  "ratelimit-policy": '"a";q=1',
  "x-request-id": "req",
  "request-id": "req",
  "x-service-provider": "x",
  "x-service-request-id": "x",
  "x-service-dropped": "x",
  "cache-control": "public",
  // Hop-by-hop headers, and those of a body that is not passed unchanged.
  connection: "close",
  "keep-alive": "timeout=5",
  "proxy-authenticate": "Basic",
  te: "trailers",
  trailer: "x",
  "transfer-encoding": "chunked",
  upgrade: "h2c",
  "content-encoding": "gzip",
  "content-length": "3",
});

const PASSED: Readonly<Record<CallerFormatName, readonly string[]>> = {
  chat: [
    "retry-after",
    "retry-after-ms",
    "openai-processing-ms",
    "openai-version",
  ],
  get responses() {
    return this.chat;
  },
  messages: [
    "retry-after",
    "retry-after-ms",
  ],
  content: ["retry-after", "retry-after-ms"],
};

for (const form of FORMATS) {
  Deno.test(`addReportedHeaders() passes waits and the timing of the ${form} format, and no rate limits`, () => {
    const passed = reportedOf((name) => ANSWER.get(name), CODECS[form].upstream.reportedHeaders);
    assertEquals(passed.map(([name]) => name), [...PASSED[form]]);
    for (const [name, value] of passed) assertEquals(value, ANSWER.get(name));
  });
}

Deno.test("addReportedHeaders() passes only waits when caller and vendor use different formats", () => {
  assertEquals(reportedOf((name) => ANSWER.get(name), []), [["retry-after", "3"], ["retry-after-ms", "2500"]]);
});

Deno.test("addReportedHeaders() passes a wait that is a date", () => {
  const date = "Wed, 21 Oct 2026 07:28:00 GMT";
  assertEquals(reportedOf((name) => name === "retry-after" ? date : null, []), [["retry-after", date]]);
});

Deno.test("addReportedHeaders() omits a value that is no number, duration or instant", () => {
  for (const value of ["", "3\r\nset-cookie: a=b", "é", '"3"', "https://inner-host/", "a=b", "1".repeat(65)]) {
    assertEquals([value, reportedOf(() => value, CODECS.chat.upstream.reportedHeaders)], [value, []]);
  }
});

/** Request headers that callers' clients send, and those that a proxy in front of the gateway may add. */
const REQUEST = {
  "anthropic-version": "2026-10-21",
  "msg-version": "2023-06-01",
  "anthropic-beta": "token-counting-2024-11-01,interleaved-thinking-2025-05-14",
  "openai-beta": "responses=v1",
  "openai-organization": "org-x",
  "openai-project": "proj_x",
  "anthropic-workspace-id": "w",
  "x-goog-api-key": "k",
  "x-goog-user-project": "p",
  "x-goog-fieldmask": "candidates",
  "x-api-key": "k",
  authorization: "Bearer k",
  cookie: "a=b",
  host: "gateway.example",
  "x-forwarded-for": "10.0.0.1",
  "content-length": "3",
  connection: "close",
  "user-agent": "x",
  "x-service-provider-type": "p",
};

Deno.test("requestHeadersOf() passes only the features of the format", () => {
  const headers = new Headers(REQUEST);
  const passed = FORMATS.map((form) =>
    requestHeadersOf((name) => headers.get(name), CODECS[form].upstream.forwardedHeaders)
  );
  assertEquals(passed, [
    { "openai-beta": REQUEST["openai-beta"] },
    { "openai-beta": REQUEST["openai-beta"] },
    { "anthropic-beta": REQUEST["anthropic-beta"] },
    {},
  ]);
});

Deno.test("requestHeadersOf() returns only values that are valid in a header", () => {
  fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 40 }), (value) => {
    const passed = requestHeadersOf(() => value, ["anthropic-beta"])["anthropic-beta"];
    assertEquals(passed, /^[\t\x20-\x7e]+$/.test(value) ? value : undefined);
  }));
  assertEquals(requestHeadersOf(() => "x".repeat(8193), ["anthropic-beta"]), {});
});

Deno.test("HeaderFields reads each field as the platform does", () => {
  const headers = new Headers([["X-Api-Key", "a"], ["x-api-key", "b"], ["host", "h"], ["x-empty", ""]]);
  const fields = new HeaderFields(headers);
  for (const name of ["x-api-key", "host", "x-empty", "origin", "constructor"]) {
    assertEquals(fields.get(name), headers.get(name));
  }
});

function reportedOf(header: (name: string) => string | null, told: readonly string[]): [string, string][] {
  const fields: Record<string, string> = {};
  addReportedHeaders(fields, header, told);
  return Object.entries(fields);
}

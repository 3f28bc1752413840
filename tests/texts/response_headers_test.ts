import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { jsonBytes, responseHeaders, streamHeaders } from "../../src/services/texts/relay/response_headers.ts";
import { attemptOf, type AttemptOptions } from "./support.ts";

function headersWith(droppedFields: readonly string[], type = "application/json"): Headers {
  return new Headers(responseHeaders(attemptOf("chat"), { status: 200, header: () => null }, type, droppedFields));
}

/** Returns the headers for a caller of the chat format if the vendor sends every requested field. */
function headersOfTalker(options: AttemptOptions): Headers {
  return new Headers(
    responseHeaders(attemptOf("chat", options), { status: 200, header: () => "7" }, "application/json", ["seed"]),
  );
}

Deno.test("responseHeaders() names the provider, the type and each dropped field once", () => {
  const headers = headersWith(["top_k", "seed", "top_k"]);
  assertEquals(headers.get("x-service-provider"), "acme");
  assertEquals(headers.get("content-type"), "application/json");
  assertEquals(headers.get("x-service-dropped"), "top_k, seed");
  assertEquals(headersWith([]).has("x-service-dropped"), false);
});

Deno.test("streamHeaders() prevents caching of event streams, and buffering of all streams", () => {
  for (
    const [framing, type, caching] of [["sse", "text/event-stream", "no-cache"], [
      "json_array",
      "application/json",
      null,
    ]] as const
  ) {
    const attempt = attemptOf("chat");
    const request = { ...attempt.request, framing };
    const headers = new Headers(streamHeaders({ ...attempt, request }, { status: 200, header: () => null }, []));
    const fields = ["content-type", "cache-control", "x-accel-buffering"].map((name) => headers.get(name));
    assertEquals(fields, [type, caching, "no"]);
  }
});

Deno.test("responseHeaders() passes a vendor's retry times to every caller, and its rate limits to none", () => {
  const names = (headers: Headers) => [headers.get("retry-after"), headers.get("x-ratelimit-remaining-requests")];
  assertEquals(names(headersOfTalker({})), ["7", null]);
  assertEquals(names(headersOfTalker({ vendor: "messages" })), ["7", null]);
  assertEquals(headersOfTalker({ vendor: "messages" }).has("anthropic-ratelimit-tokens-limit"), false);
});

Deno.test("responseHeaders() prefers the gateway's own fields to the vendor's", () => {
  const headers = headersOfTalker({});
  const own = ["content-type", "x-service-provider", "x-service-dropped"].map((name) => headers.get(name));
  assertEquals(own, ["application/json", "acme", "seed"]);
  assertEquals([headers.has("x-request-id"), headers.has("ratelimit"), headers.has("cache-control")], [
    false,
    false,
    false,
  ]);
});

Deno.test("responseHeaders() writes any names as one short line that is valid in a header", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "binary", maxLength: 200 }), { minLength: 1 }), (names) => {
      const value = headersWith(names).get("x-service-dropped")!;
      assert(/^[\x20-\x7e]+$/.test(value));
    }),
  );
  const many = headersWith(Array.from({ length: 10_000 }, (_, at) => `unknown_field_${at}`)).get("x-service-dropped")!;
  assert(many.length < 3_000 && many.endsWith(", ..."));
  assertEquals(headersWith(["a,b\r\nx: y", ""]).get("x-service-dropped"), "a?b??x:?y, ?");
});

Deno.test("jsonBytes() writes UTF-8", () => {
  assertEquals(new TextDecoder().decode(jsonBytes({ a: "ü" })), '{"a":"ü"}');
});

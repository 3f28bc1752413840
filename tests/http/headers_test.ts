import { assertEquals } from "@std/assert";
import { HOP_BY_HOP, isPassedOn, requestHeadersOf, responseHeadersOf } from "../../src/http/headers.ts";

Deno.test("responseHeadersOf() passes type, limits and waits, and nothing that is another's", () => {
  const passed = responseHeadersOf(Object.entries({
    "content-type": "application/json",
    "retry-after": "3",
    "x-ratelimit-remaining-tokens": "10",
    "anthropic-ratelimit-requests-reset": "2026-11-21T00:00:00Z",
    "ratelimit-policy": '"a";q=1',
    "openai-processing-ms": "12",
    "set-cookie": "a=b",
    "connection": "keep-alive",
    "transfer-encoding": "chunked",
    "content-encoding": "gzip",
    "content-length": "3",
    "openai-organization": "org-x",
    "anthropic-organization-id": "x",
    "x-request-id": "req",
    "server": "x",
  }));
  assertEquals(passed.map(([name]) => name), [
    "content-type",
    "retry-after",
    "x-ratelimit-remaining-tokens",
    "anthropic-ratelimit-requests-reset",
    "ratelimit-policy",
    "openai-processing-ms",
  ]);
});

Deno.test("responseHeadersOf() leaves out values that could not stand in a header", () => {
  assertEquals(responseHeadersOf([["retry-after", "3\r\nset-cookie: a=b"], ["content-type", "text/é"]]), []);
});

Deno.test("requestHeadersOf() passes versions and features of the protocol alone", () => {
  const headers = new Headers({
    "anthropic-version": "2026-10-21",
    "anthropic-beta": "token-counting-2024-11-01",
    "openai-beta": "responses=v1",
    "openai-organization": "org-x",
    "x-goog-api-key": "k",
    "x-goog-user-project": "p",
    "x-goog-fieldmask": "candidates",
    authorization: "Bearer k",
    cookie: "a=b",
  });
  assertEquals(requestHeadersOf(headers), {
    "anthropic-version": "2026-10-21",
    "anthropic-beta": "token-counting-2024-11-01",
    "openai-beta": "responses=v1",
  });
});

Deno.test("no hop-by-hop field is passed on", () => {
  for (const name of HOP_BY_HOP) assertEquals([name, isPassedOn(name)], [name, false]);
});

import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { KEY_HEADERS, PROTOCOLS } from "../../src/platform/endpoints/protocols.ts";
import { checkMessageVersion, readCredential } from "../../src/platform/http/request/credentials.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";

const KEY = "sk-sy-0123456789";
const read = (fields: [string, string][], query = "") =>
  readCredential(new Headers(fields), query, PROTOCOLS.content.keyLocations);
const codeOf = (fields: [string, string][], query = "") => assertThrows(() => read(fields, query), GatewayError).code;

Deno.test("readCredential() reads the key from every carrier", () => {
  for (const name of ["x-api-key", "x-content-api-key", "x-goog-api-key", "api-key", "X-Api-Key"]) {
    assertEquals(read([[name, KEY]]), KEY);
  }
  for (const value of [`Bearer ${KEY}`, `bearer ${KEY}`, `BEARER  ${KEY} `]) {
    assertEquals(read([["authorization", value]]), KEY);
  }
  assertEquals(read([], `alt=sse&key=${KEY}`), KEY);
  assertEquals(read([], "key=sk%2Dsy-0123456789"), KEY);
});

Deno.test("readCredential() accepts the same key in two carriers", () => {
  assertEquals(read([["authorization", `Bearer ${KEY}`], ["x-api-key", KEY]], `key=${KEY}`), KEY);
  assertEquals(read([["authorization", "Basic eDp5"], ["x-api-key", KEY]]), KEY);
});

Deno.test("readCredential() is unauthorized when no carrier has a key", () => {
  assertEquals(codeOf([]), "unauthorized");
  for (const value of ["Bearer", "Bearer ", `Basic ${KEY}`, `Token ${KEY}`, KEY, `Bearer${KEY}`, ""]) {
    assertEquals([value, codeOf([["authorization", value]])], [value, "unauthorized"]);
  }
  assertEquals(codeOf([["x-api-key", ""]], "key="), "unauthorized");
  assertEquals(codeOf([["x_api_key", KEY]], "monkey=1&apikey=2"), "unauthorized");
});

Deno.test("readCredential() rejects two different keys", () => {
  assertEquals(codeOf([["authorization", `Bearer ${KEY}`], ["x-api-key", `${KEY}x`]]), "invalid_api_key");
  assertEquals(codeOf([["x-api-key", KEY]], "key=other-key-0123456"), "invalid_api_key");
  assertEquals(codeOf([], "key=a123456789012345&key=b123456789012345"), "invalid_api_key");
  assertEquals(codeOf([["x-api-key", KEY], ["x-api-key", `${KEY}x`]]), "invalid_api_key");
  assertEquals(codeOf([["authorization", `Bearer ${KEY}`], ["authorization", `Bearer ${KEY}x`]]), "invalid_api_key");
});

Deno.test("readCredential() rejects a malformed key without a lookup, and never repeats it", () => {
  const query = (key: string) => `key=${encodeURIComponent(key)}`;
  for (const key of ["k".repeat(513), "a\0b", "kéy", "two words", "line\nbreak"]) {
    const { code, message } = assertThrows(() => read([], query(key)), GatewayError);
    assertEquals(code, "invalid_api_key");
    assertEquals(message.includes(key), false);
  }
  assertEquals(codeOf([["x-api-key", "k".repeat(513)]]), "invalid_api_key");
});

Deno.test("readCredential() reads the query in the content protocol only", () => {
  const error = assertThrows(() => readCredential(new Headers(), `key=${KEY}`, KEY_HEADERS), GatewayError);
  assertEquals(error.code, "unauthorized");
});

Deno.test("checkMessageVersion() accepts its one version, and any date in the vendor's header", () => {
  checkMessageVersion(new Headers({ "msg-version": "2023-06-01" }));
  checkMessageVersion(new Headers({ "msg-version": "2023-06-01", "anthropic-version": "nonsense" }));
  for (const date of ["2023-06-01", "2026-10-21"]) checkMessageVersion(new Headers({ "anthropic-version": date }));
});

Deno.test("checkMessageVersion() rejects other versions and names header and version", () => {
  const cases: Record<string, string>[] = [
    {},
    { "msg-version": "2099-01-01" },
    { "msg-version": "" },
    { "msg-version": "2023-06-01, 2023-06-01" },
    { "msg-version": "2099-01-01", "anthropic-version": "2023-06-01" },
    { "anthropic-version": "latest" },
    { "anthropic-version": "2023-13-01" },
  ];
  for (const fields of cases) {
    const { code, status, message } = assertThrows(() => checkMessageVersion(new Headers(fields)), GatewayError);
    assertEquals([code, status], ["invalid_request", 400]);
    assertStringIncludes(message, "msg-version");
    assertStringIncludes(message, "2023-06-01");
  }
});

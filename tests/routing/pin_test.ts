import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { readBodyPin, resolvePin } from "../../src/vendors/routing/pin.ts";

const serving = [{ provider: "a", model: "m", weight: 1 }, { provider: "b", model: "m", weight: 1 }];
const isProvider = (name: string) => ["a", "b", "z"].includes(name);
const codeOf = (run: () => unknown) => assertThrows(run, GatewayError).code;

Deno.test("resolvePin() accepts the header, the body, or both when they agree", () => {
  assertEquals(resolvePin("a", null, "x/m", serving, isProvider), "a");
  assertEquals(resolvePin(null, "b", "x/m", serving, isProvider), "b");
  assertEquals(resolvePin("b", "b", "x/m", serving, isProvider), "b");
  assertEquals(resolvePin(null, null, "x/m", serving, isProvider), null);
});

Deno.test("resolvePin() rejects a header and a body that differ", () => {
  assertEquals(codeOf(() => resolvePin("a", "b", "x/m", serving, isProvider)), "invalid_request");
});

Deno.test("resolvePin() distinguishes an unknown provider from one that does not serve the model, and lists those that do", () => {
  assertEquals(codeOf(() => resolvePin("nosuch", null, "x/m", serving, isProvider)), "invalid_provider_type");
  const error = assertThrows(() => resolvePin("z", null, "x/m", serving, isProvider), GatewayError);
  assertEquals(error.code, "provider_type_unavailable");
  assertStringIncludes(error.message, '"a", "b"');
});

Deno.test("readBodyPin() reads extra_body.provider.type and nothing else", () => {
  assertEquals(readBodyPin({ extra_body: { provider: { type: "a" } } }), "a");
  assertEquals(readBodyPin({ provider: { type: "a" } }), null);
  assertEquals(readBodyPin({ extra_body: {} }), null);
});

for (const extra of [3, [], "x", { provider: 1 }, { provider: { type: 17 } }, { provider: { type: "" } }]) {
  Deno.test(`readBodyPin() rejects extra_body ${JSON.stringify(extra)}`, () => {
    assertEquals(codeOf(() => readBodyPin({ extra_body: extra })), "invalid_request");
  });
}

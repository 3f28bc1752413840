import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { cloneValue } from "../../src/platform/store/clone_value.ts";
import { itemAt } from "../support/items.ts";

Deno.test("cloneValue() returns what structuredClone() returns", () => {
  const value = fc.anything({ withBigInt: true, withDate: true, withMap: true, withTypedArray: true, maxDepth: 5 });
  fc.assert(fc.property(value, (value) => assertEquals(cloneValue(value), structuredClone(value))));
});

Deno.test("cloneValue() shares nothing with the original", () => {
  const value = { list: [{ n: 1 }], bytes: new Uint8Array([1]), date: new Date(1) };
  const copy = cloneValue(value);
  itemAt(value.list, 0).n = 2;
  value.bytes[0] = 2;
  value.date.setTime(2);
  assertEquals(copy, { list: [{ n: 1 }], bytes: new Uint8Array([1]), date: new Date(1) });
});

Deno.test("cloneValue() keeps a field called __proto__ and values with cycles", () => {
  const parsed = JSON.parse('{"__proto__":{"admin":true}}');
  assert(Object.hasOwn(cloneValue(parsed), "__proto__"));
  assertEquals((cloneValue(parsed) as { admin?: boolean }).admin, undefined);
  const ring: { self?: unknown } = {};
  ring.self = ring;
  let walked: { self?: unknown } = cloneValue(ring);
  for (let depth = 0; depth < 40; depth++) walked = walked.self as typeof walked;
});

Deno.test("cloneValue() throws for values without a structured clone", () => {
  for (const value of [() => {}, Symbol("s"), { f() {} }, [Symbol("s")]]) {
    assertThrows(() => cloneValue<unknown>(value), DOMException);
  }
});

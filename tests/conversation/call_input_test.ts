import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { argumentsOf, inputOf, isWrapped } from "../../src/conversation/call_input.ts";

Deno.test("inputOf() is the inverse of argumentsOf() for objects, other JSON and other text", () => {
  const input = fc.oneof(
    fc.dictionary(fc.string(), fc.integer(), { noNullPrototype: true }).map((value) => JSON.stringify(value)),
    fc.string({ minLength: 1 }),
    fc.constantFrom("[1]", "null", '"text"', '{"cut":'),
  );
  fc.assert(fc.property(input, (written) => {
    const args = argumentsOf({ input: written });
    // An object can be spelled in several ways; everything else is returned exactly.
    if (isWrapped(args)) assertEquals(inputOf(args), written);
    else assertEquals(JSON.parse(inputOf(args)), JSON.parse(written));
  }));
});

Deno.test("argumentsOf() wraps the free text of a custom tool, and accepts empty arguments", () => {
  assertEquals(argumentsOf({ input: "{}", custom: true }), { input: "{}" });
  assertEquals(argumentsOf({ input: "" }), {});
});

Deno.test("inputOf() treats anything but an object as no arguments", () => {
  for (const args of [undefined, null, 7, "text", [1]]) assertEquals(inputOf(args), "{}");
});

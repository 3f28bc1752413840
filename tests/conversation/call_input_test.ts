import { assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  argumentsOf,
  inputOf,
  isWrappedInput,
  readableInput,
} from "../../src/conversation/parts/request/call_input.ts";

Deno.test("inputOf() is the inverse of argumentsOf() for objects, other JSON and other text", () => {
  const input = fc.oneof(
    fc.dictionary(fc.string(), fc.integer(), { noNullPrototype: true }).map((value) => JSON.stringify(value)),
    fc.string({ minLength: 1 }),
    fc.constantFrom("[1]", "null", '"text"', '{"cut":'),
  );
  fc.assert(fc.property(input, (written) => {
    const args = argumentsOf({ input: written });
    // An object can be spelled in several ways; everything else is returned exactly.
    if (isWrappedInput(args)) assertEquals(inputOf(args), written);
    else assertEquals(JSON.parse(inputOf(args)), JSON.parse(readableInput(written)));
  }));
});

Deno.test("argumentsOf() wraps the free text of a custom tool, and accepts empty arguments", () => {
  assertEquals(argumentsOf({ input: "{}", custom: true }), { input: "{}" });
  assertEquals(argumentsOf({ input: "" }), {});
});

Deno.test("inputOf() keeps arguments that are no object as text", () => {
  for (const args of [undefined, null, "", " ", "null"]) assertEquals(inputOf(args), "{}");
  assertEquals([7, "text", [1]].map(inputOf), ["7", "text", "[1]"]);
});

Deno.test("readableInput() reads blank arguments, those that were encoded twice, and raw line breaks", () => {
  for (const blank of ["", " \n", "null", '""', '" "', '"null"']) assertEquals(readableInput(blank), "{}");
  const object = '{"a":1.0,"b":"x"}';
  for (const written of [object, JSON.stringify(object), JSON.stringify(JSON.stringify(object))]) {
    assertEquals(readableInput(written), object);
  }
  assertEquals(readableInput('{\n"a":"two\nlines\t\\""}'), '{\n"a":"two\\nlines\\t\\""}');
  for (const other of ["[1]", '"text"', '{"cut":"\n', "not json"]) assertEquals(readableInput(other), other);
});

Deno.test("argumentsOf() keeps every digit, and gives arguments of any depth as text", () => {
  const digits = '{"id":2512292042121000001,"price":1.0,"huge":1e400,"zero":-0,"d":0.10000000000000000001}';
  assertEquals(JSON.stringify(argumentsOf({ input: digits })), digits);
  const deep = `{"a":${"[".repeat(10_000)}${"]".repeat(10_000)}}`;
  assertEquals(argumentsOf({ input: deep }), { _raw: deep });
  assertEquals(inputOf(JSON.parse(deep)), deep);
});

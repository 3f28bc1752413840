import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { JsonSchema } from "../../../src/conversation/neutral/conversation.ts";
import { withBareReferences, withoutReferences } from "../../../src/conversation/schemas/inlined_references.ts";
import { isRecursive, targetOf } from "../../../src/conversation/schemas/schema_references.ts";
import { mapSchema } from "../../../src/conversation/schemas/schema_walk.ts";

Deno.test("isRecursive() finds references that lead back to where they are", () => {
  const node = { type: "object", properties: { next: { $ref: "#/$defs/N" } } };
  assert(isRecursive({ $ref: "#/$defs/N", $defs: { N: node } }));
  assert(isRecursive({ properties: { self: { $ref: "#" } } }));
  assert(isRecursive({ $defs: { A: { items: { $ref: "#/$defs/B" } }, B: { anyOf: [{ $ref: "#/$defs/A" }] } } }));
  assert(isRecursive({ properties: { a: { properties: { b: { $ref: "#/properties/a" } } } } }), "an ancestor");
  assert(isRecursive({ $defs: { "a/b": { items: { $ref: "#/$defs/a~1b" } } } }));
  assert(isRecursive({ $defs: { "a b": { items: { $ref: "#/$defs/a%20b" } } } }));
  assert(!isRecursive({ properties: { a: { $ref: "#/$defs/A" }, b: { $ref: "#/$defs/A" } }, $defs: { A: {} } }));
  assert(!isRecursive({ properties: { $ref: { type: "string" } } }));
  assert(!isRecursive({ $ref: "https://example.com/schema", $defs: { N: {} } }));
});

Deno.test("targetOf() reads pointers, and finds nothing that is inherited", () => {
  const schema = { $defs: { "a/b~%": { title: "x" }, list: [{ title: "y" }] } };
  assertEquals(targetOf(schema, "#/$defs/a~1b~0%25"), { title: "x" });
  assertEquals(targetOf(schema, "#/$defs/list/0"), { title: "y" });
  assertEquals(targetOf(schema, "#"), schema);
  for (const missing of ["#/$defs/constructor", "#/$defs/list/length", "#name", "other", "#/$defs/%E0%A4%A"]) {
    assertEquals(targetOf(schema, missing), null, missing);
  }
});

Deno.test("mapSchema() keeps a schema that does not change, whatever it contains", () => {
  fc.assert(fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (schema) => {
    assert(mapSchema(schema, (each) => each) === schema);
  }));
});

/** A schema of definitions that each refer to the next one twice. */
function doubling(steps: number, more: JsonSchema): JsonSchema {
  const $defs: Record<string, JsonSchema> = { d0: { type: "string" } };
  for (let step = 1; step <= steps; step++) {
    const reference = { $ref: `#/$defs/d${step - 1}`, ...more };
    $defs[`d${step}`] = { type: "object", properties: { a: reference, b: reference } };
  }
  return { type: "object", properties: { a: { $ref: `#/$defs/d${steps}`, ...more } }, $defs };
}

Deno.test("references that multiply, and long chains of them, are inlined within limits", () => {
  for (const change of [withBareReferences, (schema: JsonSchema) => withoutReferences(schema).schema]) {
    const schema = doubling(40, { description: "d" });
    assert(JSON.stringify(change(schema)).length < 100 * JSON.stringify(schema).length);
    const $defs = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, at) => [`d${at}`, { $ref: `#/$defs/d${at + 1}`, title: "t" }]),
    );
    change({ $ref: "#/$defs/d0", title: "t", $defs });
  }
});

Deno.test("withoutReferences() leaves a recursion open, and reports it", () => {
  const N = { type: "object", properties: { next: { $ref: "#/$defs/N", description: "d" } } };
  assertEquals(withoutReferences({ properties: { a: { $ref: "#/$defs/N" } }, $defs: { N } }), {
    schema: { properties: { a: {} } },
    isRelaxed: true,
  });
  assertEquals(withoutReferences({ properties: { a: { $ref: "#/$defs/A" } }, $defs: { A: { type: "string" } } }), {
    schema: { properties: { a: { type: "string" } } },
    isRelaxed: false,
  });
});

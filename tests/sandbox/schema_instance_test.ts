import { assertEquals } from "@std/assert";
import * as fc from "fast-check";
import * as z from "zod";
import { instanceOf } from "../../src/sandbox/schema_instance.ts";

const bounds = fc.tuple(fc.nat(20), fc.nat(20)).map(([least, more]) => ({ least, most: least + more }));

const EXAMPLES: readonly Record<string, unknown>[] = [
  { enum: ["b", "a"] },
  { const: 5 },
  { type: "string", format: "uuid" },
  { type: "string", format: "date-time" },
  { type: "string", pattern: "^[A-Z]{3}$" },
  { type: "string", pattern: "^\\d{4}-\\d{2}-\\d{2}$" },
  { type: "string", pattern: "^[a-z]+$", minLength: 12 },
  { type: "integer", exclusiveMinimum: 3, exclusiveMaximum: 5 },
  { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 0.25 },
  { type: "number", exclusiveMinimum: 7 },
  { type: "integer", maximum: -3 },
  { type: "integer", minimum: 7, multipleOf: 5 },
];

const { schema: schemas } = fc.letrec<{ schema: Record<string, unknown> }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom({ type: "boolean" }, { type: "null" }, { type: "string" }, { type: "integer" }, { type: "number" }),
    fc.constantFrom(...EXAMPLES),
    bounds.map(({ least, most }) => ({ type: "string", minLength: least, maxLength: most })),
    bounds.map(({ least, most }) => ({ type: "integer", minimum: least - 10, maximum: most - 10 })),
    fc.record({ items: tie("schema"), limits: bounds }).map(({ items, limits }) => ({
      type: "array",
      items,
      minItems: limits.least % 4,
      maxItems: limits.most,
    })),
    fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), tie("schema"), { maxKeys: 4 }).map((properties) => ({
      type: "object",
      properties,
      required: Object.keys(properties).slice(0, 2),
      additionalProperties: false,
    })),
    fc.array(tie("schema"), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
  ),
}));

function assertSatisfied(schema: unknown): void {
  z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]).parse(instanceOf(schema));
}

Deno.test("instanceOf() satisfies each kind of bound", () => {
  for (const schema of EXAMPLES) assertSatisfied(schema);
});

Deno.test("instanceOf() satisfies the schema", () => {
  fc.assert(fc.property(schemas, assertSatisfied));
});

Deno.test("instanceOf() follows references and ends at cycles", () => {
  const node = {
    type: "object",
    properties: { name: { type: "string" }, next: { anyOf: [{ $ref: "#/$defs/node" }, { type: "null" }] } },
    required: ["name", "next"],
  };
  const made = instanceOf({ $ref: "#/$defs/node", $defs: { node } }) as { name: string };
  assertEquals(made.name, "name");
  assertEquals(
    JSON.stringify(made).endsWith('"next":null' + "}".repeat(JSON.stringify(made).split("{").length - 1)),
    true,
  );
});

Deno.test("instanceOf() merges the parts of allOf", () => {
  const schema = {
    allOf: [{ type: "object", properties: { a: { type: "integer" } }, required: ["a"] }, { $ref: "#/$defs/b" }],
    $defs: { b: { properties: { b: { const: "x" } } } },
  };
  assertEquals(instanceOf(schema), { a: 1, b: "x" });
});

Deno.test("instanceOf() generates lists whose items must differ", () => {
  const schema = { type: "array", items: { enum: ["a", "b", "c"] }, minItems: 3, uniqueItems: true };
  assertEquals(instanceOf(schema), ["a", "b", "c"]);
});

Deno.test("instanceOf() returns nothing for a schema that requires itself endlessly", () => {
  const schema = {
    $ref: "#/$defs/a",
    $defs: { a: { type: "object", properties: { a: { $ref: "#/$defs/a" } }, required: ["a"] } },
  };
  assertEquals(typeof instanceOf(schema), "object");
});

import { assertEquals } from "@std/assert";
import { strictSchema } from "../../../src/conversation/schemas/enforced_schema.ts";

Deno.test("strictSchema() closes objects at every depth and requires only existing properties", () => {
  assertEquals(
    strictSchema({
      $schema: "x",
      type: "object",
      properties: { list: { type: "array", items: { properties: { a: { type: "string" } } } } },
      required: ["list", "gone"],
      additionalProperties: true,
    }),
    {
      type: "object",
      properties: {
        list: {
          type: "array",
          items: { properties: { a: { type: "string" } }, additionalProperties: false },
        },
      },
      required: ["list"],
      additionalProperties: false,
    },
  );
});

Deno.test("strictSchema() writes limits to the description", () => {
  assertEquals(strictSchema({ type: "integer", minimum: 1, maximum: 5, description: "How many" }), {
    type: "integer",
    description: "How many (minimum: 1, maximum: 5)",
  });
  assertEquals(strictSchema({ type: "string", format: "date" }), { type: "string", format: "date" });
  assertEquals(strictSchema({ type: "string", format: "iban" }), { type: "string", description: "(format: iban)" });
  assertEquals(strictSchema({ type: "array", minItems: 1 }), { type: "array", minItems: 1 });
  assertEquals(strictSchema({ type: "array", minItems: 3 }), { type: "array", description: "(minItems: 3)" });
});

Deno.test("strictSchema() writes several types and alternatives as anyOf and merges allOf", () => {
  assertEquals(strictSchema({ type: ["string", "null"], enum: ["a", null], description: "d" }), {
    description: "d",
    anyOf: [{ enum: ["a"], type: "string" }, { type: "null" }],
  });
  assertEquals(strictSchema({ oneOf: [{ type: "string" }, { const: 1 }] }), {
    anyOf: [{ type: "string" }, { const: 1 }],
  });
  assertEquals(
    strictSchema({
      allOf: [{ type: "object", properties: { a: {} }, required: ["a"] }, { properties: { b: {} }, required: ["b"] }],
    }),
    { type: "object", properties: { a: {}, b: {} }, required: ["a", "b"], additionalProperties: false },
  );
});

Deno.test("strictSchema() takes limited time for lists of types that multiply at every step", () => {
  let schema: Record<string, unknown> = { type: "string" };
  for (let depth = 0; depth < 60; depth++) schema = { type: ["object", "array"], properties: { a: schema } };
  const written = JSON.stringify(strictSchema(schema)).length;
  assertEquals(written < 50 * JSON.stringify(schema).length, true);
});

import { assert, assertEquals } from "@std/assert";
import { openApiSchemaOf } from "../../../../src/conversation/schemas/openapi_schema.ts";
import { jsonSchemaOf } from "../../../../src/conversation/codecs/content/shared/schema.ts";
import type { JsonSchema } from "../../../../src/conversation/neutral/conversation.ts";

const CASES: readonly (readonly [what: string, schema: JsonSchema, written: JsonSchema])[] = [
  ["types in capitals", { type: "string", description: "d" }, { type: "STRING", description: "d" }],
  ["null as nullable", { type: ["integer", "null"] }, { type: "INTEGER", nullable: true }],
  ["several types as alternatives", { type: ["integer", "string"] }, {
    anyOf: [{ type: "INTEGER" }, { type: "STRING" }],
  }],
  ["an alternative of null as nullable", { anyOf: [{ type: "string" }, { type: "null" }], description: "d" }, {
    type: "STRING",
    description: "d",
    nullable: true,
  }],
  ["oneOf as anyOf", { oneOf: [{ type: "string" }, { type: "number" }] }, {
    anyOf: [{ type: "STRING" }, { type: "NUMBER" }],
  }],
  ["allOf merged", {
    allOf: [{ properties: { a: { type: "string" } }, required: ["a"] }, { properties: { b: { type: "number" } } }],
  }, { type: "OBJECT", properties: { b: { type: "NUMBER" }, a: { type: "STRING" } }, required: ["a"] }],
  ["a constant as enumeration", { const: "x" }, { type: "STRING", enum: ["x"] }],
  ["numbers to choose from in words", { type: "integer", enum: [1, 2] }, {
    type: "INTEGER",
    description: "One of: 1, 2",
  }],
  ["exclusive bounds of whole numbers as inclusive", { type: "integer", exclusiveMinimum: 0, exclusiveMaximum: 9 }, {
    type: "INTEGER",
    minimum: 1,
    maximum: 8,
  }],
  ["known formats only", { type: "string", format: "uuid" }, { type: "STRING" }],
  ["nothing of what is refused", {
    $schema: "x",
    $id: "y",
    type: "object",
    properties: { a: { type: "number", multipleOf: 2 } },
    additionalProperties: false,
    patternProperties: {},
    required: ["a", "gone"],
  }, { type: "OBJECT", properties: { a: { type: "NUMBER" } }, required: ["a"] }],
  ["an object without properties without them", { type: "object", properties: {} }, { type: "OBJECT" }],
  ["a list of unknown things as one of texts", { type: "array" }, { type: "ARRAY", items: { type: "STRING" } }],
  ["references inlined", { $defs: { T: { type: "string" } }, properties: { a: { $ref: "#/$defs/T" } } }, {
    type: "OBJECT",
    properties: { a: { type: "STRING" } },
  }],
  ["a reference to nowhere as an object", { $ref: "#/$defs/gone" }, { type: "OBJECT" }],
  ["recursion cut", {
    $defs: { T: { type: "object", properties: { next: { $ref: "#/$defs/T" } } } },
    $ref: "#/$defs/T",
  }, { type: "OBJECT", properties: { next: { type: "OBJECT" } } }],
];

for (const [what, schema, written] of CASES) {
  Deno.test(`openApiSchemaOf writes ${what}`, () => assertEquals(openApiSchemaOf(schema).schema, written));
}

Deno.test("openApiSchemaOf ends on a schema that doubles at every reference, and on a deep one", () => {
  const $defs: Record<string, JsonSchema> = { d30: { type: "string" } };
  for (let at = 0; at < 30; at++) {
    const next = { $ref: `#/$defs/d${at + 1}` };
    $defs[`d${at}`] = { type: "object", properties: { a: next, b: next } };
  }
  assert(JSON.stringify(openApiSchemaOf({ $defs, $ref: "#/$defs/d0" })).length < 500_000);
  let deep: JsonSchema = { type: "string" };
  for (let at = 0; at < 5000; at++) deep = { type: "array", items: deep };
  openApiSchemaOf(deep);
  jsonSchemaOf(deep);
});

Deno.test("openApiSchemaOf and jsonSchemaOf are inverses on what both can express", () => {
  const schema = {
    type: "object",
    properties: {
      toString: { type: ["string", "null"] },
      list: { type: "array", items: { type: "integer", minimum: 0 }, minItems: 1 },
      choice: { anyOf: [{ type: "string" }, { type: "number" }] },
      word: { type: "string", enum: ["a", "b"] },
    },
    required: ["list"],
  };
  assertEquals(jsonSchemaOf(openApiSchemaOf(schema).schema), schema);
});

Deno.test("openApiSchemaOf() takes limited time for references that multiply their targets", () => {
  const names = Array.from({ length: 300 }, (_, at) => `p${at}`);
  const wide = { properties: Object.fromEntries(names.map((name) => [name, {}])), required: names };
  const many = { allOf: Array.from({ length: 300 }, () => ({ $ref: "#/$defs/wide" })) };
  const properties = Object.fromEntries(names.map((name) => [name, { $ref: "#/$defs/many" }]));
  const schema = { type: "object", properties, $defs: { wide, many } };
  assert(JSON.stringify(openApiSchemaOf(schema)).length < 4 * JSON.stringify(schema).length);
});

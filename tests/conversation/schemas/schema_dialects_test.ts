import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { JsonSchema } from "../../../src/conversation/conversation.ts";
import {
  isRecursive,
  modernSchema,
  withBareReferences,
  withItems,
} from "../../../src/conversation/schemas/schema_dialects.ts";
import { mapSchema } from "../../../src/conversation/schemas/schema_walk.ts";

type Change = (schema: JsonSchema) => JsonSchema;

/** A schema, how it is changed, and what becomes of it. */
const ROWS: readonly (readonly [change: Change, schema: JsonSchema, changed: JsonSchema])[] = [
  [withItems, { type: "array" }, { type: "array", items: {} }],
  [withItems, { type: ["array", "null"] }, { type: ["array", "null"], items: {} }],
  [withItems, { type: "array", items: { type: "array" } }, { type: "array", items: { type: "array", items: {} } }],
  [withItems, { properties: { items: { type: "array" } } }, { properties: { items: { type: "array", items: {} } } }],
  [withItems, { anyOf: [{ type: "array" }, {}] }, { anyOf: [{ type: "array", items: {} }, {}] }],
  [withItems, { $defs: { a: { type: "array" } } }, { $defs: { a: { type: "array", items: {} } } }],
  [withItems, { type: "array", prefixItems: [{}] }, { type: "array", prefixItems: [{}] }],
  [modernSchema, { minimum: 0, exclusiveMinimum: true }, { exclusiveMinimum: 0 }],
  [modernSchema, { minimum: 0, exclusiveMinimum: false }, { minimum: 0 }],
  [modernSchema, { maximum: 9, exclusiveMaximum: true }, { exclusiveMaximum: 9 }],
  [modernSchema, { exclusiveMinimum: true }, {}],
  [modernSchema, { exclusiveMinimum: 3 }, { exclusiveMinimum: 3 }],
  [modernSchema, { items: [{}, { type: "string" }] }, { prefixItems: [{}, { type: "string" }] }],
  [modernSchema, { items: [{}], additionalItems: false }, { prefixItems: [{}], items: false }],
  [modernSchema, { items: { minimum: 1, exclusiveMinimum: true } }, { items: { exclusiveMinimum: 1 } }],
  [modernSchema, { $ref: "#/definitions/A", definitions: { A: {} } }, { $ref: "#/$defs/A", $defs: { A: {} } }],
  [
    modernSchema,
    { dependencies: { a: ["b"], c: { type: "object" } } },
    { dependentRequired: { a: ["b"] }, dependentSchemas: { c: { type: "object" } } },
  ],
  [modernSchema, { $schema: "http://json-schema.org/draft-07/schema#", id: "x" }, {}],
  [modernSchema, { properties: { id: { type: "string" }, definitions: {} } }, {
    properties: { id: { type: "string" }, definitions: {} },
  }],
  [withBareReferences, { $ref: "#/$defs/A" }, { $ref: "#/$defs/A" }],
  [withBareReferences, { $ref: "#/$defs/A", description: "d" }, { description: "d", anyOf: [{ $ref: "#/$defs/A" }] }],
  [
    withBareReferences,
    { properties: { q: { $ref: "#/$defs/Q", default: null } }, $defs: { Q: { type: "string" } } },
    { properties: { q: { default: null, anyOf: [{ $ref: "#/$defs/Q" }] } }, $defs: { Q: { type: "string" } } },
  ],
  [withBareReferences, { properties: { $ref: { type: "string", title: "t" } } }, {
    properties: { $ref: { type: "string", title: "t" } },
  }],
];

for (const [index, [change, schema, changed]] of ROWS.entries()) {
  Deno.test(`${change.name}() row ${index + 1}: ${JSON.stringify(schema).slice(0, 60)}`, () => {
    assertEquals(change(schema), changed);
    assertEquals(change(changed), changed);
  });
}

Deno.test("isRecursive() finds references that lead back to where they are", () => {
  const node = { type: "object", properties: { next: { $ref: "#/$defs/N" } } };
  assert(isRecursive({ $ref: "#/$defs/N", $defs: { N: node } }));
  assert(isRecursive({ properties: { self: { $ref: "#" } } }));
  assert(isRecursive({ $defs: { A: { items: { $ref: "#/$defs/B" } }, B: { anyOf: [{ $ref: "#/$defs/A" }] } } }));
  assert(!isRecursive({ properties: { a: { $ref: "#/$defs/A" }, b: { $ref: "#/$defs/A" } }, $defs: { A: {} } }));
  assert(!isRecursive({ properties: { $ref: { type: "string" } } }));
});

Deno.test("mapSchema() keeps a schema that does not change, whatever it contains", () => {
  fc.assert(fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (schema) => {
    assert(mapSchema(schema, (each) => each) === schema);
  }));
});

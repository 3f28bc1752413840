import { assertEquals } from "@std/assert";
import fc from "fast-check";
import type { JsonSchema } from "../../../src/conversation/neutral/conversation.ts";
import { withItems } from "../../../src/conversation/schemas/openai_dialect.ts";
import { modernSchema, modernStructure } from "../../../src/conversation/schemas/schema_drafts.ts";

const LEAVES: readonly unknown[] = [
  ...["array", "object", "string", "any", "", "a b", "#/definitions/A", "#/$defs/A", "#/items/0", "#"],
  ...[true, false, null, 1, -0.5],
];
const KEYWORDS = [
  ...["type", "items", "prefixItems", "properties", "required", "enum", "const", "$ref", "$defs", "definitions"],
  ...["dependencies", "additionalItems", "exclusiveMinimum", "minimum", "id", "$schema", "anyOf", "allOf", "not"],
  ...["additionalProperties", "default", "description", "a b", "A", "patternProperties"],
];

/** Schemas of keywords in all places, right and wrong. */
const schemas = fc.letrec<{ value: unknown; schema: JsonSchema }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom(...LEAVES),
    fc.array(tie("value"), { maxLength: 3 }),
    tie("schema"),
  ),
  schema: fc.dictionary(fc.constantFrom(...KEYWORDS), tie("value"), { maxKeys: 4 }),
})).schema;

Deno.test("the search for features finds every schema that a dialect changes", () => {
  fc.assert(
    fc.property(schemas, (schema) => {
      // A copy is searched anew: within a schema with all features, nothing is skipped.
      const all = { ...ALL, $defs: { ...ALL.$defs, tested: structuredClone(schema) } };
      const whole = (change: (schema: JsonSchema) => JsonSchema) => (change(all).$defs as JsonSchema).tested;
      for (const change of [modernSchema, modernStructure, withItems]) {
        assertEquals(change(schema), whole(change), change.name);
      }
    }),
    { numRuns: 2_000 },
  );
});

/** A schema with all features. */
const ALL = {
  type: "object",
  properties: { "a b": { type: "array" }, b: { enum: [""] }, c: { $ref: "#/$defs/other" } },
  $defs: { other: { exclusiveMinimum: true, id: "x", items: [{}] } },
};

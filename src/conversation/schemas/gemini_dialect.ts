import { isJsonNumber } from "../../platform/lib/json/exact_json.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import type { JsonSchema } from "../neutral/conversation.ts";
import { isObject, listOf } from "../neutral/wire_value.ts";
import { describedKeywords } from "./described_keywords.ts";
import { withBareReferences } from "./inlined_references.ts";
import { openApiSchemaOf } from "./openapi_schema.ts";
import type { AcceptedSchema, SchemaDialect } from "./schema_dialect.ts";
import { modernStructure } from "./schema_drafts.ts";
import { FEATURES, featuresOf } from "./schema_features.ts";
import { recursiveReferences, schemaReferencesIn, targetOf, withoutDefinitions } from "./schema_references.ts";
import { mapSchema } from "./schema_walk.ts";

/**
 * What Gemini accepts in JSON Schema (`parametersJsonSchema`, `responseJsonSchema`), or in its own schema type.
 * Enforced schemas are not different. Source: Gemini API reference, `responseJsonSchema` and "Schema"; the vendor's
 * error messages.
 *
 * @param isOpenApi Whether the vendor takes only its own schema type.
 */
export function geminiDialect({ isOpenApi }: { readonly isOpenApi: boolean }): SchemaDialect {
  const accepted = isOpenApi ? openApiSchemaOf : jsonSchema;
  return {
    parameters: (parameters, isStrict) => ({ ...accepted(parameters ?? { type: "object" }), isStrict }),
    output: (schema) => ({ ...accepted(schema), isStrict: true }),
  };
}

function jsonSchema(schema: JsonSchema): Omit<AcceptedSchema, "isStrict"> {
  const bare = withBareReferences(modernStructure(schema));
  const free = withOptionalRecursion(bare);
  let isNarrowed = false;
  const hasOthers = (featuresOf(free) & FEATURES.otherEnumerations) !== 0;
  const enumerated = !hasOthers ? free : mapSchema(free, (each) => {
    if (!Array.isArray(each.enum)) return each;
    isNarrowed ||= each.enum.includes("");
    return withAcceptedEnumeration(each, each.enum);
  });
  const { $schema, ...accepted } = enumerated;
  return { schema: $schema === undefined ? enumerated : accepted, isChanged: isNarrowed || free !== bare };
}

/**
 * An enumeration has texts that are not empty, and numbers: "enum[0]: cannot be empty". Null becomes an alternative.
 * Enumerations with other values are described.
 */
function withAcceptedEnumeration(schema: JsonSchema, values: readonly unknown[]): JsonSchema {
  const kept = values.filter((value) => value !== "" && value !== null);
  const isAccepted = kept.every((value) => typeof value === "string" || isJsonNumber(value));
  if (isAccepted && kept.length === values.length && kept.length > 0) return schema;
  if (!isAccepted) return describedKeywords(schema, ["enum"]);
  const { enum: _, ...rest } = schema;
  const allowsNull = values.includes(null) && (schema.type === undefined || listOf(schema.type).includes("null"));
  const own: JsonObject = { ...rest, ...(kept.length > 0 && { enum: kept }) };
  if (!allowsNull) return own;
  const { description, title, default: preset, ...alternative } = own;
  const types = listOf(alternative.type).filter((type) => type !== "null");
  if (types.length > 0) alternative.type = types.length === 1 ? types[0] : types;
  return {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(preset !== undefined && { default: preset }),
    anyOf: [...(kept.length > 0 ? [alternative] : []), { type: "null" }],
  };
}

/**
 * A schema in which properties that lead back to their own definition are optional. Source: Gemini API reference,
 * `responseJsonSchema`: "Cyclic references … may only be used within non-required properties."
 */
function withOptionalRecursion(root: JsonSchema): JsonSchema {
  const recursive = recursiveReferences(root);
  if (recursive.size === 0) return root;
  const within = new Set<JsonSchema>();
  for (const reference of recursive) {
    const target = targetOf(root, reference);
    if (target === null) continue;
    mapSchema(target === root ? withoutDefinitions(root) : target, (each, original) => {
      within.add(original);
      return each;
    });
    if (target === root) within.add(root);
  }
  const isCyclic = (schema: unknown) =>
    isObject(schema) && [...schemaReferencesIn(schema)].some((reference) => recursive.has(reference));
  return mapSchema(root, (each, original) => {
    if (!within.has(original) || !Array.isArray(each.required)) return each;
    const properties = isObject(original.properties) ? original.properties : {};
    const required = each.required.filter((name) => typeof name !== "string" || !isCyclic(properties[name]));
    if (required.length === each.required.length) return each;
    const { required: _, ...rest } = each;
    return required.length > 0 ? { ...rest, required } : rest;
  });
}

import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import type { JsonSchema } from "../neutral/conversation.ts";
import { isObject, listOf } from "../neutral/wire_value.ts";
import { strictSchema } from "./enforced_schema.ts";
import { plainSchema } from "./object_schema.ts";
import type { SchemaDialect } from "./schema_dialect.ts";
import { modernSchema } from "./schema_drafts.ts";
import { isRecursive, schemaReferencesIn, targetOf } from "./schema_references.ts";
import { mapSchema } from "./schema_walk.ts";

/**
 * What Anthropic accepts, in its own API, at Bedrock and at Vertex AI, and what Bedrock accepts of all models. All
 * schemas are of draft 2020-12. Those that are enforced are closed, do not refer to themselves, and have limits in
 * common. Sources: Messages API reference, `tools.input_schema`; "Structured outputs", "JSON Schema limitations" and
 * "Schema complexity limits"; Amazon Bedrock User Guide, "Structured outputs".
 *
 * @param takesSchemas Whether the model enforces schemas.
 */
export function anthropicDialect({ takesSchemas }: { readonly takesSchemas: boolean }): SchemaDialect {
  const limits = new StrictLimits();
  /** The enforced form of a schema; null where it has none. */
  const enforced = (schema: JsonSchema, isTool: boolean): JsonObject | null => {
    if (!takesSchemas || !canBeEnforced(schema)) return null;
    const strict = strictSchema(schema);
    return limits.admit(strict, isTool) ? strict : null;
  };
  return {
    parameters(parameters, isStrict) {
      const { schema, isRelaxed } = plainSchema(parameters && modernSchema(parameters));
      const strict = isStrict ? enforced(schema, true) : null;
      return { schema: strict ?? schema, isStrict: strict !== null, isChanged: isRelaxed };
    },
    // This format has no schema that is not enforced: the caller's is described in the instructions instead.
    output(schema) {
      const strict = enforced(modernSchema(schema), false);
      return { schema: strict ?? schema, isStrict: strict !== null, isChanged: false };
    },
  };
}

/**
 * Whether a schema keeps its meaning when its objects are closed. A map, an object with any members, would always be
 * empty.
 */
export function canBeEnforced(schema: JsonSchema): boolean {
  if (isRecursive(schema)) return false;
  if ([...schemaReferencesIn(schema)].some((reference) => targetOf(schema, reference) === null)) return false;
  let hasMap = false;
  mapSchema(schema, (each, original) => {
    hasMap ||= isMap(each, original === schema);
    return each;
  });
  return !hasMap;
}

/** Keywords that describe what an object has. */
const DESCRIBES_MEMBERS = ["properties", "allOf", "anyOf", "oneOf", "$ref", "enum", "const"];

function isMap(schema: JsonSchema, isTop: boolean): boolean {
  const { type, properties, additionalProperties, patternProperties } = schema;
  const mayBeObject = type === "object" || listOf(type).includes("object") ||
    (type === undefined && isObject(properties));
  if (!mayBeObject || additionalProperties === false) return false;
  if (additionalProperties !== undefined || patternProperties !== undefined) return true;
  // A tool whose schema is an object without members takes no arguments.
  return !isTop && !DESCRIBES_MEMBERS.some((keyword) => schema[keyword] !== undefined);
}

/** Limits of all enforced schemas of one request together. Each definition counts once. */
export class StrictLimits {
  #tools = 20;
  #optionalProperties = 24;
  #unions = 16;

  /** Whether a schema is within what is left. It is then counted. */
  admit(schema: JsonSchema, isTool: boolean): boolean {
    const tools = this.#tools - (isTool ? 1 : 0);
    let optionalProperties = this.#optionalProperties;
    let unions = this.#unions;
    mapSchema(schema, (each) => {
      const names = Object.keys(isObject(each.properties) ? each.properties : {});
      const required = new Set(listOf(each.required));
      optionalProperties -= names.filter((name) => !required.has(name)).length;
      if (Array.isArray(each.anyOf) || Array.isArray(each.type)) unions--;
      return each;
    });
    if (tools < 0 || optionalProperties < 0 || unions < 0) return false;
    this.#tools = tools;
    this.#optionalProperties = optionalProperties;
    this.#unions = unions;
    return true;
  }
}

import type { JsonSchema } from "../neutral/conversation.ts";
import { isObject, listOf } from "../neutral/wire_value.ts";
import { describedKeywords, FORMATS, isSimplePattern } from "./described_keywords.ts";
import { objectSchema, plainSchema } from "./object_schema.ts";
import type { RequestTarget } from "../contract/upstream_format.ts";
import { type AcceptedSchema, dialectFor, type SchemaDialect } from "./schema_dialect.ts";
import { modernSchema } from "./schema_drafts.ts";
import { FEATURES, featuresOf } from "./schema_features.ts";
import { mapSchema } from "./schema_walk.ts";
import { isStrictSchema } from "./strict_schema.ts";

/** Keywords besides combinations that OpenAI rejects at the top of a function's parameters. */
export const REFUSED_BESIDE_COMBINATIONS = ["enum", "not"];

/**
 * What OpenAI accepts, and vendors of its formats.
 * Source: Function calling guide, "Function tool definitions"; Structured outputs guide, "Supported schemas"; the
 * vendor's error messages.
 *
 * @param takesUnions Whether a tool's schema may have combinations at its top level, as compatible vendors allow.
 */
export function openAiDialect({ takesUnions }: { readonly takesUnions: boolean }): SchemaDialect {
  return {
    parameters(parameters, isStrict) {
      const complete = parameters && withItems(validSchema(parameters));
      const { schema, isRelaxed } = takesUnions
        ? { schema: objectSchema(complete), isRelaxed: false }
        : plainSchema(complete, REFUSED_BESIDE_COMBINATIONS);
      return enforced(schema, isStrict, isRelaxed);
    },
    output: (schema, isStrict) => enforced(withItems(validSchema(schema)), isStrict, false),
  };
}

/** What a vendor of OpenAI's formats accepts for a model. */
export function openAiDialectFor({ facts, quirks }: Pick<RequestTarget, "facts" | "quirks">): SchemaDialect {
  return dialectFor(facts, openAiDialect({ takesUnions: quirks.has("union_schemas") }));
}

function enforced(schema: JsonSchema, isStrict: boolean, isChanged: boolean): AcceptedSchema {
  if (!isStrict) return { schema, isStrict: false, isChanged };
  const strict = strictForm(schema);
  return isStrictSchema(strict)
    ? { schema: strict, isStrict: true, isChanged }
    : { schema, isStrict: false, isChanged };
}

/**
 * A schema without values that draft 2020-12 does not allow, which OpenAI and Mistral refuse: "True is not of type
 * 'number'", "'any' is not valid under any of the given schemas". Keywords of earlier drafts stay otherwise.
 * Sources: ayunis-core/ayunis-core#974 and #975; smallmain/vscode-unify-chat-provider#162.
 */
function validSchema(schema: JsonSchema): JsonSchema {
  return hasRefusedValues(schema) ? modernSchema(schema) : schema;
}

/** Whether a schema has a value that draft 2020-12 does not allow: a fast search. */
export function hasRefusedValues(schema: JsonSchema): boolean {
  return (featuresOf(schema) & FEATURES.refusedValues) !== 0;
}

/**
 * Adds `items` to arrays that have none, as OpenAI requires at every depth: "array schema missing items". Any item is
 * allowed, as before.
 */
export function withItems(schema: JsonSchema): JsonSchema {
  if ((featuresOf(schema) & FEATURES.arrayWithoutItems) === 0) return schema;
  return mapSchema(schema, (each) => isArraySchema(each) && !hasItems(each) ? { ...each, items: {} } : each);
}

function isArraySchema({ type }: JsonSchema): boolean {
  return type === "array" || listOf(type).includes("array");
}

function hasItems({ items, prefixItems }: JsonSchema): boolean {
  return items !== undefined || prefixItems !== undefined;
}

/** Keywords that a strict schema may not have, and that a model understands in a description. */
const DESCRIBED = [
  "default",
  "minProperties",
  "maxProperties",
  "propertyNames",
  "contains",
  "minContains",
  "maxContains",
  "uniqueItems",
  "unevaluatedItems",
  "unevaluatedProperties",
];

/**
 * A schema in the form of strict ones, as far as that changes no value that it allows: alternatives are `anyOf`,
 * references stand alone, and limits that are not supported are described.
 */
function strictForm(schema: JsonSchema): JsonSchema {
  return mapSchema(schema, (each) => withReferenceAlone(withLimitsDescribed(withAnyOf(each))));
}

function withAnyOf(schema: JsonSchema): JsonSchema {
  const { oneOf, allOf, ...rest } = schema;
  const only = listOf(allOf).length === 1 ? listOf(allOf)[0] : undefined;
  const merged = isObject(only) && Object.keys(only).every((keyword) => rest[keyword] === undefined);
  const alternatives = Array.isArray(oneOf) && rest.anyOf === undefined && !(merged && only.anyOf !== undefined);
  if (!merged && !alternatives) return schema;
  return {
    ...rest,
    ...(merged ? only : allOf === undefined ? {} : { allOf }),
    ...(alternatives ? { anyOf: oneOf } : oneOf === undefined ? {} : { oneOf }),
  };
}

function withLimitsDescribed(schema: JsonSchema): JsonSchema {
  const removed = DESCRIBED.filter((keyword) => schema[keyword] !== undefined);
  if (typeof schema.pattern === "string" && !isSimplePattern(schema.pattern)) removed.push("pattern");
  if (schema.format !== undefined && !isKnownFormat(schema.format)) removed.push("format");
  return removed.length === 0 ? schema : describedKeywords(schema, removed);
}

/** Source: Structured outputs guide, "Supported properties". */
function isKnownFormat(format: unknown): boolean {
  return format !== "uri" && FORMATS.has(String(format));
}

function withReferenceAlone(schema: JsonSchema): JsonSchema {
  if (typeof schema.$ref !== "string" || Object.keys(schema).every((keyword) => keyword.startsWith("$"))) return schema;
  if (schema.anyOf !== undefined) return schema;
  const { $ref, ...rest } = schema;
  return { ...rest, anyOf: [{ $ref }] };
}

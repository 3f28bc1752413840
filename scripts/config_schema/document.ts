import * as z from "zod";
import { modelPatternSchema } from "../../src/vendors/catalog/model_pattern.ts";
import { isObject } from "../../src/conversation/neutral/wire_value.ts";
import { SECTION_LIST } from "../../src/config/sections/sections.ts";
import { factsOf } from "../../src/platform/lib/settings/setting.ts";
import { allSettings, PATTERN_FIELDS } from "../reference/settings.ts";
import { expectationOf } from "../reference/values.ts";

/** A JSON Schema, as zod writes it. */
type JsonSchema = { [keyword: string]: unknown };

/** Numbers and switches may be texts: with a unit, or from the environment. */
const OTHER_TEXT: JsonSchema = { type: "string" };
/** A text that is taken from the environment matches no pattern. */
const FROM_ENVIRONMENT: JsonSchema = { type: "string", pattern: "\\$\\{" };

/** Entries that a text can stand for: an alias may be the name of its model only. */
const SHORT: ReadonlySet<string> = new Set(["aliases.NAME"]);

/** The schema of a configuration file, which an editor completes and checks it by. */
export function configSchema(): JsonSchema {
  const described = new Map(allSettings().map(({ path, schema }) => [path, textOf(schema)]));
  const properties = Object.fromEntries(SECTION_LIST.map(([section, { schema, names = "" }]) => {
    const path = section + names;
    const known = annotated(withPatternFields(path, inputSchemaOf(schema)), path, described);
    const written = SHORT.has(path) ? { anyOf: [known, OTHER_TEXT] } : known;
    return [
      section,
      names === "[]"
        ? { type: "array", items: written }
        : names === ".NAME"
        ? { type: "object", additionalProperties: written }
        : written,
    ];
  }));
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Configuration of Switchyard",
    type: "object",
    properties,
    additionalProperties: false,
  };
}

/** The file with the meanings of settings, which the console's editor shows, by their paths. */
export const MEANINGS_FILE = "src/console/client/pages/configuration/meanings.json";

/** That file. */
export function formattedMeanings(): string {
  const meanings = allSettings().map(({ path, schema }) => [path, textOf(schema)]);
  return `${JSON.stringify(Object.fromEntries(meanings), null, 2)}\n`;
}

/** The file with the schema. */
export function formattedSchema(): string {
  return `${JSON.stringify(configSchema(), null, 2)}\n`;
}

/** What an operator writes. A schema that only code can express takes any value. */
function inputSchemaOf(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...written } = z.toJSONSchema(schema, {
    io: "input",
    unrepresentable: "any",
    reused: "inline",
    override: ({ jsonSchema }) => void delete jsonSchema.default,
  });
  return written;
}

/** A pattern of models has further fields, needs no provider, and may be free. */
function withPatternFields(path: string, schema: JsonSchema): JsonSchema {
  if (path !== "models[]") return schema;
  const ofPatterns = (inputSchemaOf(modelPatternSchema).properties ?? {}) as JsonSchema;
  const added = Object.fromEntries(PATTERN_FIELDS.map((field) => [field, ofPatterns[field] ?? {}]));
  const properties = schema.properties as JsonSchema;
  const pricing = { anyOf: [properties.pricing, { const: "free" }] };
  const required = (schema.required as readonly string[]).filter((field) => field === "id");
  return { ...schema, required, properties: { ...properties, ...added, pricing } };
}

function textOf(schema: z.ZodType): string {
  const { text = "" } = factsOf(schema) ?? {};
  return `${text.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")}. Expected: ${expectationOf(schema)}.`;
}

/** The schema with the texts of its settings, which may also come from the environment. */
function annotated(schema: JsonSchema, path: string, texts: ReadonlyMap<string, string>): JsonSchema {
  const description = texts.get(path);
  const inner = withInner(schema, path, texts);
  if (description === undefined) return inner;
  return { description, ...orText(inner) };
}

function withInner(schema: JsonSchema, path: string, texts: ReadonlyMap<string, string>): JsonSchema {
  const { properties, items, anyOf, ...rest } = schema;
  return {
    ...rest,
    ...isObject(properties) && {
      properties: Object.fromEntries(
        Object.entries(properties).map((
          [name, each],
        ) => [name, annotated(each as JsonSchema, `${path}.${name}`, texts)]),
      ),
    },
    ...isObject(items) && { items: annotated(items, `${path}[]`, texts) },
    ...Array.isArray(anyOf) && { anyOf: anyOf.map((each: JsonSchema) => withInner(each, path, texts)) },
  };
}

function orText(schema: JsonSchema): JsonSchema {
  const { type, enum: choices, pattern, anyOf } = schema;
  if (Array.isArray(anyOf)) {
    return { ...schema, anyOf: [...anyOf, anyOf.some(isReadFromText) ? OTHER_TEXT : FROM_ENVIRONMENT] };
  }
  if (isReadFromText(schema)) return { anyOf: [schema, OTHER_TEXT] };
  if (type === "string" && (choices !== undefined || pattern !== undefined)) {
    return { anyOf: [schema, FROM_ENVIRONMENT] };
  }
  return schema;
}

function isReadFromText({ type }: JsonSchema): boolean {
  return type === "number" || type === "integer" || type === "boolean";
}

import type { JsonSchema } from "../../../src/conversation/neutral/conversation.ts";
import { anthropicDialect } from "../../../src/conversation/schemas/anthropic_dialect.ts";
import { geminiDialect } from "../../../src/conversation/schemas/gemini_dialect.ts";
import { openAiDialect } from "../../../src/conversation/schemas/openai_dialect.ts";
import { propertyNamesOf, withPropertyNames } from "../../../src/conversation/schemas/property_names.ts";
import { dialectFor, type SchemaDialect } from "../../../src/conversation/schemas/schema_dialect.ts";
import {
  anthropicToolFault,
  complexityFault,
  enforcedFault,
  enumerationFault,
  geminiFault,
  openAiFault,
} from "../../../src/sandbox/families/schema_rules.ts";
import { isObject } from "../../../src/conversation/neutral/wire_value.ts";

/** A vendor and a mode: `tool`, `strict` for a tool, `format` and `strict format` for a reply. */
export type Case = `${Vendor} ${"tool" | "strict" | "format" | "strict format"}`;

type Vendor = "openai" | "compatible" | "gpt-oss" | "anthropic" | "bedrock" | "gemini" | "openapi";

/** What the gateway sends, and the neutral names of what it drops. */
export interface Sent {
  readonly schema: JsonSchema;
  readonly named: readonly string[];
}

const DIALECTS: Readonly<Record<Vendor, () => SchemaDialect>> = {
  openai: () => openAiDialect({ takesUnions: false }),
  compatible: () => openAiDialect({ takesUnions: true }),
  "gpt-oss": () => dialectFor({ hasSchemaReferences: false }, openAiDialect({ takesUnions: true })),
  anthropic: () => anthropicDialect({ takesSchemas: true }),
  bedrock: () => anthropicDialect({ takesSchemas: true }),
  gemini: () => geminiDialect({ isOpenApi: false }),
  openapi: () => geminiDialect({ isOpenApi: true }),
};

function partsOf(name: Case): { vendor: Vendor; isTool: boolean; isStrict: boolean } {
  const vendor = name.slice(0, name.indexOf(" "));
  const mode = name.slice(vendor.length + 1);
  return { vendor: vendor as Vendor, isTool: !mode.endsWith("format"), isStrict: mode.startsWith("strict") };
}

/** What a vendor receives of a schema. */
export function sentTo(name: Case, schema: JsonSchema): Sent {
  const { vendor, isTool, isStrict } = partsOf(name);
  const dialect = DIALECTS[vendor]();
  const isAnthropic = vendor === "anthropic" || vendor === "bedrock";
  const names = isTool && isAnthropic ? propertyNamesOf(schema) : null;
  const own = names === null ? schema : withPropertyNames(schema, names);
  const accepted = isTool ? dialect.parameters(own, isStrict) : dialect.output(own, isStrict);
  const named: string[] = [];
  if (accepted.isChanged) named.push(isTool ? "tool_schema" : "output_schema");
  if (!isTool && isAnthropic && !accepted.isStrict) named.push("output_format");
  else if (isStrict && !accepted.isStrict) named.push(isTool ? "tool_strict" : "output_strict");
  return { schema: accepted.schema, named };
}

/** What the simulated vendor says about a schema; null if it accepts it. */
export function faultAt(name: Case, schema: JsonSchema, isEnforced: boolean): string | null {
  const { vendor, isTool } = partsOf(name);
  switch (vendor) {
    case "openai":
    case "compatible":
    case "gpt-oss":
      return openAiFault(schema, isEnforced);
    case "anthropic":
    case "bedrock": {
      const own = isTool ? anthropicToolFault(schema) : null;
      return own ?? (isEnforced ? enforcedFault(schema) ?? complexityFault([schema], 1) : null);
    }
    case "gemini":
      return geminiFault(schema, "schema");
    case "openapi":
      return openApiFault(schema);
  }
}

function openApiFault(schema: unknown): string | null {
  if (!isObject(schema)) return null;
  const unknown = ["$ref", "$defs", "oneOf", "allOf", "const", "additionalProperties", "prefixItems", "not"]
    .find((keyword) => schema[keyword] !== undefined);
  if (unknown !== undefined) return `Unknown name "${unknown}"`;
  const inner = [...Object.values(isObject(schema.properties) ? schema.properties : {}), schema.items];
  for (const each of [...inner, ...(Array.isArray(schema.anyOf) ? schema.anyOf : [])]) {
    const fault = openApiFault(each);
    if (fault !== null) return fault;
  }
  return enumerationFault(schema, "schema");
}

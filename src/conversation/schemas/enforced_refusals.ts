import type { JsonSchema } from "../neutral/conversation.ts";
import { canBeEnforced, StrictLimits } from "./anthropic_dialect.ts";
import { FORMATS, isSimplePattern } from "./described_keywords.ts";
import { DESCRIBED_KEYWORDS, hasOnlyPlain, REJECTED_KEYWORDS } from "./enforced_schema.ts";
import { COMBINATIONS } from "./object_schema.ts";
import { FEATURES, featuresOf } from "./schema_features.ts";
import { mapSchema } from "./schema_walk.ts";

/** Schemas that one request wants enforced. */
export interface EnforcedSchemas {
  /** Of the reply; null for none. */
  readonly format: JsonSchema | null;
  /** Of strict tools. */
  readonly tools: readonly JsonSchema[];
}

/**
 * Whether Anthropic refuses to enforce the schemas of a request as they are, one of them or all together. Sources:
 * Messages API reference, "Structured outputs", "JSON Schema limitations" and "Schema complexity limits".
 */
export function areRefusedEnforced({ format, tools }: EnforcedSchemas): boolean {
  const limits = new StrictLimits();
  if (format !== null && (isRefusedEnforced(format) || !limits.admit(format, false))) return true;
  return tools.some((schema) =>
    COMBINATIONS.some((name) => schema[name] !== undefined) || isRefusedEnforced(schema) || !limits.admit(schema, true)
  );
}

/** Whether Anthropic refuses to enforce a schema as it is. */
export function isRefusedEnforced(schema: JsonSchema): boolean {
  if ((featuresOf(schema) & FEATURES.refusedValues) !== 0 || !canBeEnforced(schema)) return true;
  let isRefused = false;
  mapSchema(schema, (each) => {
    isRefused ||= hasRefusedPart(each);
    return each;
  });
  return isRefused;
}

/** A pattern is enforced if it neither looks around nor back. */
const REFUSED_KEYWORDS = [...DESCRIBED_KEYWORDS.filter((keyword) => keyword !== "pattern"), ...REJECTED_KEYWORDS];

function hasRefusedPart(schema: JsonSchema): boolean {
  const { type, properties, additionalProperties, pattern, format, minItems } = schema;
  const isObjectSchema = type === "object" || (Array.isArray(type) && type.includes("object")) ||
    (type === undefined && properties !== undefined);
  return (isObjectSchema && additionalProperties !== false) ||
    REFUSED_KEYWORDS.some((keyword) => schema[keyword] !== undefined) ||
    (typeof pattern === "string" && !isSimplePattern(pattern)) ||
    (format !== undefined && !FORMATS.has(String(format))) ||
    (minItems !== undefined && minItems !== 0 && minItems !== 1) ||
    !hasOnlyPlain(schema.enum);
}

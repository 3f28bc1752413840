import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import type { JsonSchema } from "../neutral/conversation.ts";
import { isObject, listOf } from "../neutral/wire_value.ts";
import { FEATURES, featuresOf } from "./schema_features.ts";
import { recursiveReferences, targetOf, withoutDefinitions } from "./schema_references.ts";
import { mapSchema } from "./schema_walk.ts";

/** Minimum number of schemas to write; references can multiply them at every step. */
const MIN_SCHEMAS = 500;

/** A document whose references are followed. */
interface Document {
  readonly root: JsonSchema;
  readonly recursive: ReadonlySet<string>;
  /** How many schemas may still be written. It grows with the length, so that many small ones cost no more than one. */
  readonly allowance: { left: number; depth: number };
}

/** References that are followed within one another. */
const MAX_DEPTH = 24;

function documentOf(root: JsonSchema): Document {
  const allowance = { left: MIN_SCHEMAS + JSON.stringify(root).length / 8, depth: 0 };
  return { root, recursive: recursiveReferences(root), allowance };
}

/**
 * Puts definitions in the place of references that have other members beside them: Gemini allows only members that
 * begin with `$` there. A reference that leads back to itself becomes the only alternative of `anyOf`.
 * Source: Gemini API reference, `responseJsonSchema`.
 */
export function withBareReferences(schema: JsonSchema): JsonSchema {
  if ((featuresOf(schema) & FEATURES.references) === 0) return schema;
  let document: Document | null = null;
  return mapSchema(schema, (each) => {
    if (!hasOthersBeside(each)) return each;
    document ??= documentOf(schema);
    return inlined(each, document, (target, known) => withBare(target, known)) ?? alternative(each);
  });
}

function withBare(schema: JsonSchema, document: Document): JsonSchema {
  return mapSchema(schema, (each) => {
    document.allowance.left--;
    if (!hasOthersBeside(each)) return each;
    return inlined(each, document, withBare) ?? alternative(each);
  });
}

function hasOthersBeside(schema: JsonSchema): boolean {
  return typeof schema.$ref === "string" && Object.keys(schema).some((name) => !name.startsWith("$"));
}

/** The reference as the only alternative, beside the other members. */
function alternative(schema: JsonSchema): JsonSchema {
  const { $ref, $defs, ...others } = schema;
  return { ...($defs === undefined ? {} : { $defs }), ...others, anyOf: [{ $ref }] };
}

/** The target of a reference with the members beside it; null where it is recursive, missing or too much. */
function inlined(
  schema: JsonSchema,
  document: Document,
  within: (schema: JsonSchema, document: Document) => JsonSchema,
): JsonSchema | null {
  const { $ref, ...beside } = schema;
  const { root, recursive, allowance } = document;
  if (typeof $ref !== "string" || recursive.has($ref) || --allowance.left < 0) return null;
  const found = targetOf(root, $ref);
  if (found === null || allowance.depth >= MAX_DEPTH) return null;
  allowance.depth++;
  const target = within(withoutDefinitions(found), document);
  allowance.depth--;
  if (allowance.left < 0) return null;
  // A target that is itself a reference has the members beside it now.
  const whole = joined(target, beside);
  return typeof whole.$ref === "string" ? inlined(whole, document, within) : whole;
}

/** A schema with the members of another one. Properties of both are kept; otherwise the second wins. */
function joined(target: JsonSchema, beside: JsonSchema): JsonObject {
  const properties = { ...propertiesOf(target), ...propertiesOf(beside) };
  const required = [...new Set([...listOf(target.required), ...listOf(beside.required)])];
  return {
    ...target,
    ...beside,
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required }),
  };
}

function propertiesOf({ properties }: JsonSchema): JsonObject {
  return isObject(properties) ? properties : {};
}

/** A schema without references. */
export interface InlinedSchema {
  readonly schema: JsonSchema;
  /** True when it accepts more than the original schema. */
  readonly isRelaxed: boolean;
}

/**
 * Puts definitions in the place of all references, for models and vendors that do not read them. A reference that leads
 * back to itself accepts any value.
 */
export function withoutReferences(schema: JsonSchema): InlinedSchema {
  if ((featuresOf(schema) & FEATURES.references) === 0) return { schema, isRelaxed: false };
  const document = documentOf(schema);
  let isRelaxed = false;
  const within = (inner: JsonSchema): JsonSchema =>
    mapSchema(inner, (each) => {
      document.allowance.left--;
      if (typeof each.$ref !== "string") return each;
      const whole = inlined(each, document, within);
      if (whole !== null) return whole;
      isRelaxed = true;
      const { $ref: _, ...beside } = each;
      return beside;
    });
  return { schema: within(withoutDefinitions(schema)), isRelaxed };
}

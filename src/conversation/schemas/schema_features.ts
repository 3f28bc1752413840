import { isJsonNumber } from "../../platform/lib/json/exact_json.ts";
import type { JsonSchema } from "../neutral/conversation.ts";

/**
 * What a schema may have that some vendor refuses, as bits. One fast search finds it, so that schemas without it, which
 * most are, cost little. It also finds what only looks alike, such as keywords within a default value.
 */
export const FEATURES = {
  /** A name of a property that Anthropic and Bedrock refuse. */
  otherNames: 1,
  /** Anything that is not of draft 2020-12. */
  old: 2,
  /** A structure of earlier drafts: lists of `items`, `definitions`, `dependencies`. */
  oldStructure: 4,
  /** A `$ref`. */
  references: 8,
  /** An array without `items`. */
  arrayWithoutItems: 16,
  /** An enumeration that has other values than texts that are not empty and numbers, or none. */
  otherEnumerations: 32,
  /** A value that draft 2020-12 does not allow, as opposed to a keyword that it ignores. */
  refusedValues: 64,
} as const;

const REFUSED = FEATURES.old | FEATURES.refusedValues;

/** Deeper values are not searched; they stay as they are. */
const MAX_DEPTH = 300;

const known = new WeakMap<JsonSchema, number>();

/** Returns the {@linkcode FEATURES} of a schema. They are kept for it. */
export function featuresOf(schema: JsonSchema): number {
  let features = known.get(schema);
  if (features === undefined) known.set(schema, features = featuresIn(schema, 0));
  return features;
}

function featuresIn(value: { readonly [key: string]: unknown }, depth: number): number {
  if (depth > MAX_DEPTH) return 0;
  let features = 0;
  let isArray = false;
  let hasItems = false;
  for (const key in value) {
    const inner = value[key];
    if (typeof inner === "object" && inner !== null) {
      switch (key) {
        case "properties":
          for (const name in inner) if (!isAcceptedName(name)) features |= FEATURES.otherNames;
          if (!Object.values(inner).every(isSchema)) features |= REFUSED;
          break;
        case "items":
          hasItems = true;
          if (Array.isArray(inner)) features |= REFUSED | FEATURES.oldStructure;
          break;
        case "prefixItems":
          hasItems = true;
          break;
        case "type":
          isArray ||= Array.isArray(inner) && inner.includes("array");
          if (!Array.isArray(inner) || inner.length === 0 || !inner.every(isType)) features |= REFUSED;
          break;
        case "required":
          if (Array.isArray(inner) && hasRepeated(inner)) features |= REFUSED;
          break;
        case "enum":
          if (Array.isArray(inner) && !isAcceptedEnumeration(inner)) features |= FEATURES.otherEnumerations;
          break;
        case "$schema":
          features |= FEATURES.old;
          break;
        case "definitions":
        case "dependencies":
        case "additionalItems":
          features |= FEATURES.old | FEATURES.oldStructure;
          break;
      }
      features |= Array.isArray(inner)
        ? featuresInList(inner, depth + 1)
        : featuresIn(inner as { readonly [key: string]: unknown }, depth + 1);
      continue;
    }
    switch (key) {
      case "$ref":
        features |= FEATURES.references;
        if (typeof inner === "string" && OLD_STEP.test(inner)) features |= FEATURES.old | FEATURES.oldStructure;
        break;
      case "type":
        if (inner === "array") isArray = true;
        if (!isType(inner)) features |= REFUSED;
        break;
      case "items":
        hasItems = true;
        break;
      case "exclusiveMinimum":
      case "exclusiveMaximum":
      case "required":
        if (typeof inner === "boolean") features |= REFUSED;
        break;
      case "id":
      case "$schema":
        features |= FEATURES.old;
        break;
      case "definitions":
      case "dependencies":
      case "additionalItems":
        features |= FEATURES.old | FEATURES.oldStructure;
        break;
    }
  }
  return isArray && !hasItems ? features | FEATURES.arrayWithoutItems : features;
}

function featuresInList(list: readonly unknown[], depth: number): number {
  let features = 0;
  for (const item of list) {
    if (typeof item !== "object" || item === null || depth > MAX_DEPTH) continue;
    features |= Array.isArray(item)
      ? featuresInList(item, depth + 1)
      : featuresIn(item as { readonly [key: string]: unknown }, depth + 1);
  }
  return features;
}

/** Steps of references that have other names in draft 2020-12. */
const OLD_STEP = /definitions|dependencies|items|%/;

/** Whether a value can be a schema, apart from what it has. */
export function isSchema(value: unknown): boolean {
  return typeof value === "boolean" || (typeof value === "object" && value !== null && !Array.isArray(value));
}

function isType(type: unknown): boolean {
  switch (type) {
    case "array":
    case "boolean":
    case "integer":
    case "null":
    case "number":
    case "object":
    case "string":
      return true;
    default:
      return false;
  }
}

function hasRepeated(names: readonly unknown[]): boolean {
  return names.length > 1 && new Set(names).size < names.length;
}

function isAcceptedEnumeration(values: readonly unknown[]): boolean {
  return values.length > 0 &&
    values.every((value) => (typeof value === "string" && value !== "") || isJsonNumber(value));
}

/** The longest name of a property that Anthropic and Bedrock accept. */
export const MAX_NAME_CHARACTERS = 64;

/**
 * Whether Anthropic and Bedrock accept a name of a property in a tool's schema: `^[a-zA-Z0-9_.-]{1,64}$`. One other
 * name is a 400 for the whole request: "Property keys should match pattern". Source: the vendors' error messages.
 */
export function isAcceptedName(name: string): boolean {
  const { length } = name;
  if (length === 0 || length > MAX_NAME_CHARACTERS) return false;
  for (let at = 0; at < length; at++) if (!isAcceptedCode(name.charCodeAt(at))) return false;
  return true;
}

const [LOWER_A, LOWER_Z, UPPER_A, UPPER_Z, ZERO, NINE] = [0x61, 0x7a, 0x41, 0x5a, 0x30, 0x39];
const [UNDERSCORE, DOT, HYPHEN] = [0x5f, 0x2e, 0x2d];

function isAcceptedCode(code: number): boolean {
  return (code >= LOWER_A && code <= LOWER_Z) || code === UNDERSCORE || (code >= UPPER_A && code <= UPPER_Z) ||
    (code >= ZERO && code <= NINE) || code === DOT || code === HYPHEN;
}

import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import type { JsonSchema } from "../neutral/conversation.ts";
import { isObject } from "../neutral/wire_value.ts";
import { FEATURES, featuresOf } from "./schema_features.ts";
import { keywordKind, mapSchema } from "./schema_walk.ts";

/** Keywords that hold definitions for references. */
const DEFINITIONS: readonly string[] = ["$defs", "definitions"];

/** The steps of a reference to a place in its own document, decoded; null for another document or an anchor. */
function stepsOf(reference: string): string[] | null {
  if (reference === "#" || reference === "#/") return [];
  if (!reference.startsWith("#/")) return null;
  return reference.slice(2).split("/").map((step) => decoded(step).replaceAll("~1", "/").replaceAll("~0", "~"));
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

function encoded(step: string): string {
  return encodeURIComponent(step.toWellFormed().replaceAll("~", "~0").replaceAll("/", "~1")).replaceAll("%24", "$");
}

/**
 * The schema that a reference of the same document leads to; null when there is none.
 * Source: RFC 6901, "JSON Pointer", section 6.
 */
export function targetOf(root: JsonSchema, reference: string): JsonObject | null {
  const steps = stepsOf(reference);
  if (steps === null) return null;
  let value: unknown = root;
  for (const step of steps) {
    const isMember = (isObject(value) && Object.hasOwn(value, step)) || (Array.isArray(value) && /^\d+$/.test(step));
    value = isMember ? (value as JsonObject)[step] : null;
  }
  return isObject(value) ? value : null;
}

/** How the steps of a reference change. Each function gets a step and returns it or another one. */
export interface StepChanges {
  /** The name of a property. */
  readonly property?: (name: string) => string;
  /** A keyword. @param next The step after it. */
  readonly keyword?: (keyword: string, next: string | undefined) => string;
}

/** A reference with other steps. A reference without a change, or to another document, stays as it is. */
export function changedReference(reference: string, { property, keyword }: StepChanges): string {
  const steps = stepsOf(reference);
  if (steps === null) return reference;
  const changed: string[] = [];
  /** The keyword whose member is the next step; null where a keyword follows. */
  let owner: string | null = null;
  for (const [index, step] of steps.entries()) {
    if (owner !== null) {
      changed.push(BY_PROPERTY.has(owner) && property ? property(step) : step);
      owner = null;
      continue;
    }
    const next = steps[index + 1];
    const hasMembers = keywordKind(step) === "named" || (keywordKind(step) !== null && /^\d+$/.test(next ?? ""));
    if (hasMembers) owner = step;
    changed.push(keyword ? keyword(step, next) : step);
  }
  if (changed.every((step, index) => step === steps[index])) return reference;
  return `#/${changed.map(encoded).join("/")}`;
}

/** Keywords whose members are named by properties. */
const BY_PROPERTY = new Set(["properties", "dependentSchemas", "dependencies"]);

/**
 * Whether a schema refers to itself, directly or by other definitions. Anthropic and Bedrock refuse such a schema for
 * an output format and for a strict tool. Source: Messages API reference, "Structured outputs".
 */
export function isRecursive(schema: JsonSchema): boolean {
  return recursiveReferences(schema).size > 0;
}

/** The references of a schema, by their text, that lead back to themselves. */
export function recursiveReferences(root: JsonSchema): ReadonlySet<string> {
  if ((featuresOf(root) & FEATURES.references) === 0) return new Set();
  const found = schemaReferencesIn(root);
  const read = new Map<string, JsonObject | null>();
  const target = (reference: string): JsonObject | null => {
    const seen = read.get(reference);
    if (seen !== undefined) return seen;
    const found = targetOf(root, reference);
    read.set(reference, found);
    return found;
  };
  /** What each target refers to. Targets are compared by identity: a reference has several spellings. */
  const known = new Map<JsonObject, ReadonlySet<JsonObject>>();
  const targetsOf = (from: JsonObject): ReadonlySet<JsonObject> => {
    const seen = known.get(from);
    if (seen !== undefined) return seen;
    const references = schemaReferencesIn(from === root ? withoutDefinitions(root) : from);
    const targets = new Set([...references].map(target).filter((each) => each !== null));
    known.set(from, targets);
    return targets;
  };
  const recursive = recursiveTargets([...found].map(target).filter((each) => each !== null), targetsOf);
  return new Set([...found].filter((reference) => {
    const found = target(reference);
    return found !== null && recursive.has(found);
  }));
}

/** The references of a schema, its definitions included. */
export function schemaReferencesIn(schema: JsonSchema): ReadonlySet<string> {
  const found = new Set<string>();
  mapSchema(schema, (each) => {
    if (typeof each.$ref === "string") found.add(each.$ref);
    return each;
  });
  return found;
}

/** A schema without the definitions at its top. */
export function withoutDefinitions(schema: JsonSchema): JsonSchema {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => !DEFINITIONS.includes(keyword)));
}

/** A target whose references are being followed. */
interface Visit {
  readonly target: JsonObject;
  /** Its place in the order of visits. */
  readonly index: number;
  readonly next: Iterator<JsonObject>;
  /** The earliest target that it leads back to. */
  low: number;
}

/**
 * The targets that lead back to themselves, in time that is linear in the references: Tarjan's strongly connected
 * components, without recursion.
 */
function recursiveTargets(
  starts: readonly JsonObject[],
  targetsOf: (target: JsonObject) => ReadonlySet<JsonObject>,
): ReadonlySet<JsonObject> {
  const recursive = new Set<JsonObject>();
  const indexes = new Map<JsonObject, number>();
  /** Visited targets whose component is not known yet. */
  const open: JsonObject[] = [];
  const isOpen = new Set<JsonObject>();
  const visits: Visit[] = [];
  const enter = (target: JsonObject) => {
    const index = indexes.size;
    indexes.set(target, index);
    open.push(target);
    isOpen.add(target);
    visits.push({ target, index, next: targetsOf(target).values(), low: index });
  };
  for (const start of starts) {
    if (!indexes.has(start)) enter(start);
    for (let visit = visits.at(-1); visit !== undefined; visit = visits.at(-1)) {
      const { done, value: target } = visit.next.next();
      if (!done) {
        const index = indexes.get(target);
        if (index === undefined) enter(target);
        else if (isOpen.has(target)) visit.low = Math.min(visit.low, index);
        continue;
      }
      visits.pop();
      const outer = visits.at(-1);
      if (outer !== undefined) outer.low = Math.min(outer.low, visit.low);
      if (visit.low < visit.index) continue;
      const component = open.splice(open.lastIndexOf(visit.target));
      for (const each of component) isOpen.delete(each);
      if (component.length > 1 || targetsOf(visit.target).has(visit.target)) {
        for (const each of component) recursive.add(each);
      }
    }
  }
  return recursive;
}

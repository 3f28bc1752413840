import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import type { JsonSchema } from "../neutral/conversation.ts";
import { withHash } from "../parts/request/sanitized_name.ts";
import { isObject, listOf } from "../neutral/wire_value.ts";
import { renamedKeys } from "./renamed_keys.ts";
import { FEATURES, featuresOf, isAcceptedName, MAX_NAME_CHARACTERS } from "./schema_features.ts";
import { changedReference } from "./schema_references.ts";
import { mapSchema } from "./schema_walk.ts";

/** The names of properties that a tool's schema has on the wire. Different names stay different, both ways. */
export interface PropertyNames {
  /** The name on the wire by the caller's name. Names that do not change are absent. */
  readonly wire: ReadonlyMap<string, string>;
  /** The caller's name by the name on the wire. */
  readonly own: ReadonlyMap<string, string>;
}

/**
 * Returns accepted names for the properties of a tool's schema that have others, at every depth; null if all are
 * accepted. The same schema always gets the same names, so that prefixes stay cached and a history stays the same.
 */
export function propertyNamesOf(schema: JsonSchema): PropertyNames | null {
  if ((featuresOf(schema) & FEATURES.otherNames) === 0) return null;
  const taken = new Set<string>();
  const others = new Set<string>();
  mapSchema(schema, (each) => {
    for (const name of Object.keys(isObject(each.properties) ? each.properties : {})) {
      (isAcceptedName(name) ? taken : others).add(name);
    }
    return each;
  });
  if (others.size === 0) return null;
  const wire = new Map<string, string>();
  for (const name of others) {
    const accepted = acceptedName(name, taken);
    taken.add(accepted);
    wire.set(name, accepted);
  }
  return { wire, own: new Map([...wire].map(([name, accepted]) => [accepted, name])) };
}

/** A name that no other property of the schema has: readable, and with a hash of the caller's name. */
function acceptedName(name: string, taken: ReadonlySet<string>): string {
  const readable = name.replace(/[^a-zA-Z0-9_.-]/g, "_");
  let accepted = withHash(readable, name, MAX_NAME_CHARACTERS);
  for (let number = 2; taken.has(accepted); number++) {
    accepted = withHash(readable, `${name} ${number}`, MAX_NAME_CHARACTERS);
  }
  return accepted;
}

/** The schema with the names on the wire. The title of a renamed property tells the model the caller's name. */
export function withPropertyNames(schema: JsonSchema, { wire }: PropertyNames): JsonSchema {
  const nameOf = (name: string) => wire.get(name) ?? name;
  return mapSchema(schema, (each) => {
    const changed: [string, unknown][] = Object.entries(each).map(([keyword, value]) => [
      keyword,
      changedKeyword(keyword, value, wire, nameOf),
    ]);
    return changed.every(([keyword, value]) => value === each[keyword]) ? each : Object.fromEntries(changed);
  });
}

function changedKeyword(
  keyword: string,
  value: unknown,
  wire: ReadonlyMap<string, string>,
  nameOf: (name: string) => string,
): unknown {
  switch (keyword) {
    case "properties":
      return isObject(value) ? withNames(value, nameOf, titled) : value;
    case "required":
      return namesIn(value, nameOf);
    case "dependentSchemas":
      return isObject(value) ? withNames(value, nameOf, (inner) => inner) : value;
    case "dependentRequired":
    case "dependencies":
      return isObject(value) ? withNames(value, nameOf, (inner) => namesIn(inner, nameOf)) : value;
    case "propertyNames":
      return isObject(value) && value.enum !== undefined ? { ...value, enum: namesIn(value.enum, nameOf) } : value;
    case "$ref":
      return typeof value === "string" ? changedReference(value, { property: nameOf }) : value;
    case "default":
    case "const":
    case "enum":
    case "examples":
    case "example":
      return renamedKeys(value, wire);
    default:
      return value;
  }
}

function namesIn(names: unknown, nameOf: (name: string) => string): unknown {
  if (!Array.isArray(names)) return names;
  const renamed = names.map((name: unknown) => typeof name === "string" ? nameOf(name) : name);
  return renamed.every((name, index) => name === listOf(names)[index]) ? names : renamed;
}

function withNames(
  members: JsonObject,
  nameOf: (name: string) => string,
  change: (value: unknown, name: string, isRenamed: boolean) => unknown,
): JsonObject {
  const changed = Object.entries(members).map(([name, value]): [string, unknown] => {
    const accepted = nameOf(name);
    return [accepted, change(value, name, accepted !== name)];
  });
  const isSame = Object.entries(members).every(([name, value], index) =>
    changed[index]?.[0] === name && changed[index]?.[1] === value
  );
  return isSame ? members : Object.fromEntries(changed);
}

function titled(schema: unknown, name: string, isRenamed: boolean): unknown {
  const takesTitle = isRenamed && isObject(schema) && schema.title === undefined && schema.$ref === undefined;
  return takesTitle ? { ...schema, title: name.toWellFormed() } : schema;
}

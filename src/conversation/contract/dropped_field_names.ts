import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { ownValue } from "../../platform/lib/collections/own_value.ts";
import { camelCaseOf } from "./request_walk.ts";
import { isAbsent, isObject } from "../neutral/wire_value.ts";

/**
 * Paths in a request by the neutral name of a dropped field (`top_k`, `stop`). A step of a path is the name of a
 * member, or the `type` of an object; arrays are searched element by element.
 */
export type DroppedFieldPaths = Readonly<Record<string, readonly string[]>>;

/**
 * The caller's names of dropped fields: those of their paths that the request contains.
 *
 * @param droppedFields Neutral names. A name without paths is used as the name of a top-level member.
 * @param isTwofold True for a format with two spellings of each name; paths are then in camel case.
 * @returns Paths in the caller's spelling; none for fields that the caller did not send.
 */
export function droppedFieldNames(
  body: JsonObject,
  droppedFields: readonly string[],
  paths: DroppedFieldPaths,
  isTwofold: boolean = false,
): string[] {
  if (droppedFields.length === 0) return [];
  const found = new Set<string>();
  for (const loss of droppedFields) {
    for (const path of ownValue(paths, loss) ?? [loss]) {
      collect(body, path.split("."), "", isTwofold, found);
    }
  }
  return [...found];
}

function collect(
  value: unknown,
  steps: readonly string[],
  path: string,
  isTwofold: boolean,
  found: Set<string>,
): void {
  if (Array.isArray(value)) {
    for (const element of value) collect(element, steps, path, isTwofold, found);
    return;
  }
  const [step, ...rest] = steps;
  if (step === undefined) {
    if (!isAbsent(value)) found.add(path);
    return;
  }
  if (!isObject(value)) return;
  for (const key of keysOf(value, step, isTwofold)) {
    collect(value[key], rest, path === "" ? key : `${path}.${key}`, isTwofold, found);
  }
  if (value.type === step) collect(value, rest, `${path}.${step}`, isTwofold, found);
}

function keysOf(object: JsonObject, name: string, isTwofold: boolean): string[] {
  if (!isTwofold) return Object.hasOwn(object, name) ? [name] : [];
  return Object.keys(object).filter((key) => camelCaseOf(key) === name);
}

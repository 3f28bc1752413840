import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { isAbsent, listOf, objectOf } from "../../neutral/wire_value.ts";

/** The first of these fields that has a value; null when none has. */
export function firstSetField(body: JsonObject, fields: readonly string[]): string | null {
  return fields.find((field) => !isEmpty(body[field])) ?? null;
}

/** The path of the first system or developer message in a list, such as `messages[0]`; null when there is none. */
export function firstInstruction(body: JsonObject, list: string): string | null {
  const at = listOf(body[list]).map(objectOf).findIndex((item) =>
    item?.role === "system" || item?.role === "developer"
  );
  return at === -1 ? null : `${list}[${at}]`;
}

function isEmpty(value: unknown): boolean {
  return isAbsent(value) || value === "" || (Array.isArray(value) && value.length === 0);
}

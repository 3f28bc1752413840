import type { JsonScan } from "./json.ts";

/**
 * Whether an object of a JSON text, at any depth, has one name twice. `JSON.parse` keeps the last of such members, and
 * another reader may keep the first, so that what was checked would differ from what is carried out.
 *
 * @param scan The outline of the text, a whole object.
 * @param value What `JSON.parse` gave for it.
 */
export function hasRepeatedMember({ memberCount }: Pick<JsonScan, "memberCount">, value: object): boolean {
  return memberCount !== keysIn(value);
}

function keysIn(value: object): number {
  let keys = 0;
  if (Array.isArray(value)) {
    for (const element of value) if (typeof element === "object" && element !== null) keys += keysIn(element);
    return keys;
  }
  for (const key in value) {
    const inner = (value as { readonly [key: string]: unknown })[key];
    keys += 1 + (typeof inner === "object" && inner !== null ? keysIn(inner) : 0);
  }
  return keys;
}
